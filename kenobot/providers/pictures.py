"""Read the pictures of a request from the home's media folder, and tell a model of those that it is not shown."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from kenobot.core import lazy
from kenobot.core.settings.home import Home
from kenobot.ports.provider import Block, Content, Image, Request

MOST_BYTES: Final = 3 * 1024 * 1024
"""Size of the largest picture that is sent: the smallest limit of the services, 4 MB, is for its base64."""
MOST_PICTURES: Final = 20
MOST_TOTAL_BYTES: Final = 15 * 1024 * 1024
"""Size of the pictures of one request: with less than 20 MB of base64 none of the services finds it too large."""
KINDS: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")

_BEGINNINGS: Final = (
    ("image/jpeg", 0, b"\xff\xd8\xff"),
    ("image/png", 0, b"\x89PNG\r\n\x1a\n"),
    ("image/gif", 0, b"GIF8"),
    ("image/webp", 8, b"WEBP"),
)
_DIGEST: Final = lazy.regex(r"[0-9a-f]{64}")
_NOTE: Final = "[A picture stands here that you are not shown. If it matters, say that you cannot see it.]"


def picture_file(home: Path, digest: str) -> Path:
    """Locate a stored picture. digest: SHA-256 of its bytes, in hexadecimal."""
    return Home(home).media / digest


def picture_kind(beginning: bytes) -> str:
    """Return which of the KINDS begins with these bytes; "" for none."""
    for kind, at, mark in _BEGINNINGS:
        if beginning[at : at + len(mark)] == mark:
            return kind
    return ""


def shows_pictures(request: Request) -> bool:
    """Return whether a request holds a picture."""
    return any(isinstance(content, Image) for message in request.messages for content in message.blocks)


async def load_pictures(home: Path, request: Request) -> Mapping[str, str]:
    """Return the newest pictures of a request in base64, by digest. Those that cannot be sent are left out."""
    images = [content for message in request.messages for content in message.blocks if isinstance(content, Image)]
    digests = dict.fromkeys(image.digest for image in reversed(images) if image.mime in KINDS)
    wanted = [digest for digest in digests if _DIGEST.fullmatch(digest)][:MOST_PICTURES]
    return await asyncio.to_thread(_read, home, wanted) if wanted else {}


def _read(home: Path, digests: list[str]) -> dict[str, str]:
    found, total = dict[str, str](), 0
    for digest in digests:
        try:
            with picture_file(home, digest).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError:
            continue
        if 0 < len(content) <= MOST_BYTES and total + len(content) <= MOST_TOTAL_BYTES:
            total += len(content)
            found[digest] = base64.b64encode(content).decode("ascii")
    return found


def without_pictures(request: Request, shown: Mapping[str, str] | None = None) -> Request:
    """Replace the pictures of a request by a note, but for those that are `shown`."""

    def note_picture(content: Content) -> Content:
        return Block(_NOTE) if isinstance(content, Image) and content.digest not in (shown or {}) else content

    messages = tuple(
        replace(message, blocks=tuple(map(note_picture, message.blocks)))
        if any(isinstance(content, Image) for content in message.blocks)
        else message
        for message in request.messages
    )
    return replace(request, messages=messages)
