"""Tables of rules: files of TOML beside the code, which people read and change."""

from pathlib import Path

import pytest

import kenobot
from kenobot.language.lexicon import load_tables

_ROOT = Path(kenobot.__file__).parent
_LONGEST = 200  # characters of a line
_ROOMS = ("language", "agenda", "agent")
_TABLES = [path for room in _ROOMS for path in sorted((_ROOT / room).rglob("*.toml"))]


def test_the_walk_finds_tables() -> None:
    """Those of language, and of the rooms that use them."""
    assert {"rules.toml", "pieces.toml", "reminder_orders.toml"} <= {path.name for path in _TABLES}


def test_lines_of_tables_can_be_read() -> None:
    """A longer one goes on behind a backslash."""
    files = {path.name: path.read_text("utf-8").splitlines() for path in _TABLES}
    lines = {f"{name}:{at}": line for name, text in files.items() for at, line in enumerate(text, 1)}
    assert [place for place, line in lines.items() if len(line) > _LONGEST] == []


def test_a_line_goes_on_behind_a_backslash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blanks before its rest do not count, in strings of either kind; a plain line break stays."""
    package = tmp_path / "some_tables"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "rules.toml").write_text("one = '''a|\\\n   b c'''\ntwo = '''\na\nb'''\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_tables("some_tables", "rules.toml") == {"one": "a|b c", "two": "a\nb"}
