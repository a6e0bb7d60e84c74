"""Set up channels beside Telegram: each channel's model of its settings says what to ask, and checks the answers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pydantic import SecretStr

from kenobot.channels.people import ChatSettings, check_packages
from kenobot.cli.options import show_progress
from kenobot.cli.setup.changes import SetupChanges
from kenobot.cli.setup.dialog import Dialog, complaint
from kenobot.cli.setup.live_checks import LiveCheck
from kenobot.core import plugins
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence

_GROUP: plugins.PluginGroup = "kenobot.channels"
_TELEGRAM = "telegram"
_OF_PROGRAMS = "http"  # which people do not talk over


def list_offered(loaded: ResolvedSettings) -> Mapping[str, type[ChatSettings]]:
    """Return the channels beside Telegram whose settings say what a setup asks for, by name."""
    catalogue = loaded.catalogue
    shipped = (name for name in catalogue.names(_GROUP) if name != _TELEGRAM and not catalogue.is_foreign(_GROUP, name))
    models = {name: catalogue.load(_GROUP, name).settings for name in sorted(shipped)}
    return {name: model for name, model in models.items() if issubclass(model, ChatSettings) and model.asked}


def with_those_beside(loaded: ResolvedSettings, names: Sequence[str]) -> Sequence[str]:
    """Return the names of channels, each behind those without which it does not work."""
    offered = list_offered(loaded)
    return [each for name in names for each in (*(offered[name].beside if name in offered else ()), name)]


def lacking_one_beside(loaded: ResolvedSettings, names: Sequence[str]) -> str:
    """Return which channel lacks one without which it does not work, of those that are on then; "" where none does."""
    offered = list_offered(loaded)
    needed = ((name, other) for name in names if name in offered for other in offered[name].beside)
    return next(
        (Sentence("channels.needs_other", name=name, other=other) for name, other in needed if other not in names), ""
    )


def is_secret(loaded: ResolvedSettings, channel: str, key: str) -> bool:
    """Return whether a setting of a channel is a secret."""
    setting = loaded.catalogue.load(_GROUP, channel).settings.model_fields.get(key)
    return setting is not None and isinstance(setting.get_default(call_default_factory=True), SecretStr)


def set_value(changes: SetupChanges, channel: str, key: str, answer: str) -> str | None:
    """Note the value of a channel's setting; return why it will not do, None when it does."""
    model = changes.loaded.catalogue.load(_GROUP, channel).settings
    if (setting := model.model_fields.get(key)) is None:
        return Sentence("channels.unknown_setting", names=", ".join(model.model_fields))
    default = setting.get_default(call_default_factory=True)
    listed = [item.strip() for item in answer.split(",") if item.strip()]
    if (why := complaint(model, key, listed if isinstance(default, list | tuple) else answer)) is not None:
        return why
    if isinstance(default, SecretStr):
        changes.secrets[f"channels.{channel}.{key}"] = answer
    elif isinstance(default, list | tuple):
        changes.values[f"channels.{channel}", key] = listed
    else:
        plain = getattr(model.model_validate({key: answer}), key)
        changes.values[f"channels.{channel}", key] = plain if isinstance(plain, bool | int | float) else answer
    return None


