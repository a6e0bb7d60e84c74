"""`kenobot stop`: end the bot that runs in this home, in good order."""

import os
import time

from kenobot.cli import options
from kenobot.cli.bot_link import ask
from kenobot.cli.context import CommandContext
from kenobot.core import texts
from kenobot.core.frames import Stop, Stopping
from kenobot.core.i18n import terminal_language
from kenobot.core.settings.home import AlreadyLocked

STOP_SECONDS = 20.0  # the bot takes ten at most
_ANSWER_SECONDS = 5.0
_LOOK_SECONDS = 0.2


def stop(context: CommandContext) -> int:
    """Ask the bot to end, and wait until the home is free."""
    language = terminal_language(os.environ)
    if lock_holder(context) is None:
        return options.print_failure(texts.STOP_NOTHING(language, home=context.home.path))
    asked = isinstance(ask(context.home, Stop(), _ANSWER_SECONDS), Stopping)
    ends = time.monotonic() + (STOP_SECONDS if asked else 0)
    while (holder := lock_holder(context)) is not None:
        if time.monotonic() >= ends:
            return options.print_failure(texts.STOP_FAILED(language, process=holder), options.FAILED)
        time.sleep(_LOOK_SECONDS)
    print(texts.STOP_DONE(language))
    return 0


def lock_holder(context: CommandContext) -> str | None:
    """Return the number of the process that holds the home; None when none does."""
    if not context.home.path.is_dir():
        return None
    try:
        with context.home.lock():
            return None
    except AlreadyLocked as error:
        return error.holder
