"""Every link from one page to another leads somewhere."""

import re
from pathlib import Path

from tests.cases import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_PATH = re.compile(r"`((?:kenobot|bench|cognitive)/[\w./-]+)`")
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)\s]*)?\)")


@each("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    """A page that was moved or renamed leaves no dead link behind."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    dead = [link for link in _LINK.findall(text) if not (page.parent / link).exists()]
    assert dead == []


@each("page", PAGES)
def test_paths_lead_somewhere(page: Path) -> None:
    """A file or folder of the tree that a page names is there."""
    named = _PATH.findall(page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []
