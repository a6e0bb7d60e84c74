"""What the bench of streaming times is what a chat sees."""

from pathlib import Path

from bench.streaming import measure


async def test_each_reply_has_a_first_text(tmp_path: Path) -> None:
    """Also where sentences have to wait; where no drafts are shown there is none."""
    for name, drafts, guarded in (("a", True, False), ("b", True, True), ("c", False, False)):
        figures = await measure(tmp_path / name, 1, drafts=drafts, guarded=guarded)
        assert len(figures.delays) == drafts
        assert (figures.drafts > 0) == drafts
        assert all(delay > 0 for delay in figures.delays)
