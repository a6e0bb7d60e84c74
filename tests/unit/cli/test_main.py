"""The command line as a whole: exit codes, errors in plain lines, and a start that imports little."""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from kenobot import __version__
from kenobot.cli import config, main
from kenobot.cli.command_tables import argument_name, list_arguments, list_commands, read_command
from kenobot.cli.run_command import find_function
from kenobot.core.settings.home import Home
from kenobot.ports.errors import ConfigError, KenobotError, StoreFull
from kenobot.ports.memory import Form
from kenobot.ports.memory_changes import ProposalState
from kenobot.ports.nights import Phase
from kenobot.storage import dead_letters
from kenobot_importers.plan import Origin

from .conftest import Cli


@pytest.mark.parametrize("word", ["version", "--version"])
def test_version(cli: Cli, word: str) -> None:
    """`kenobot version` and `--version` print one line."""
    assert cli(word) == (0, f"kenobot {__version__}\n", "")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "setup",
        "chat",
        "run",
        "access",
        "access approve",
        "deadletter",
        "deadletter list",
        "deadletter show",
        "deadletter retry",
        "deadletter drop",
        "memory",
        "memory show",
        "memory log",
        "signals",
        "config",
    ],
)
def test_every_command_has_help(cli: Cli, command: str) -> None:
    """--help ends well and says what the command is for."""
    code, out, err = cli(*command.split(), "--help")
    assert (code, err) == (0, "")
    assert "--home DIR" in out
    assert cli("help", *command.split()) == (0, out, "")


@pytest.mark.parametrize(("typed", "meant"), [("chatt", "chat"), ("memry", "memory"), ("docter", "doctor")])
def test_a_mistyped_command_is_told_the_nearest(cli: Cli, typed: str, meant: str) -> None:
    """As a usage error; one like none is sent to the list of all."""
    code, _, err = cli(typed)
    assert (code, f"unknown command '{typed}': did you mean '{meant}'?" in err) == (2, True)
    assert "kenobot help all lists them" in cli("qqqq")[2]


def test_a_file_is_no_home(cli: Cli, tmp_path: Path) -> None:
    """It is not called empty."""
    (tmp_path / "file").touch()
    code, _, err = cli("memory", "list", "--home", str(tmp_path / "file"))
    assert (code, "not a directory" in err) == (78, True)


def test_every_command_names_its_function_and_every_choice_there_is() -> None:
    """What the tables of commands say of the code is so."""
    commands = {words: command for name in list_commands() for words, command in read_command(name).items()}
    for words, command in commands.items():
        group = any(other.startswith(f"{words} ") for other in commands)
        assert group != ("call" in command) or words == "version", words
        if "call" in command:
            assert callable(find_function(command["call"])), words
    choices = {
        (words, argument_name(argument)): tuple(argument["choices"])
        for words, command in commands.items()
        for argument in list_arguments(command["arguments"])
        if "choices" in argument
    }
    assert choices["deadletter list", "--state"] == (*dead_letters.STATES, "all")
    assert choices["deadletter retry", "--state"] == dead_letters.ENDED
    assert choices["proposals list", "--state"] == (*get_args(ProposalState), "all")
    assert choices["sleep run", "--phase"] == get_args(Phase)
    assert choices["import", "--from"] == ("auto", *get_args(Origin))
    assert set(choices["memory list", "--form"]) == set(get_args(Form))


@pytest.mark.parametrize(
    "arguments", [[], ["dance"], ["memory"], ["signals", "--since", "1x"], ["signals", "--limit", "0"]]
)
def test_wrong_usage_is_2(cli: Cli, arguments: list[str]) -> None:
    """Wrong usage is explained on stderr."""
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert "usage: kenobot" in err


