"""The questions of `kenobot setup`, in plain terms and in the person's language. Enter keeps what there is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr, ValidationError

from kenobot.cli.setup.toml_edit import Value
from kenobot.core import plugins
from kenobot.core.i18n import Language
from kenobot.core.settings.load import ResolvedSettings
from kenobot.core.settings.schema import BotSettings

Prompt = Callable[[str], str]

_WORDS: Mapping[str, Mapping[Language, str]] = {
    "language": {
        "en": "Language to answer in: auto (yours, whichever you write), en or es",
        "es": "Idioma de las respuestas: auto (el tuyo, el que escribas), en o es",
    },
    "name": {"en": "What shall the bot be called", "es": "Cómo se va a llamar el bot"},
    "timezone": {"en": "Your time zone", "es": "Tu zona horaria"},
    "provider": {
        "en": "Who writes the answers: {choices} (offline needs no key, but only repeats and remembers)",
        "es": "Quién escribe las respuestas: {choices} (offline no pide clave, pero solo repite y recuerda)",
    },
    "anthropic_api_key": {
        "en": "Anthropic API key, from console.anthropic.com (it is not shown)",
        "es": "Clave de la API de Anthropic, de console.anthropic.com (no se muestra)",
    },
    "telegram": {"en": "Talk over Telegram too? (y/n)", "es": "¿Hablar también por Telegram? (s/n)"},
    "telegram_token": {
        "en": "Telegram bot token, from @BotFather (it is not shown)",
        "es": "Token del bot de Telegram, de @BotFather (no se muestra)",
    },
    "owner": {
        "en": "Your Telegram user id, a number (@userinfobot tells you)",
        "es": "Tu número de usuario de Telegram (@userinfobot te lo dice)",
    },
    "embedded": {
        "en": "Install the model that finds memories by their meaning, in this process, 130 MB? (y/n)",
        "es": "¿Instalar el modelo que encuentra recuerdos por su significado, en este proceso, 130 MB? (s/n)",
    },
    "no": {"en": "That will not do: {why}", "es": "Eso no vale: {why}"},
    "set": {"en": "set", "es": "ya guardada"},
}


@dataclass(slots=True)
class SetupChanges:
    """What is to change: values by (section, key), secrets by the name of their credential file.

    install: whether the embedded model is to be fetched.
    """

    values: dict[tuple[str, str], Value] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    install: bool = False


@dataclass(frozen=True, slots=True)
class Wizard:
    """Asks a person, and notes in `changes` what differs from what is `loaded`.

    installable: whether there is an embedded model to be fetched.
    """

    loaded: ResolvedSettings
    changes: SetupChanges
    environ: Mapping[str, str]
    ask: Prompt
    ask_secret: Prompt
    say: Callable[[str], None]
    installable: bool = False

    def run(self) -> None:
        bot = self.loaded.settings.bot
        self._value("bot", "language", bot.language, self._bot("language"))
        self._value("bot", "name", bot.name, self._bot("name"))
        new = self.loaded.origin("bot.timezone") == "default"
        here = system_timezone(self.environ) if new else bot.timezone
        self._value("bot", "timezone", here, self._bot("timezone"))
        if here != bot.timezone:
            self.changes.values.setdefault(("bot", "timezone"), here)
        self._provider()
        self._telegram()
        if self.installable and not self.changes.install:
            answer = self.ask(f"{self._word('embedded')} [{self._yes_no[0]}]: ").strip().lower()[:1]
            self.changes.install = answer in {"", "y", "s"}

    def _provider(self) -> None:
        choices = plugins.names("kenobot.providers")

        def check(answer: str) -> str | None:
            return None if answer in choices else plugins.unknown_plugin("kenobot.providers", answer)

        self._value("provider", "name", self.loaded.settings.provider.name, check, choices=", ".join(choices))
        if self.provider == "anthropic":
            self._secret("anthropic_api_key", ("kenobot.providers", "anthropic", "api_key"))

    def _telegram(self) -> None:
        before = "telegram" in self.enabled
        yes, no = self._yes_no
        answer = self.ask(f"{self._word('telegram')} [{yes if before else no}]: ").strip().lower()[:1]
        wanted = answer in {"y", "s"} if answer else before
        if wanted != before:
            rest = [name for name in self.enabled if name != "telegram"]
            self.changes.values["channels", "enabled"] = [*rest, "telegram"] if wanted else rest
        if not wanted:
            return
        self._secret("telegram_token", ("kenobot.channels", "telegram", "token"))
        given = self.changes.values.get(("channels.telegram", "owners"))
        owners = (
            given
            if isinstance(given, list)
            else self.loaded.settings.plugin_tables("kenobot.channels").get("telegram", {}).get("owners", [])
        )
        current = ", ".join(map(str, owners)) if isinstance(owners, list) else str(owners)
        while answer := self.ask(f"{self._word('owner')} [{current}]: ").strip():
            ids = [item.strip() for item in answer.split(",")]
            if all(item.isdecimal() for item in ids):
                self.changes.values["channels.telegram", "owners"] = ids
                break
            self.say(self._word("no", why=answer))

    @property
    def provider(self) -> str:
        return str(self.changes.values.get(("provider", "name"), self.loaded.settings.provider.name))

    @property
    def enabled(self) -> list[str]:
        wished = self.changes.values.get(("channels", "enabled"))
        return list(wished) if isinstance(wished, list) else list(self.loaded.settings.channels.enabled)

    @property
    def _yes_no(self) -> tuple[str, str]:
        return ("s", "n") if self._language == "es" else ("y", "n")

    @property
    def _language(self) -> Language:
        chosen = self.changes.values.get(("bot", "language"), self.loaded.settings.bot.language)
        if chosen not in {"en", "es"}:
            chosen = (self.environ.get("LC_ALL") or self.environ.get("LANG") or "en")[:2]
        return "es" if chosen == "es" else "en"

    def _word(self, what: str, **parts: str) -> str:
        return _WORDS[what][self._language].format(**parts)

    def _bot(self, key: str) -> Callable[[str], str | None]:
        def check(answer: str) -> str | None:
            try:
                BotSettings.model_validate({key: answer})
            except ValidationError as error:
                detail = error.errors()[0]
                return str(detail.get("ctx", {}).get("error") or detail["msg"])
            return None

        return check

    def _value(self, section: str, key: str, current: str, check: Callable[[str], str | None], **parts: str) -> None:
        current = str(self.changes.values.get((section, key), current))
        what = "provider" if section == "provider" else key
        while answer := self.ask(f"{self._word(what, **parts)} [{current}]: ").strip():
            why = check(answer)
            if why is None:
                if answer != current:
                    self.changes.values[section, key] = answer
                return
            self.say(self._word("no", why=why))

    def _secret(self, file: str, where: tuple[plugins.PluginGroup, str, str]) -> None:
        if file in self.changes.secrets:
            return
        group, plugin, key = where
        held = self.loaded.settings.plugin_tables(group).get(plugin, {}).get(key)
        mark = f" [{self._word('set')}]" if isinstance(held, SecretStr) else ""
        if answer := self.ask_secret(f"{self._word(file)}{mark}: ").strip():
            self.changes.secrets[file] = answer


def system_timezone(environ: Mapping[str, str]) -> str:
    """The machine's time zone by name; UTC when it does not say."""
    _, marker, name = str(Path("/etc/localtime").resolve()).partition("/zoneinfo/")
    for candidate in (environ.get("TZ", "").removeprefix(":"), name if marker else ""):
        try:
            return BotSettings(timezone=candidate).timezone
        except ValidationError:
            continue
    return "UTC"
