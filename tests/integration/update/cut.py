"""`python -m tests.integration.update.cut`, for each line `LAST HOME`: updates a home, returns, and tells its end.

It dies at the LAST-th change to the disk; 0: never. Each is a fork of this one, which has imported all.

The new version is this one with one more migration: what a start of it would do is done here.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from kenobot.cli.context import CommandContext
from kenobot.core.settings.home import Home
from kenobot.storage.updates import Environments, Side, Verdict
from kenobot_deploy.update.programs import DiskGuard
from kenobot_deploy.update.switch import Switch
from tests.integration.update.samples import LATER, migrate_further, store_message

_CHANGES = ("os.rename", "os.link", "os.remove", "os.symlink", "os.mkdir", "os.rmdir", "os.truncate", "sqlite3.connect")


class Unwell:
    """A new version that takes a message in, and does not get well."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def restart(self, environment: Path) -> None:
        migrate_further(self._home)
        store_message(self._home, LATER)
        environments = Environments(self._home)
        update = environments.read()
        assert update is not None
        environments.write_verdict(Verdict(trial=update.trial, problem="it is not well"))

    def stop(self) -> None: ...

    def has_ended(self) -> bool:
        return False

    def go_on(self) -> None: ...


def die_at(last: int) -> Callable[[str, tuple[object, ...]], None]:
    """An audit hook that ends the process at the `last`-th change, as a kill does: nothing is cleaned up."""
    count = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event in _CHANGES:
            count += 1
            if count == last:
                os._exit(9)

    return hook


def update(home: Home, last: int) -> None:
    context = CommandContext(argparse.Namespace(home=str(home.path)))
    environments, switch = Environments(home), Switch(context, Unwell(home), 5.0)
    used = environments.current() or home.path.parent / "old"
    old, new = (Side(version=path.name, environment=path) for path in (used, home.path.parent / "new"))
    sys.addaudithook(die_at(last))
    with home.update_lock(), DiskGuard(home.path, 0).hold(0) as free_room:
        switch.try_out(old, new, (), free_room)


def main() -> None:
    for line in sys.stdin:
        last, home = line.rstrip("\n").split(" ", 1)
        child = os.fork()
        if not child:
            try:
                update(Home(Path(home)), int(last))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
