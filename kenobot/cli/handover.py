"""Hand a command over to the environment that `kenobot update` put in use, whichever `kenobot` was called.

Imports next to nothing: every command begins here, and most homes have no such environment.
"""

import os
import sys
from collections.abc import Sequence

_HANDED = "_KENOBOT_ENVIRONMENT"  # no KENOBOT_ name: those are settings


def hand_over(words: Sequence[str], version: str) -> None:
    """Go on as the environment in use of the home that the command is about; return where this is it.

    words: of the command line. version: of the KenoBot that was called. Only the environments that an update knows hand
    over: one that was installed anew since, or for something else, was called on purpose.
    """
    home = _home(words)
    versions = os.path.join(home, "versions")  # noqa: PTH118 - pathlib takes longer to load than the rest
    link = os.path.join(versions, "current")  # noqa: PTH118
    try:
        if not os.path.islink(link) or os.stat(versions).st_uid != os.geteuid():  # noqa: PTH114, PTH116
            return
    except OSError:
        return
    used, own = os.path.realpath(link), os.path.realpath(sys.prefix)
    is_through_link = os.path.abspath(sys.prefix) == link  # noqa: PTH100
    if (used == own and not is_through_link) or os.environ.get(_HANDED) == used:
        return
    is_ours = own.startswith(os.path.realpath(versions) + os.sep)
    if not (is_through_link or is_ours or _is_known(versions, f"{version} {own}")):
        return
    python = os.path.join(used, "bin", "python")  # noqa: PTH118
    if os.access(python, os.X_OK):
        os.execve(python, [python, "-P", "-m", "kenobot", *words], {**os.environ, _HANDED: used})  # noqa: S606


def _home(words: Sequence[str]) -> str:
    """Find the home as `Home.find` does."""
    chosen = os.environ.get("KENOBOT_HOME") or "~/.kenobot"
    for at, word in enumerate(words):
        if word == "--":
            break
        if word == "--home" and at + 1 < len(words):
            chosen = words[at + 1]
        elif word.startswith("--home="):
            chosen = word.removeprefix("--home=")
    return os.path.abspath(os.path.expanduser(chosen))  # noqa: PTH100, PTH111


def _is_known(versions: str, line: str) -> bool:
    try:
        with open(os.path.join(versions, "launchers"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
            return line in file.read().splitlines()
    except (OSError, ValueError):
        return False