@pytest.mark.parametrize(
    ("error", "code"), [(ConfigError("one\ntwo"), 78), (StoreFull("one\ntwo"), 1), (KenobotError("one\ntwo"), 1)]
)
def test_errors_are_plain_lines(cli: Cli, monkeypatch: pytest.MonkeyPatch, error: KenobotError, code: int) -> None:
    """Each line of an error is printed with the program's name, without a traceback."""

    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(config, "config", fail)
    assert cli("config") == (code, "", "kenobot: one\nkenobot: two\n")


def test_an_interrupt_is_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with the exit code that shells expect."""

    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(config, "config", interrupt)
    assert cli("config") == (130, "", "")


def test_home_may_stand_before_or_after_the_command(cli: Cli, tmp_path: Path) -> None:
    """--home works in both places and beats KENOBOT_HOME."""
    Home(tmp_path / "a").prepare()
    (tmp_path / "a" / "kenobot.toml").write_text('[bot]\nname = "Ana"')
    for arguments in (("--home", str(tmp_path / "a"), "config"), ("config", "--home", str(tmp_path / "a"))):
        assert "Ana" in cli(*arguments)[1]


def test_a_bad_configuration_changes_nothing(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run`, `chat` and `setup` refuse before they create anything."""
    monkeypatch.setenv("KENOBOT_MEDIA__KEEP_DAYS", "7days")
    for command in (["run"], ["chat", "-m", "hello"], ["setup", "--yes"]):
        code, out, err = cli(*command)
        assert (code, out) == (78, "")
        assert (
            err
            == 'kenobot: KENOBOT_MEDIA__KEEP_DAYS: media.keep_days = "7days" must be a whole number from 0 to 3650.\n'
        )
    assert not home.path.exists()


def test_run_needs_a_channel(cli: Cli, home: Home) -> None:
    """Without a channel `run` says what to do instead of waiting for nothing."""
    code, _, err = cli("run")
    assert code == 78
    assert "kenobot setup" in err
    assert not home.path.exists()


def test_a_home_in_use_is_refused(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second bot in the same home does not start, when the first lets no chat join."""
    monkeypatch.setattr("kenobot.cli.chat.HOLDER_SECONDS", 0)
    home.prepare()
    with home.lock():
        code, _, err = cli("chat", "-m", "hello")
    assert code == 78
    assert f"already running in this home (process {os.getpid()})" in err


def test_a_reader_who_has_seen_enough_is_no_error(home: Home) -> None:
    """`kenobot config | head -0` ends quietly."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", "from kenobot.cli import main; raise SystemExit(main(['config']))"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_created_is_for_the_owner_only(home: Home) -> None:
    """main sets the umask, so that no file is open to others even for a moment."""
    main(["version"])
    assert os.umask(0o077) == 0o077


@pytest.mark.parametrize("name", ["years", "month", "cost"])
def test_a_bench_that_moved_is_answered_with_its_new_place(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever options it is given, on stderr, with exit code 2."""
    assert main(["bench", name, "--days", "3", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f'run "make {name}" or "python -m bench.{name}".' in err


def test_an_older_name_of_a_command_still_works(cli: Cli) -> None:
    """`kenobot mail` is `kenobot deadletter`."""
    assert cli("mail", "--help") == cli("deadletter", "--help")


def test_the_help_lists_every_command_by_group(cli: Cli) -> None:
    """`kenobot help all` has a line for each and none with its older name; `kenobot --help` has at most fifteen."""
    code, out, err = cli("help", "all")
    assert (code, err) == (0, "")
    assert [name for name in ("Run", "Memory", "Evaluate") if f"\n{name}\n" not in out] == []
    names = {line.split()[0] for line in out.splitlines() if line.startswith("  ") and line.split()}
    assert {"setup", "chat", "run", "config", "access", "deadletter", "signals", "memory", "sleep"} <= names
    assert {"proposals", "import", "demo", "bench", "version", "--home"} <= names
    assert "mail" not in names
    code, short, err = cli("--help")
    assert (code, err) == (0, "")
    assert len([line for line in short.partition("options:")[0].splitlines() if line.startswith("  ")]) <= 15
    assert '"kenobot help all"' in short
