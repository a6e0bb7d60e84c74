"""Decisions in docs/adr stay short, numbered and findable."""

from pathlib import Path

import pytest

DECISIONS = Path(__file__).resolve().parents[2] / "docs" / "adr"
PAGES = sorted(DECISIONS.glob("0*.md"))
MOST_WORDS = 600


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_decision_is_short(page: Path) -> None:
    """A decision has 600 words at most and begins with its number; measurements belong into docs/figures."""
    text = page.read_text("utf-8")
    assert len(text.split()) <= MOST_WORDS
    assert text.startswith(f"# {int(page.name[:4])}. ")


def test_every_decision_is_in_the_index() -> None:
    """The index by noun names every decision."""
    index = (DECISIONS / "README.md").read_text("utf-8")
    assert [page.name for page in PAGES if f"({page.name})" not in index] == []
