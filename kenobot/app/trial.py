"""The first start of a version that `kenobot update` has put in place: messages come in, and none is answered.

Until the command takes the version for good, everything that the start would change stays as it is, so that it can be
taken back without a loss: no turn, no answer, no file of memory. When the command ends before it has decided, for
whatever reason, the version is taken: it runs already. When it has decided to return and ends before that is done, the
version ends too, and the next start finishes the return.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Protocol

from kenobot.core.bus import Bus
from kenobot.core.settings.home import Home
from kenobot.core.systemd import start_extended
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError
from kenobot.ports.sentences import Sentence
from kenobot.ports.signals import UPDATE_FINISHED
from kenobot.storage.updates import Environments, Update, Verdict

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.2
_STEADY_SECONDS = 3.0  # for which the channels have to run


class ReturnPending(KenobotError):
    """The version on trial has to make room for the one before, and no command sees to that any more."""


class TrialApp(Protocol):
    """Parts of the bot that a trial needs."""

    home: Home
    clock: Clock
    bus: Bus

    async def hold_turns(self) -> None:
        """Be ready to take messages in, and answer none."""
        ...

    async def check_alive(self) -> None:
        """Return when the database has answered. Raises StoreError."""
        ...


async def run_trial(
    app: TrialApp, serving: Callable[[], Collection[str]], begin: Callable[[], asyncio.Task[None]], stop: asyncio.Event
) -> asyncio.Task[None] | None:
    """Run the trial of an update, if there is one; return the task that runs the channels after it.

    serving: names the channels that run. begin: has them run. stop: ends the trial as well.
    Raises what ended the channels, StoreError, and ReturnPending.
    """
    environments = Environments(app.home)
    if not environments.folder.exists():
        return None
    update = await asyncio.to_thread(_open_trial, environments, at_start=True)
    if update is None:
        return None
    _log.info("version %s is on trial: messages are taken in and wait", update.new.version)
    await app.hold_turns()
    running = begin()
    with start_extended():
        await _wait_until_over(app, environments, update, serving, running, stop)
    if running.done():
        running.result()
    return running


def _open_trial(environments: Environments, *, at_start: bool) -> Update | None:
    """Return the update that this version is on trial of. One that its command has left to itself is taken.

    at_start: take a return too that the start could not finish. Else raises ReturnPending for it.
    """
    is_under_way = environments.is_update_under_way()  # before the reading, which has the command's last word then
    update = environments.read()
    if update is None or update.phase not in ("trial", "returning"):
        return None
    if update.phase == "returning" and not is_under_way and not at_start:
        raise ReturnPending(
            "update.return_pending", version=update.new.version, reason=update.reason, former=update.old.version
        )
    if environments.current() != update.new.environment.resolve():
        return None
    if not is_under_way:  # from here on messages are answered, and would be lost by a return
        try:
            environments.write(update.model_copy(update={"phase": "taken"}))
        except OSError as error:  # on a full disk: at the next start, then
            _log.warning("that version %s is taken cannot be written down: %s", update.new.version, error)
        return None
    return update


async def _wait_until_over(
    app: TrialApp,
    environments: Environments,
    update: Update,
    serving: Callable[[], Collection[str]],
    running: asyncio.Task[None],
    stop: asyncio.Event,
) -> None:
    """Give a verdict once it is clear, and return when the command has decided. Raises ReturnPending."""
    is_given, steady_at = False, app.clock.monotonic() + _STEADY_SECONDS
    while not stop.is_set() and not running.done():
        await app.check_alive()
        missing = set(update.channels).difference(serving())
        if not is_given and (missing or app.clock.monotonic() >= steady_at):
            problem = Sentence("update.channel_down", name=min(missing)) if missing else ""
            await asyncio.to_thread(environments.write_verdict, Verdict(trial=update.trial, problem=problem))
            is_given = True
        still = await asyncio.to_thread(_open_trial, environments, at_start=False)
        if still is None or still.trial != update.trial:
            return
        await app.clock.sleep(_LOOK_SECONDS)


async def tell_of_update(app: TrialApp) -> None:
    """Notify the owner, once, of the outcome of the last update."""
    environments = Environments(app.home)
    update = await asyncio.to_thread(environments.read)
    if update is None or update.told or update.phase not in ("taken", "returned"):
        return
    version = {"version": update.new.version, "former": update.old.version}
    is_taken = update.phase == "taken"
    await app.bus.emit(
        UPDATE_FINISHED, "update", "", taken=is_taken, reason=update.reason, trial=update.trial, **version
    )
    await asyncio.to_thread(environments.write, update.model_copy(update={"told": True}))
