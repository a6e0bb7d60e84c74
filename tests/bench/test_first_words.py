"""The bench of first words sees each reply while it is written."""

from pathlib import Path

import pytest

from bench.first_words import Scene, delays

pytestmark = pytest.mark.long


async def test_each_reply_has_first_words(tmp_path: Path) -> None:
    """In a private chat as a draft, in a group as a message; the replies of warming up are left out."""
    found = await delays(tmp_path / "home", Scene("two chats", ("1", "-1001"), 0.02, reply=2), 1)
    assert len(found) == 2
    assert all(each > 0 for each in found)
