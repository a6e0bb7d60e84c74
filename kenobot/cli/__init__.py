"""The command line. Start-up imports only what the chosen command uses: `kenobot version` must stay instant."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from kenobot.cli import (
    access,
    bench,
    chat,
    config,
    deadletter,
    demo,
    import_agent,
    memory,
    options,
    proposals,
    run,
    setup,
    signals,
    sleep,
    version,
)
from kenobot.core.redaction import Redactor
from kenobot.ports.errors import ConfigError, KenobotError

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock

FAILED, USAGE, CONFIG, INTERRUPTED = 1, 2, 78, 130

_EPILOG = """\
exit codes: 0 done · 1 it failed · 2 wrong usage, or nothing found · 78 a person must fix the configuration · 130 Ctrl-C
Everything KenoBot owns lies in one folder, its home: --home DIR, else $KENOBOT_HOME, else ~/.kenobot.
"""


class Command(Protocol):
    """What a subcommand's module does: returns the exit code, raises KenobotError."""

    def __call__(self, arguments: argparse.Namespace, clock: "Clock | None") -> int: ...


def main(argv: Sequence[str] | None = None, clock: "Clock | None" = None) -> int:
    """Run one command and return its exit code. `clock` stands in for the machine's."""
    os.umask(0o077)
    try:
        arguments = _parser().parse_args(argv, argparse.Namespace(home=None))
        code = cast("Command", arguments.command)(arguments, clock)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse has printed its help or its complaint
        return stop.code if isinstance(stop.code, int) else USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough (`| head`). Without this the interpreter complains again while shutting down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except options.NoDatabase as error:
        return options.print_failure(str(error))
    except KenobotError as error:
        for line in Redactor()(str(error)).splitlines():  # it may tell what somebody else's plugin said
            print(f"kenobot: {line}", file=sys.stderr)
        return CONFIG if isinstance(error, ConfigError) else FAILED


def _parser() -> argparse.ArgumentParser:
    home = argparse.ArgumentParser(add_help=False)
    home.add_argument(
        "--home", metavar="DIR", default=argparse.SUPPRESS, help="the folder that holds everything (~/.kenobot)"
    )
    parser = argparse.ArgumentParser(
        prog="kenobot",
        description="A personal agent that lives in your chats and remembers.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[home],
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    daily = (setup, chat, run, access, deadletter, memory, sleep, proposals)
    for module in (*daily, import_agent, signals, config, demo, bench, version):
        module.add(commands, home)
    return parser
