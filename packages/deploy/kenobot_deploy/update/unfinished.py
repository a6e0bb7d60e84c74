"""An update that was cut off: the next start of the bot, or the next `kenobot update`, brings it to its end.

Only a version that has said that it is well stays. Until then nothing was answered by it, so nothing is lost.
"""

import logging
import os
from datetime import datetime

from kenobot import __version__
from kenobot.cli.context import CommandContext
from kenobot.cli.handover import hand_over
from kenobot.core.settings.home import AlreadyLocked, Home
from kenobot.core.systemd import start_extended
from kenobot.ports.errors import KenobotError
from kenobot.ports.sentences import Sentence
from kenobot.storage.updates import Environments, Update
from kenobot_deploy.update.switch import put_version_back

_log = logging.getLogger(__name__)


def open_return(environments: Environments) -> Update | None:
    """Return the update that has to be taken back, with the reason; None where there is none.

    Only where no command is updating the home does it mean that one was cut off.
    """
    update = environments.read()
    if update is None or update.phase not in ("trial", "returning"):
        return None
    if update.phase == "returning":
        return update
    verdict = environments.read_verdict()
    if verdict is None or verdict.trial != update.trial:
        return update.model_copy(update={"reason": Sentence("update.interrupted")})
    return update.model_copy(update={"reason": verdict.problem}) if verdict.problem else None


def finish_return(context: CommandContext) -> None:
    """Put the version before back, if an update was cut off, and go on as that one; else return.

    Called before a start. What cannot be put back stays as it is: then the new version runs.
    """
    environments = Environments(context.home)
    if not environments.folder.exists() or open_return(environments) is None:
        return
    try:
        with start_extended():
            is_back = _put_back(context.home, environments, context.clock.now())
    except AlreadyLocked:  # a command is at it, or a bot runs
        return
    except (KenobotError, OSError) as error:
        _log.warning("An update that was cut off cannot be taken back: %s", error)
        return
    if is_back:
        hand_over(context.args.typed, __version__)


def _put_back(home: Home, environments: Environments, at: datetime) -> bool:
    """Return whether a version was put back. Raises AlreadyLocked, StoreError and OSError."""
    with home.update_lock(), home.lock():
        update = open_return(environments)
        if update is None or not os.access(update.old.environment / "bin" / "python", os.X_OK):
            return False
        put_version_back(home, update, at)
        return True
