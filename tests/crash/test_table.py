"""The table, and its place in a document."""

import json
from pathlib import Path

from tests.crash.checker import Verdict
from tests.crash.table import BEGIN, END, Line, for_document, for_programs, for_terminal, write


def lines() -> list[Line]:
    good = Line("kills", times=3)
    good.add(Verdict(messages=1200, repeated_parts=2))
    bad = Line("cuts", times=1)
    bad.add(Verdict(messages=7, lost=["m00001 (gone)"]), "cut 4")
    return [good, bad, Line("clocks", missing="no faketime")]


def test_a_broken_line_says_what_broke_and_the_sum_counts_it() -> None:
    """The result column tells what held, what broke with its reason, and what was not tried."""
    table = for_terminal(lines())
    assert "BROKEN 1×: cut 4: lost: m00001 (gone)" in table
    assert "not tried here: no faketime" in table
    assert table.splitlines()[-1].split()[:6] == ["in", "all", "4", "1,207", "1", "0"]


def test_only_its_own_section_of_the_document_is_written(tmp_path: Path) -> None:
    """What stands before and after the markers stays to the byte; a second writing replaces the first."""
    document = tmp_path / "reliability.md"
    document.write_text(f"# Before\n\n{BEGIN}\nold\n{END}\n\nAfter\n")
    write(document, for_document(lines()))
    write(document, for_document(lines()))
    text = document.read_text()
    assert text.startswith(f"# Before\n\n{BEGIN}\n| tried |")
    assert text.endswith(f"{END}\n\nAfter\n")
    assert "old" not in text
    assert text.count("| kills |") == 1


def test_a_document_without_markers_gets_them_at_its_end(tmp_path: Path) -> None:
    """Nothing that stood there is lost."""
    document = tmp_path / "reliability.md"
    document.write_text("# Before\n")
    write(document, "table")
    assert document.read_text() == f"# Before\n\n{BEGIN}\ntable\n{END}\n"


def test_programs_get_every_field() -> None:
    """The JSON holds what the table holds, by name."""
    told = json.loads(for_programs(lines()))
    assert [(each["tried"], each["messages"], each["lost"]) for each in told] == [
        ("kills", 1200, 0),
        ("cuts", 7, 1),
        ("clocks", 0, 0),
    ]
