"""Decisions in docs/adr stay short, numbered and findable."""

from pathlib import Path

from tests.cases import each

DECISIONS = Path(__file__).resolve().parents[2] / "docs" / "adr"
PAGES = sorted(DECISIONS.glob("0*.md"))
MOST_WORDS = 600


@each("page", PAGES)
def test_a_decision_is_short(page: Path) -> None:
    """A decision has 600 words at most and begins with its number; measurements belong into docs/figures."""
    text = page.read_text("utf-8")
    assert len(text.split()) <= MOST_WORDS
    assert text.startswith(f"# {int(page.name[:4])}. ")


def test_every_decision_is_in_the_index() -> None:
    """The index by noun names every decision."""
    index = (DECISIONS / "README.md").read_text("utf-8")
    assert [page.name for page in PAGES if f"({page.name})" not in index] == []
