"""The questions of `kenobot setup`, in plain terms and in the person's language. Enter keeps what there is."""

import getpass
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, SecretStr, ValidationError

from kenobot.cli.language import translate
from kenobot.cli.setup.service_check import LocalServer, is_refused, offered_models
from kenobot.cli.setup.toml_edit import Value
from kenobot.core import plugins
from kenobot.core.i18n import Language, terminal_language
from kenobot.core.settings.load import ResolvedSettings
from kenobot.core.settings.schema import BotSettings
from kenobot.providers.openai_compatible import PRESETS, Preset

_SHOWN_MODELS = 8

_WORDS: Mapping[str, Mapping[Language, str]] = tomllib.loads(
    resources.files(__package__).joinpath("words.toml").read_text("utf-8")
)


@dataclass(slots=True)
class SetupChanges:
    """Changes of the settings in `loaded`: values by (section, key), secrets by the name of their credential file.

    install: whether the embedded model is to be fetched.
    """

    loaded: ResolvedSettings
    install: bool = False
    values: dict[tuple[str, str], Value] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        return str(self.values.get(("provider", "name"), self.loaded.settings.provider.name))

    @property
    def channels(self) -> list[str]:
        enabled = self.values.get(("channels", "enabled"))
        return list(enabled) if isinstance(enabled, list) else list(self.loaded.settings.channels.enabled)

    @property
    def owners(self) -> list[str]:
        """The owners on Telegram."""
        owners = self.values.get(("channels.telegram", "owners"))
        if not isinstance(owners, list):
            owners = self.loaded.settings.plugin_tables("kenobot.channels").get("telegram", {}).get("owners", [])
        return list(map(str, owners)) if isinstance(owners, list) else [str(owners)]


