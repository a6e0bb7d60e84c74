"""A scene whose channel hands over files, and a transcriber that says what it is told to."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from kenobot.ports.errors import Rejected
from kenobot.ports.messages import Attachment
from kenobot.ports.transcriber import Recording, Transcript
from tests.scene import Chatter, Scene

JPEG = b"\xff\xd8\xff\xe0" + b"picture" * 20
OGG = b"OggS" + b"sound" * 100


class MediaChatter(Chatter):
    """A channel with files. files: by handle. failures: raised by the next fetches, before any byte.
    gates: by handle; a file comes once its gate is open."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__("telegram")
        self.files = dict(files)
        self.failures: list[Exception] = []
        self.fetched: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        self.fetched.append(attachment.handle)
        if self.failures:
            raise self.failures.pop(0)
        if attachment.handle not in self.files:
            raise Rejected("there is no such file")
        content = self.files[attachment.handle]
        for at in range(0, len(content), 64):
            if (gate := self.gates.get(attachment.handle)) is not None:
                await gate.wait()
            yield content[at : at + 64]


class Listener:
    """A transcriber. failures: raised by the next calls. heard: the bytes of each recording."""

    def __init__(self, text: str = "", *failures: Exception, seconds: float = 0.0, model_id: str = "mine:m") -> None:
        self.text, self.failures, self.seconds, self.model_id = text, list(failures), seconds, model_id
        self.heard: list[bytes] = []

    async def transcribe(self, recording: Recording) -> Transcript:
        self.heard.append(recording.file.read_bytes())
        if self.failures:
            raise self.failures.pop(0)
        return Transcript(self.text, self.seconds)


def media_scene(folder: Path, files: Mapping[str, bytes], *replies: str, **more: Any) -> tuple[Scene, MediaChatter]:
    """Return a scene that is not yet entered, and its channel."""
    scene = Scene(folder, replies or ("Aha.",), **more)
    scene.channel = channel = MediaChatter(files)
    return scene, channel


def photo(handle: str = "p") -> Attachment:
    return Attachment("image", "image/jpeg", handle=handle)


def voice(handle: str = "v", seconds: float = 30.0) -> Attachment:
    return Attachment("voice", "audio/ogg", handle=handle, seconds=seconds)


def document(name: str, mime: str = "", handle: str = "d") -> Attachment:
    return Attachment("document", mime, name, handle=handle)
