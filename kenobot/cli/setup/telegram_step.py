"""Set up Telegram: the bot's token, what else may read its messages, and whose bot it is."""

import secrets
from collections.abc import Callable

from kenobot.channels.telegram.owner_code import OwnerUnknown
from kenobot.cli.options import show_progress
from kenobot.cli.setup import live_checks
from kenobot.cli.setup.dialog import Dialog
from kenobot.cli.setup.live_checks import LiveCheck
from kenobot.gateway.pairing import new_code
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence

CODE_SECONDS = 300.0
_FILE = "telegram_token"


@dataclass(frozen=True, slots=True)
class TelegramStep:
    """Asks about Telegram.

    runs: whether the bot of this home runs, and so reads its messages itself. by_default: what Enter answers.
    """

    dialog: Dialog
    clock: Clock
    runs: Callable[[], bool]
    by_default: bool = True
    seconds: float = CODE_SECONDS

    def review(self) -> LiveCheck | None:
        """Check the bot that is set up; None when Telegram is off."""
        if "telegram" not in self.dialog.changes.channels:
            return None
        if not self._has_token():
            return LiveCheck("refused", "Telegram has no bot token: get one from @BotFather.")
        check = self._try_token()
        if check.state == "ok" and not self.dialog.changes.owners:
            return LiveCheck("refused", Sentence("@{name} has no owner.", name=check.name), check.name)
        return check

    @property
    def is_expected(self) -> bool:
        """Return whether Enter means to talk over Telegram."""
        changes = self.dialog.changes
        return "telegram" in changes.channels or _FILE in changes.secrets or self.by_default

    def ask(self, *, wanted: bool) -> None:
        """Switch Telegram on or off, and ask for what it needs."""
        self.dialog.changes.enable("telegram", on=wanted)
        if wanted and self._token():
            self._ask_owner()

    def _token(self) -> bool:
        """Ask for the token until Telegram takes it, or the person keeps it. False when there is none: it stays off."""
        dialog, changes = self.dialog, self.dialog.changes
        given = _FILE in changes.secrets
        while True:
            if not given:
                dialog.secret(_FILE, ("kenobot.channels", "telegram", "token"))
            given = False
            if not self._has_token():
                dialog.tell("no_token")
                changes.enable("telegram", on=False)
                return False
            check = self._try_token()
            dialog.show(check)
            if check.state == "held" and dialog.agreed("take_webhook", default=False):
                self._take_webhook()
                given = True
            elif check.state == "ok" or not dialog.agreed("again", default=check.state == "refused"):
                return True

    def _take_webhook(self) -> None:
        problem = live_checks.remove_webhook(self.dialog.changes.after(), self.clock)
        if problem is not None:
            print(f"  ! {self.dialog.translated(problem.text)}")

    def _has_token(self) -> bool:
        table = self.dialog.changes.after().settings.plugin_tables("kenobot.channels").get("telegram", {})
        return bool(table.get("token"))

    def _try_token(self) -> LiveCheck:
        show_progress(self.dialog.word("asking_telegram"))
        try:
            return live_checks.check_telegram(self.dialog.changes.after(), self.clock, runs=self.runs())
        except ConfigError as error:
            return LiveCheck("refused", str(error))
        finally:
            show_progress()

    def _ask_owner(self) -> None:
        """Ask whose bot it is: by a message to the bot, or by a number."""
        dialog, changes = self.dialog, self.dialog.changes
        while True:
            shown = ", ".join(changes.owners)
            answer = dialog.answered("owner_kept" if shown else "owner", shown)
            if not answer and shown:
                return
            if not answer or answer.lower() in ("new", "nuevo"):
                if self._find_by_code():
                    return
                continue
            ids = [item.strip() for item in answer.split(",")]
            if all(item.isdecimal() for item in ids):
                changes.values["channels.telegram", "owners"] = ids
                return
            dialog.refuse(dialog.word("no_number"))

    def _find_by_code(self) -> bool:
        """Wait for the owner's message with a code."""
        dialog = self.dialog
        if self.runs():
            dialog.tell("owner_runs")
            return False

        def announce(code: str, name: str) -> None:
            dialog.tell("owner_code", code=code, bot=name, minutes=f"{self.seconds / 60:.0f}")

        try:
            user, name = claim_owner(dialog, self.clock, announce, self.seconds)
        except (OwnerUnknown, ConfigError) as error:
            print(f"  ! {dialog.translated(str(error))}")
            return False
        dialog.tell("owner_found", name=name, user=user)
        return True


def claim_owner(dialog: Dialog, clock: Clock, announce: live_checks.Announce, seconds: float) -> tuple[str, str]:
    """Wait for the message with a new code, note its sender as the owner, and thank them there.

    Returns the owner's id and name. Raises OwnerUnknown and ConfigError.
    """
    changes, after = dialog.changes, dialog.changes.after()
    message = live_checks.find_owner(after, clock, new_code(secrets.randbelow).formatted, announce, seconds)
    changes.values["channels.telegram", "owners"] = [message.user]
    changes.codes.append(message)
    live_checks.thank(after, clock, message.chat, dialog.word("owner_thanks"))
    return message.user, message.user_name
