"""`kenobot mcp` writes servers into the settings, shows their tools, and takes them out again."""

import io
import json
import sys
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.tools.mcp.declared import read_tools
from kenobot.tools.mcp.kept_list import KeptList
from kenobot.tools.mcp.trust import TrustFile
from tests.integration.mcp import stand_in

from .conftest import Cli

SECRET = "sesame-that-nobody-sees"


def _give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_server_is_added_and_removed(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its secret lies in a file of its own, is shown nowhere, and goes with it; the other lines stay."""
    home.prepare()
    home.config_file.write_text('# mine\n[bot]\nname = "Ana"\n')
    _give(monkeypatch, f"{SECRET}\n")
    command = ("mcp", "add", "hub", "--command", "hub --port '1 2'", "--env", "KEY=${key}", "--secret", "key")
    code, out, _ = cli(*command)
    assert (code, SECRET in out) == (0, False)
    assert cli("mcp", "add", "house", "--url", "https://h/mcp", "--header", "X-Who: ana: me")[0] == 0
    file = home.credentials / "mcp.hub.key"
    assert (file.read_text(), file.stat().st_mode & 0o777) == (f"{SECRET}\n", 0o600)
    settings = load_settings(home, {}).settings.mcp
    assert (settings["hub"].command, settings["hub"].args) == ("hub", ("--port", "1 2"))
    assert settings["hub"].filled_env == {"KEY": SECRET}
    assert settings["house"].headers == {"X-Who": "ana: me"}
    rows = [json.loads(line) for line in cli("mcp", "list", "--json")[1].splitlines()]
    assert [(row["name"], row["reach"]) for row in rows] == [("house", "https://h/mcp"), ("hub", "hub --port '1 2'")]
    assert SECRET not in "".join(cli("config")[1] + cli("config", "--json")[1] + cli("mcp", "list")[1])
    assert [cli("mcp", "remove", name)[0] for name in ("hub", "house", "hub")] == [0, 0, 2]
    assert home.config_file.read_text().strip() == '# mine\n[bot]\nname = "Ana"'
    assert not file.exists()


def test_a_server_that_is_left_out_is_named_and_removed(cli: Cli, home: Home) -> None:
    """It keeps nothing from starting; the commands say what is wrong with it, and take it away with its secrets."""
    home.prepare()
    home.config_file.write_text('[mcp.hub]\ncommand = "x"\nenv = { KEY = "${other}" }\n')
    secret = home.credentials / "mcp.hub.key"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    assert 'the secret "other" is not there' in cli("mcp", "list")[2]
    assert 'the secret "other" is not there' in cli("mcp", "test", "hub")[2]
    assert [cli("mcp", "remove", "hub")[0] for _ in range(2)] == [0, 2]
    assert not secret.exists() and "mcp" not in home.config_file.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Hub", "--command", "x"), "the name of a server"),
        (("a_b", "--command", "x"), "the name of a server"),
        (("a.b", "--command", "x"), "the name of a server"),
        (("hub", "--url", "ftp://x"), "http:// or https://"),
        (("hub", "--command", "x 'y"), "The command cannot be read"),
        (("hub", "--command", "  "), "The command cannot be read"),
        (("hub", "--command", "x", "--header", "A: b"), "args and env are for a command"),
        (("hub", "--command", "x", "--env", "A"), 'has no "="'),
        (("hub", "--command", "x", "--env", "A-B=c"), "can be no name"),
        (("hub", "--command", "x", "--env", "A=${key}"), 'the secret "key" is not there'),
        (("hub", "--command", "x", "--secret", "a.b"), "can be no name of a secret"),
        (("hub", "--command", "x", "--secret", "key"), "is empty"),
    ],
)
def test_what_would_not_hold_together_is_not_written(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    """The mistake is named, and nothing is on disk."""
    _give(monkeypatch, "")
    code, _, err = cli("mcp", "add", *arguments)
    assert (code, said in err) == (78, True), err
    assert not home.config_file.exists()


def test_a_server_is_not_added_twice(cli: Cli) -> None:
    """The one that is there stays."""
    assert cli("mcp", "add", "hub", "--command", "x")[0] == 0
    assert cli("mcp", "add", "hub", "--command", "y")[0] == 78
    assert '"x"' in cli("mcp", "list", "--json")[1]


def test_a_server_is_tried_out(cli: Cli, tmp_path: Path) -> None:
    """Its tools are shown with their effects, and which are left out; one that cannot be reached fails with why."""
    pytest.importorskip("mcp")
    counter = tmp_path / "starts"
    cli("mcp", "add", "bad", "--command", f"{sys.executable} -S {stand_in.__file__} {counter}")
    code, out, err = cli("mcp", "test", "bad")
    assert code == 0
    assert "bad answers: MCP 2025-11-25, stand-in 1. Tools: 12" in out
    assert "bad_echo (untrusted; reads_private, brings_untrusted, way_out, changes_outside)\n│ Says it again." in out
    assert "Left out: huge: " in err
    row = json.loads(cli("mcp", "test", "bad", "--json")[1].splitlines()[0])
    assert (row["tool"], row["trust"]) == ("a tool/with: signs", "untrusted")
    counter.write_text("refuse")
    code, _, err = cli("mcp", "test", "bad")
    assert (code, "no licence found" in err) == (1, True)
    assert cli("mcp", "test", "good")[0] == 2


def test_tools_are_trusted_by_their_hash_or_by_a_yes(cli: Cli, home: Home, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Another hash or a no trusts nothing; what changed since is shown alone; removing the server forgets it all."""
    pytest.importorskip("mcp")
    cli("mcp", "add", "bad", "--command", f"{sys.executable} -S {stand_in.__file__} {tmp_path / 'starts'}")
    digest = json.loads(cli("mcp", "test", "bad", "--json")[1].splitlines()[0])["hash"]
    code, _, err = cli("mcp", "trust", "bad", "--yes", "0" * 64)
    assert (code, digest in err, (home.mcp / "bad.json").exists()) == (1, True, False)
    code, out, err = cli("mcp", "trust", "bad")
    assert (code, digest in out, "use --yes HASH" in err) == (1, True, True)
    assert cli("mcp", "trust", "bad", "--yes", digest)[0] == 0
    assert "You trust all of them" in cli("mcp", "trust", "bad")[1]
    seen = json.loads((home.mcp / "bad.json").read_text())
    (home.mcp / "bad.json").write_text(json.dumps(seen | {"die": "0"}))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    for answer, expected in (("n", 1), ("y", 0)):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        code, out, _ = cli("mcp", "trust", "bad")
        assert (code, "bad_die (changed;" in out, "bad_echo" in out) == (expected, True, False)
    assert json.loads((home.mcp / "bad.json").read_text()) == seen
    assert cli("mcp", "remove", "bad")[0] == 0
    assert not (home.mcp / "bad.json").exists()


def test_tools_that_nobody_has_seen_are_told(cli: Cli, home: Home) -> None:
    """By the list and by the doctor, with what to do."""
    cli("mcp", "add", "hub", "--command", "x")
    server = load_settings(home, {}).settings.mcp["hub"]
    tools, _ = read_tools(stand_in.TOOLS)
    KeptList(home.cache / "mcp", "hub", server).save(tools)
    TrustFile(home.mcp, "hub").save(tools[2:])
    assert f"tools: {len(tools) - 2}  new or changed: 2, kenobot mcp trust hub" in cli("mcp", "list")[1]
    assert "new or changed: 2" in cli("doctor")[1]
