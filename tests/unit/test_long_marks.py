"""Where the marks of long tests stand."""

import re
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
_MARK = re.compile(r"\bmark\.(?:long|crash)\b")


def test_long_tests_are_marked_in_their_own_files() -> None:
    """`make test-long` collects the files that hold such a mark, and no others."""
    paths = [path for path in _TESTS.rglob("*.py") if not path.name.startswith("test_")]
    assert [str(path) for path in paths if _MARK.search(path.read_text("utf-8"))] == []