@dataclass(frozen=True, slots=True)
class Wizard:
    """Asks a person, and notes in `changes` what is to change.

    installable: whether there is an embedded model to be fetched. local_servers: those that run on this machine.
    """

    changes: SetupChanges
    installable: bool = False
    local_servers: Sequence[LocalServer] = ()

    def run(self) -> None:
        bot = self.changes.loaded.settings.bot
        self._value("bot", "language", bot.language, self._bot("language"))
        self._value("bot", "name", bot.name, self._bot("name"))
        new = self.changes.loaded.origin("bot.timezone") == "default"
        here = system_timezone(os.environ) if new else bot.timezone
        self._value("bot", "timezone", here, self._bot("timezone"))
        if here != bot.timezone:
            self.changes.values.setdefault(("bot", "timezone"), here)
        self._provider()
        self._telegram()
        if self.installable and not self.changes.install:
            self.changes.install = self._agreed("embedded", default=True)

    def _provider(self) -> None:
        choices = self.changes.loaded.catalogue.names("kenobot.providers")

        def check(answer: str) -> str | None:
            return None if answer in choices else plugins.unknown_plugin("kenobot.providers", answer, choices)

        if any(self._agreed_to(server) for server in self.local_servers if self.changes.provider == "offline"):
            return
        self._value("provider", "name", self.changes.provider, check, choices=", ".join(choices))
        if self.changes.provider == "anthropic":
            self._secret("anthropic_api_key", ("kenobot.providers", "anthropic", "api_key"))
        elif preset := PRESETS.get(self.changes.provider):
            self._service(self.changes.provider, preset)

    def _agreed_to(self, server: LocalServer) -> bool:
        """Offer a server that runs on this machine, and which of its models is to answer."""
        shown = ", ".join(server.models[:_SHOWN_MODELS])
        if not self._agreed("local", default=True, server=server.title, models=shown):
            return False
        self.changes.values["provider", "name"] = server.provider
        self._model(server.provider, server.models)
        return True

    def _service(self, name: str, preset: Preset) -> None:
        """Ask for the address, the key and the model of a service, as far as it needs them."""
        settings = self.changes.loaded.catalogue.load("kenobot.providers", name).settings
        table = self.changes.loaded.settings.plugin_tables("kenobot.providers").get(name, {})
        base_url = str(table.get("base_url") or preset.base_url)
        if not preset.base_url:
            self._value(f"providers.{name}", "base_url", base_url, partial(_complaint, settings, "base_url"))
            base_url = str(self.changes.values.get((f"providers.{name}", "base_url"), base_url))
        file = f"providers.{name}.api_key"
        if preset.key:
            self._secret(file, ("kenobot.providers", name, "api_key"), service=preset.title)
        known = table.get("api_key")
        key = self.changes.secrets.get(file) or (known.get_secret_value() if isinstance(known, SecretStr) else "")
        offered = offered_models(base_url, key) if base_url else ()
        self._model(name, (preset.model, *offered) if preset.model else offered)

    def _model(self, name: str, offered: Sequence[str]) -> None:
        """Ask for the model of a service; the first of `offered` unless there is one."""
        table = self.changes.loaded.settings.plugin_tables("kenobot.providers").get(name, {})
        section, current = f"providers.{name}", str(table.get("model") or PRESETS[name].model)
        if offered and not current:
            current = offered[0]
            self.changes.values.setdefault((section, "model"), current)
        shown = ", ".join(dict.fromkeys(offered[:_SHOWN_MODELS]))
        self._value(section, "model", current, lambda _: None, models=shown)

    def _telegram(self) -> None:
        enabled = self.changes.channels
        wanted = self._agreed("telegram", default="telegram" in enabled)
        if wanted != ("telegram" in enabled):
            rest = [name for name in enabled if name != "telegram"]
            self.changes.values["channels", "enabled"] = [*rest, "telegram"] if wanted else rest
        if not wanted:
            return
        self._secret("telegram_token", ("kenobot.channels", "telegram", "token"))
        while answer := input(f"{self._word('owner')} [{', '.join(self.changes.owners)}]: ").strip():
            ids = [item.strip() for item in answer.split(",")]
            if all(item.isdecimal() for item in ids):
                self.changes.values["channels.telegram", "owners"] = ids
                break
            print(self._word("no", why=self._word("no_number")))

    def _agreed(self, question: str, *, default: bool, **parts: str) -> bool:
        yes, no = ("s", "n") if self._language == "es" else ("y", "n")
        answer = input(f"{self._word(question, **parts)} [{yes if default else no}]: ").strip().lower()[:1]
        return answer in {"y", "s"} if answer else default

    @property
    def _language(self) -> Language:
        chosen = self.changes.values.get(("bot", "language"), self.changes.loaded.settings.bot.language)
        if chosen not in {"en", "es"}:
            return terminal_language(os.environ)
        return "es" if chosen == "es" else "en"

    def _word(self, what: str, **parts: str) -> str:
        return _WORDS[what][self._language].format(**parts)

    def _bot(self, key: str) -> Callable[[str], str | None]:
        return lambda answer: _complaint(BotSettings, key, answer)

    def _value(self, section: str, key: str, current: str, check: Callable[[str], str | None], **parts: str) -> None:
        current = str(self.changes.values.get((section, key), current))
        what = "provider" if section == "provider" else key
        while answer := input(f"{self._word(what, **parts)} [{current}]: ").strip():
            why = check(answer)
            if why is None:
                if answer != current:
                    self.changes.values[section, key] = answer
                return
            print(self._word("no", why=translate(why, self._language)))

    def _secret(self, file: str, where: tuple[plugins.PluginGroup, str, str], **parts: str) -> None:
        if file in self.changes.secrets:
            return
        group, plugin, key = where
        current = self.changes.loaded.settings.plugin_tables(group).get(plugin, {}).get(key)
        mark = f" [{self._word('set')}]" if isinstance(current, SecretStr) else ""
        what = self._word("api_key" if parts else file, **parts)
        while answer := getpass.getpass(f"{what}{mark}: ").strip():
            settings = self.changes.loaded.catalogue.load(group, plugin).settings
            why = _complaint(settings, key, answer)
            if why is None:
                table = self.changes.loaded.settings.plugin_tables(group).get(plugin, {})
                base_url = str(table.get("base_url") or settings.model_fields["base_url"].default)
                refused = is_refused(file, answer, base_url)
                if not refused:
                    print(self._word("accepted" if refused is False else "unchecked"))
                    self.changes.secrets[file] = answer
                    return
                why = self._word("refused")
            print(self._word("no", why=translate(why, self._language)))


def _complaint(settings: type[BaseModel], key: str, answer: str) -> str | None:
    """Return what is wrong with the value of a key; None when nothing is."""
    try:
        settings.model_validate({key: answer})
    except ValidationError as error:
        wrong = next((detail for detail in error.errors() if detail["loc"] == (key,)), None)
        return str(wrong.get("ctx", {}).get("error") or wrong["msg"]) if wrong is not None else None
    return None


def system_timezone(environ: Mapping[str, str]) -> str:
    """The machine's time zone by name; UTC when it does not say."""
    _, marker, name = str(Path("/etc/localtime").resolve()).partition("/zoneinfo/")
    for candidate in (environ.get("TZ", "").removeprefix(":"), name if marker else ""):
        try:
            return BotSettings(timezone=candidate).timezone
        except ValidationError:
            continue
    return "UTC"