@dataclass(frozen=True, slots=True)
class ChannelStep:
    """Asks about channels. check: tries one out as it is chosen then; None where it cannot be tried."""

    dialog: Dialog
    check: Callable[[str], LiveCheck | None]

    def choose(self, *, telegram: bool) -> tuple[bool, Sequence[str]]:
        """Ask where to talk. telegram: what Enter answers. Returns whether over Telegram, and over which others."""
        dialog, offered = self.dialog, [*list_offered(self.dialog.changes.loaded)]
        listed = ", ".join(sorted({*offered, *plugins.APART[_GROUP]} - {_OF_PROGRAMS}))
        there = _TELEGRAM in dialog.changes.channels
        while True:
            answer = dialog.answered("telegram", dialog.mark(yes=telegram), others=listed).lower()
            words = answer.replace(",", " ").split()
            if words and all(word in (*offered, _TELEGRAM) for word in words):
                return there or _TELEGRAM in words, [word for word in dict.fromkeys(words) if word != _TELEGRAM]
            if answer in ("", "y", "yes", "s", "si", "sí", "n", "no"):
                return (answer[0] in "ys" if answer else telegram), ()
            wrong = next((word for word in words if word not in offered), answer)
            dialog.refuse(plugins.unknown_plugin(_GROUP, wrong, [*offered, _TELEGRAM]))

    def switch_off(self) -> None:
        """Ask which of the channels that are on beside Telegram to switch off."""
        changes, dialog = self.dialog.changes, self.dialog
        while on := [name for name in changes.channels if name != _TELEGRAM]:
            words = (
                dialog.answered("switch_off", dialog.word("none"), on=", ".join(on)).lower().replace(",", " ").split()
            )
            if words in ([], ["n"], ["no"], [dialog.word("none")]):
                return
            if unknown := [word for word in words if word not in on]:
                dialog.refuse(dialog.word("not_on", channel=unknown[0]))
            elif lame := lacking_one_beside(changes.loaded, [name for name in on if name not in words]):
                dialog.refuse(lame)
            else:
                for word in words:
                    changes.enable(word, on=False)
                return

    def review(self) -> Mapping[str, LiveCheck]:
        """Try out the channels that are on."""
        on = [name for name in list_offered(self.dialog.changes.loaded) if name in self.dialog.changes.channels]
        return {name: check for name in on if (check := self._try_channel(name)) is not None}

    def ask(self, channel: str) -> None:
        """Ask for what a channel needs until it works, or the person keeps it. It stays off where one is missing."""
        changes, dialog = self.dialog.changes, self.dialog
        model = list_offered(changes.loaded)[channel]
        try:
            check_packages(model)
        except ConfigError as error:
            dialog.show(LiveCheck("refused", str(error)))
            return
        while True:
            if not all(self._value(channel, model, key) for key in model.asked):
                dialog.tell("channel_off", channel=model.title)
                changes.enable(channel, on=False)
                return
            for name in (*model.beside, channel):
                changes.enable(name, on=True)
            check = self._try_channel(channel)
            if check is None:
                return
            dialog.show(check)
            if check.state == "ok" or not dialog.agreed("again", default=check.state == "refused"):
                return

    def _value(self, channel: str, model: type[ChatSettings], key: str) -> bool:
        """Ask for a setting; whether there is one then."""
        changes, dialog = self.dialog.changes, self.dialog
        setting = model.model_fields[key]
        default = setting.get_default(call_default_factory=True)
        section = f"channels.{channel}"
        question = f"{model.title}: {dialog.translated(setting.description or key)}"
        known = changes.loaded.settings.plugin_tables(_GROUP).get(channel, {}).get(key, default)
        if isinstance(default, SecretStr):
            there = f"{section}.{key}" in changes.secrets or bool(
                isinstance(known, SecretStr) and known.get_secret_value()
            )
            answer = dialog.hidden(question, partial(complaint, model, key), is_set=there)
        else:
            current = changes.values.get((section, key), known)
            shown = ", ".join(map(str, current)) if isinstance(current, list | tuple) else str(current)
            answer, there = dialog.typed(question, shown, partial(complaint, model, key)), bool(shown)
        if answer:
            set_value(changes, channel, key, answer)
        elif there and not isinstance(default, SecretStr) and current == default:
            changes.values[section, key] = str(current)
        return bool(answer) or there

    def _try_channel(self, channel: str) -> LiveCheck | None:
        show_progress(self.dialog.word("asking_channel", channel=channel))
        try:
            return self.check(channel)
        finally:
            show_progress()
