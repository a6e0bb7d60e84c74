"""The command line. Only the module of the chosen command is imported: `kenobot version` must stay instant."""

import argparse
import contextlib
import faulthandler
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from kenobot import __version__
from kenobot.cli import options, run_command, streams
from kenobot.cli.command_tables import list_commands, read_command
from kenobot.cli.handover import hand_over
from kenobot.cli.language import say, speak_in_argparse, word_error
from kenobot.core.redaction import Redactor
from kenobot.ports.errors import ConfigError, KenobotError, ReaderGone, StreamFailed

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock

FAILED, USAGE, CONFIG, INTERRUPTED = 1, 2, 78, 130
_LONGEST_EXIT = 10.0  # seconds

ALIASES = {"mail": "deadletter"}
MOVED_BENCHES = ("years", "month", "cost")

_USAGE = "usage: kenobot [--home DIR] COMMAND ..."
_HELP = """\
{usage}

A personal agent that lives in your chats and remembers.

{commands}

options:
  -h, --help   show this help
  --version    show the version
  --home DIR   data directory (default: $KENOBOT_HOME, else ~/.kenobot)

exit codes: 0 success · 1 failed · 2 usage error or nothing found · 78 configuration error · 130 interrupted
Run "kenobot COMMAND --help" for the options of a command{more}.
"""
_MORE = ', and "kenobot help all" for the other commands'


def main(argv: Sequence[str] | None = None, clock: "Clock | None" = None) -> int:
    """Run one command and return its exit code. `clock` stands in for the machine's."""
    os.umask(0o077)
    if argv is None:
        hand_over(sys.argv[1:], __version__)
    streams.replace_standard_streams()
    try:
        code = _exit_code([*(sys.argv[1:] if argv is None else argv)], clock)
        sys.stdout.flush()
        return code
    except ReaderGone:  # it has seen enough (`| head`)
        return 0
    except StreamFailed as error:
        return options.print_failure(f"kenobot: {word_error(error)}", FAILED)
    finally:
        if argv is None:
            _bound_exit()


def _bound_exit() -> None:
    """End the process soon, whatever threads a plugin left behind, which the interpreter would wait for."""
    if sys.__stderr__ is not None:
        with contextlib.suppress(OSError, ValueError):  # it is closed
            faulthandler.dump_traceback_later(_LONGEST_EXIT, exit=True, file=sys.__stderr__)


def _exit_code(words: list[str], clock: "Clock | None") -> int:
    """Run one command, and print why it failed. Raises StreamFailed."""
    try:
        return _run(words, clock)
    except SystemExit as stop:  # argparse has printed its help or its complaint
        return stop.code if isinstance(stop.code, int) else USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except StreamFailed:
        raise
    except options.NothingFound as error:
        return options.print_failure(error)
    except KenobotError as error:
        for line in Redactor()(word_error(error)).splitlines():  # plugins raise errors of their own
            print(f"kenobot: {line}", file=sys.stderr)
        return CONFIG if isinstance(error, ConfigError) else FAILED


def _run(words: list[str], clock: "Clock | None") -> int:
    speak_in_argparse()
    home = argparse.ArgumentParser(prog="kenobot", usage=say(_USAGE).partition(": ")[2], add_help=False)
    home.add_argument("--home", metavar=say("DIR"), default=argparse.SUPPRESS, help=say("data directory (~/.kenobot)"))
    rest = home.parse_known_args(words)[1]
    if rest[:1] in (["version"], ["--version"]):
        print(f"kenobot {__version__}")
        return 0
    if rest[:2] == ["help", "all"]:
        return _print_help(sys.stdout, everything=True)
    if rest[:1] == ["help"]:  # "kenobot help", and "kenobot help memory"
        words = rest = [*rest[1:], "--help"]
    if not rest or rest[0] in ("-h", "--help"):
        _print_help(sys.stdout if rest else sys.stderr)
        return 0 if rest else USAGE
    name = ALIASES.get(rest[0], rest[0])
    if name == "bench" and rest[1:2] and rest[1] in MOVED_BENCHES:
        return options.print_failure(
            say(
                '"bench {rest}" is not part of the installed program any more: in a checkout of the source, run '
                '"make {rest}" or "python -m bench.{rest}".',
                rest=rest[1],
            )
        )
    commands = read_command(name)
    if not commands:
        options.refuse_unknown(home, name, list(list_commands()))
    parser = options.build_parser(commands, home)
    words[words.index(rest[0])] = name
    arguments = parser.parse_args(words, argparse.Namespace(home=None, typed=words))
    return run_command.run_command(arguments, clock)


def _print_help(stream: TextIO, everything: bool = False) -> int:
    """Print the list of commands: of those of every day, or of all with `everything`. Returns 0."""
    listed = list_commands(everything)
    shown = {name: command for name, command in listed.items() if everything or "daily" in command}
    commands = "\n\n".join(_sections(shown))
    print(say(_HELP, usage=say(_USAGE), commands=commands, more="" if everything else say(_MORE)), end="", file=stream)
    return 0


def _sections(listed: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Render a line for each command, below its heading."""
    sections: dict[str, list[str]] = {}
    for name, command in listed.items():
        sections.setdefault(command["section"], []).append(f"  {name:<12} {command['summary']}")
    in_order = sorted(sections.items(), key=lambda section: not section[0])  # without a heading: last
    return ["\n".join([heading, *lines] if heading else lines) for heading, lines in in_order]
