"""Pictures of a request are read up to a size that every service takes."""

import hashlib
from pathlib import Path

import pytest

from kenobot.ports.provider import Block, Image, Message, Request
from kenobot.providers import pictures
from kenobot.providers.pictures import load_pictures, picture_file, without_pictures


def _stored(home: Path, content: bytes) -> Image:
    image = Image(hashlib.sha256(content).hexdigest(), "image/png")
    file = picture_file(home, image.digest)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return image


async def test_the_newest_are_shown_as_far_as_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is too large would be refused as a whole; a note stands for the others."""
    monkeypatch.setattr(pictures, "MOST_BYTES", 6)
    monkeypatch.setattr(pictures, "MOST_TOTAL_BYTES", 10)
    old, huge, middle, new = (_stored(tmp_path, content) for content in (b"aaaaa", b"bbbbbbb", b"cccc", b"ddddd"))
    request = Request((), tuple(Message("user", (image,)) for image in (old, huge, middle, new)))
    shown = await load_pictures(tmp_path, request)
    assert set(shown) == {middle.digest, new.digest}
    kept = [message.blocks[0] for message in without_pictures(request, shown).messages]
    assert [isinstance(each, Block) for each in kept] == [True, True, False, False]


def test_a_picture_has_room_as_the_services_count_it() -> None:
    """They count its base64: 4 MB of a picture, 20 MB of a request with its words."""
    assert pictures.MOST_BYTES * 4 // 3 <= 4 * 1024 * 1024
    assert pictures.MOST_TOTAL_BYTES * 4 // 3 <= 20 * 1024 * 1024
