"""The questions of `kenobot setup`: few on a new machine, and later only what is wrong or wanted."""

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import datetime
from functools import partial
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from kenobot.cli.options import show_progress
from kenobot.cli.setup.channel_step import ChannelStep
from kenobot.cli.setup.dialog import Dialog, complaint
from kenobot.cli.setup.live_checks import LiveCheck
from kenobot.cli.setup.service_check import LocalServer, list_models_offered
from kenobot.cli.setup.telegram_step import TelegramStep
from kenobot.cli.setup.time_zone import note_guess
from kenobot.core import plugins
from kenobot.core.settings.schema import BotSettings
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass
from kenobot.providers.openai_compatible import PRESETS, Preset

_SHOWN_MODELS = 8
_OFFLINE = "offline"

Step = Literal["basics", "model", "telegram"]
STEPS: Sequence[Step] = ("basics", "model", "telegram")


@dataclass(frozen=True, slots=True)
class Wizard:
    """Asks a person, and notes in the dialog's changes what is to change.

    check_model: tries out the model as it is chosen then. now: the present moment. has_home: whether a setup was here
    before. installable: whether there is an embedded model to be fetched. find_servers: those that run on this machine.
    offers_service: whether to ask about one, and whether one is there. unwell: channels that are found not to work.
    """

    dialog: Dialog
    telegram: TelegramStep
    channels: ChannelStep
    check_model: Callable[[], LiveCheck]
    now: datetime
    has_home: bool = False
    installable: bool = False
    find_servers: Callable[[], Sequence[LocalServer]] = field(default=lambda: ())
    offers_service: Literal["no", "root", "install", "restart"] = "no"
    unwell: list[str] = field(default_factory=list)  # bounded: the channels there are; start

    def run(self) -> None:
        """Ask. Raises EOFError and KeyboardInterrupt when the person leaves; ConfigError."""
        steps = self._review() if self.has_home else STEPS
        if "basics" in steps:
            self._ask_basics()
        if "model" in steps:
            self._choose_model()
        if "telegram" in steps:
            self._ask_where(steps)
        for name in self.unwell:
            if name in self.dialog.changes.channels:
                self.channels.ask(name)
        if self.installable and not self.dialog.changes.install and steps == STEPS:
            self.dialog.changes.install = self.dialog.agreed("embedded", default=True)
        self._ask_service()

    def _review(self) -> Sequence[Step]:
        """Show what there is, checked, and ask whether to go through it. Returns the steps to go through."""
        dialog, bot = self.dialog, self.dialog.changes.loaded.settings.bot
        dialog.tell("review")
        dialog.tell("review_bot", name=bot.name, zone=bot.timezone, speaks=dialog.word(f"speaks_{bot.language}"))
        wrong: list[Step] = []
        found: Sequence[tuple[Step, LiveCheck | None]] = (
            ("model", self._try_model()),
            ("telegram", self.telegram.review()),
        )
        for step, check in found:
            if check is not None:
                dialog.show(check)
                wrong += [step] if check.state in ("refused", "held") else []
        for name, check in self.channels.review().items():
            dialog.show(check)
            self.unwell.extend([name] if check.state == "refused" else [])
        question = "review_wrong" if wrong or self.unwell else "review_well"
        return STEPS if dialog.agreed(question, default=False) else wrong

    def _ask_where(self, steps: Sequence[Step]) -> None:
        """Ask over which channels to talk, and for what each needs."""
        telegram = self.telegram.is_expected
        others: Sequence[str] = ()
        if steps == STEPS:
            telegram, others = self.channels.choose(telegram=telegram)
            self.channels.switch_off()
        self.telegram.ask(wanted=telegram)
        for name in others:
            self.channels.ask(name)

    # ── who it is, and where ─────────────────────────────────────────────────────────────────────────────────────────

    def _ask_basics(self) -> None:
        dialog, changes = self.dialog, self.dialog.changes
        bot = changes.loaded.settings.bot
        note_guess(changes)
        while True:
            now = {key: str(changes.values.get(("bot", key), getattr(bot, key))) for key in BotSettings.model_fields}
            time = f"{self.now.astimezone(ZoneInfo(now['timezone'])):%H:%M}"
            parts = {"name": now["name"], "zone": now["timezone"], "speaks": dialog.word(f"speaks_{now['language']}")}
            answer = dialog.answered("basics", dialog.mark(yes=True), time=time, **parts).lower()
            if answer in ("en", "es"):
                changes.values["bot", "language"] = answer
            elif answer[:1] in ("", "y", "s"):
                return
            else:
                for key in ("language", "name", "timezone"):
                    dialog.value("bot", key, now[key], partial(complaint, BotSettings, key))

    # ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _choose_model(self) -> None:
        """Ask for the model until it answers, or the person keeps it all the same."""
        again = False
        while True:
            self._ask_provider(again)
            check = self._try_model()
            if check is None:
                return
            self.dialog.show(check)
            again = True
            if check.state == "ok" or not self.dialog.agreed("again", default=check.state == "refused"):
                return

    def _try_model(self) -> LiveCheck | None:
        """Try the model out; None when there is none."""
        if self.dialog.changes.provider == _OFFLINE:
            return None
        show_progress(self.dialog.word("asking_model"))
        try:
            return self.check_model()
        except ConfigError as error:
            return LiveCheck("refused", str(error))
        finally:
            show_progress()

    def _ask_provider(self, again: bool) -> None:
        dialog, changes = self.dialog, self.dialog.changes
        choices = changes.loaded.catalogue.names("kenobot.providers")

        def check(answer: str) -> str | None:
            return None if answer in choices else plugins.unknown_plugin("kenobot.providers", answer, choices)

        if changes.provider == _OFFLINE and any(map(self._offer_server, self.find_servers())):
            return
        given = not again and bool({"anthropic_api_key", f"providers.{changes.provider}.api_key"} & {*changes.secrets})
        if not given:
            dialog.value("provider", "name", changes.provider, check, choices=", ".join(choices))
        if changes.provider == "anthropic":
            if not given:
                dialog.secret("anthropic_api_key", ("kenobot.providers", "anthropic", "api_key"))
            if again:
                self._ask_model("anthropic", ())
        elif preset := PRESETS.get(changes.provider):
            self._ask_of_service(changes.provider, preset, given)

    def _offer_server(self, server: LocalServer) -> bool:
        """Offer a server that runs on this machine, and which of its models is to answer."""
        shown = ", ".join(server.models[:_SHOWN_MODELS])
        if not self.dialog.agreed("local", default=True, server=server.title, models=shown):
            return False
        self.dialog.changes.values["provider", "name"] = server.provider
        self._ask_model(server.provider, server.models)
        return True

    def _ask_of_service(self, name: str, preset: Preset, given: bool) -> None:
        """Ask for the address, the key and the model of a service, as far as it needs them."""
        dialog, changes = self.dialog, self.dialog.changes
        settings = changes.loaded.catalogue.load("kenobot.providers", name).settings
        table = changes.loaded.settings.plugin_tables("kenobot.providers").get(name, {})
        base_url = str(table.get("base_url") or preset.base_url)
        if not preset.base_url:
            dialog.value(f"providers.{name}", "base_url", base_url, partial(complaint, settings, "base_url"))
            base_url = str(changes.values.get((f"providers.{name}", "base_url"), base_url))
        file = f"providers.{name}.api_key"
        if preset.key and not given:
            dialog.secret(file, ("kenobot.providers", name, "api_key"), service=preset.title)
        known = table.get("api_key")
        key = changes.secrets.get(file) or (known.get_secret_value() if isinstance(known, SecretStr) else "")
        offered = list_models_offered(base_url, key) if base_url else ()
        self._ask_model(name, (preset.model, *offered) if preset.model else offered)

    def _ask_model(self, name: str, offered: Sequence[str]) -> None:
        """Ask for the model of a service; the first of `offered` unless there is one."""
        changes, section = self.dialog.changes, f"providers.{name}"
        table = changes.loaded.settings.plugin_tables("kenobot.providers").get(name, {})
        default = changes.loaded.catalogue.load("kenobot.providers", name).settings.model_fields["model"].default
        current = str(changes.values.get((section, "model")) or table.get("model") or default or "")
        if offered and not current:
            current = offered[0]
            changes.values.setdefault((section, "model"), current)
        shown = ", ".join(dict.fromkeys(offered[:_SHOWN_MODELS]))
        self.dialog.value(section, "model", current, lambda _: None, models=shown or current)

    # ── as a service ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _ask_service(self) -> None:
        changes = self.dialog.changes
        if self.offers_service == "no" or not changes.channels or changes.service is not None:
            return
        if self.offers_service == "root":
            self.dialog.tell("service_root")
        elif self.offers_service == "install" or not changes.is_empty:
            again = self.has_home and self.offers_service == "install"  # Enter leaves it as it is
            changes.service = self.dialog.agreed(f"service_{self.offers_service}", default=not again)
