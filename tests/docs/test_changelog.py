"""CHANGELOG.md stays short enough to be read before an update."""

import re
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
KINDS = ["Added", "Changed", "Fixed"]
MOST_LINES = 2
MOST_LETTERS = 140


def test_each_version_has_its_kinds_in_order() -> None:
    """Each version lists what was added, changed and fixed, in this order and once each."""
    versions = re.split(r"^## ", CHANGELOG.read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert versions
    for version in versions:
        kinds = re.findall(r"^### (.+)$", version, flags=re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds]


def test_an_entry_has_two_lines_at_most() -> None:
    """An entry takes two lines of 140 letters at most, and no two entries are the same."""
    entries = re.findall(r"^- .+(?:\n  .+)*", CHANGELOG.read_text("utf-8"), flags=re.MULTILINE)
    long = [
        entry
        for entry in entries
        if len(lines := entry.splitlines()) > MOST_LINES or max(map(len, lines)) > MOST_LETTERS
    ]
    assert long == []
    assert len(set(entries)) == len(entries)
