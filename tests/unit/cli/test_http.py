"""`kenobot http key`: keys are made, shown once, listed and revoked."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.storage.api_keys import find_key


def _key(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["http", "key", "add", *words, "--json", "--home", str(home)]) == 0
    made: dict[str, object] = json.loads(capsys.readouterr().out)
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home where bob is a guest."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "kenobot.toml").write_text('[channels.http]\nallowed_users = ["bob"]\n')
    return folder


def test_a_key_is_shown_once_and_only_its_digest_is_kept(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file of the home holds it; it opens what was said."""
    made = _key(home, capsys, "script", "--scope", "memory", "--scope", "cost")
    secret = str(made["key"])
    assert (made["user"], made["scopes"], len(secret) > 40) == ("owner", ["cost", "memory"], True)
    assert not any(secret.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())
    with closing(sqlite3.connect(home / "kenobot.db", isolation_level=None)) as connection:
        found = find_key(connection, secret)
        assert found is not None
        assert found.scopes == {"memory", "cost"}
        assert find_key(connection, secret + "x") is None
    assert main(["http", "key", "list", "--home", str(home)]) == 0
    listed = capsys.readouterr().out
    assert "script" in listed
    assert secret not in listed


def test_what_a_key_of_the_owner_s_may_say_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the key, which a script reads; of a guest's, and of one that only reads, there is nothing to tell."""
    for name, words in {"speaks": [], "reads": ["--scope", "memory"], "bob's": ["--user", "bob"]}.items():
        assert main(["http", "key", "add", name, *words, "--home", str(home)]) == 0
        assert ("/forget" in capsys.readouterr().err) is (name == "speaks")


def test_a_guest_s_key_opens_nothing_of_the_home(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also when all is asked for; a stranger gets none."""
    made = _key(home, capsys, "bob's", "--user", "bob", "--scope", "all")
    assert made["scopes"] == ["memory", "memory:write", "messages", "schedule"]
    assert main(["http", "key", "add", "eve's", "--user", "eve", "--home", str(home)]) == 1
    assert "allowed_users" in capsys.readouterr().err


@pytest.mark.parametrize("wanted", ["health", "sleep", "mail", "cost"])
def test_a_scope_that_a_guest_cannot_have_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], wanted: str
) -> None:
    """Alone and beside others no key is made, and what to leave out is said."""
    for more in ([], ["--scope", "messages"]):
        words = ["bob's", "--user", "bob", "--scope", wanted, *more]
        assert main(["http", "key", "add", *words, "--home", str(home)]) == 1
        assert f"cannot open {wanted}: leave that out" in capsys.readouterr().err
    assert main(["http", "key", "add", "bob's", "--user", "bob", "--home", str(home)]) == 0


def test_a_revoked_key_is_gone_and_its_name_free(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two keys of one name would be mixed up."""
    first = _key(home, capsys, "script")
    assert main(["http", "key", "add", "script", "--home", str(home)]) == 1
    assert main(["http", "key", "revoke", "script", "--home", str(home)]) == 0
    assert main(["http", "key", "revoke", "script", "--home", str(home)]) == 2
    capsys.readouterr()
    with closing(sqlite3.connect(home / "kenobot.db", isolation_level=None)) as connection:
        assert find_key(connection, str(first["key"])) is None
    assert _key(home, capsys, "script")["key"] != first["key"]
