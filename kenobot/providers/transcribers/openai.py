"""Transcribe by OpenAI's API, which other services and local servers of Whisper offer too."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from pydantic import BaseModel, Field, SecretStr

from kenobot.core.network import BaseAddress
from kenobot.ports.errors import AnswerLost, ConfigError, Rejected
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Usage
from kenobot.ports.transcriber import Recording, Transcript, likely_seconds
from kenobot.providers.http_service import HttpService
from kenobot.providers.service import fits_header

_OPENAI: Final = "https://api.openai.com/v1"
_SERVER: Final = "The transcription server"
_LARGEST: Final = 2_000_000  # bytes of an answer
_SUFFIXES: Final[Mapping[str, str]] = {
    "audio/ogg": "ogg",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/wav": "wav",
    "audio/webm": "webm",
    "audio/flac": "flac",
    "video/mp4": "mp4",
    "video/webm": "webm",
}


class OpenAISettings(BaseModel, extra="forbid", frozen=True):
    """api_key: demanded by OpenAI, not by every server. language: ISO 639-1; "" lets the model find out."""

    base_url: BaseAddress = _OPENAI
    model: str = Field("whisper-1", min_length=1)
    api_key: SecretStr = SecretStr("")
    language: str = Field("", max_length=3)
    seconds: ClassVar[float] = 120


@dataclass(eq=False)
class OpenAITranscriber:
    """A transcriber behind HTTP. language: "" lets the model find out."""

    service: HttpService
    language: str = ""

    @property
    def model_id(self) -> str:
        return f"openai:{self.service.model}"

    async def transcribe(self, recording: Recording) -> Transcript:
        """See `kenobot.ports.transcriber.Transcriber`."""
        try:
            content = await asyncio.to_thread(recording.file.read_bytes)
        except OSError as error:
            raise Rejected("transcriber.recording_gone") from error
        fields = {"model": self.service.model, "response_format": "json"}
        if self.language:
            fields["language"] = self.language
        # Servers tell the format by the name.
        name = f"recording.{_SUFFIXES.get(recording.mime, 'ogg')}"
        files = {"file": (name, content, recording.mime or "audio/ogg")}
        return _transcript(await self.service.post("/audio/transcriptions", data=fields, files=files))

    async def aclose(self) -> None:
        """Close the connections."""
        await self.service.aclose()


def _transcript(body: bytes) -> Transcript:
    """Parse an answer. Raises AnswerLost for one that is no transcript."""
    try:
        answer = json.loads(body)
        text = answer["text"]
        if not isinstance(text, str):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise AnswerLost("transcriber.no_transcript", server=_SERVER) from None
    counted = answer.get("usage")
    usage = counted if isinstance(counted, dict) else {}
    seconds = likely_seconds(usage.get("seconds", answer.get("duration")))
    tokens = [_count(usage.get(name)) for name in ("input_tokens", "output_tokens")]
    return Transcript(text.strip(), seconds, Usage(*tokens).within_reason())


def _count(told: object) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) else 0


def build(settings: OpenAISettings, _context: PluginContext) -> OpenAITranscriber:
    """Build the transcriber. Raises ConfigError when the key is missing or cannot be one."""
    key = settings.api_key.get_secret_value().strip()
    if not key and settings.base_url == _OPENAI:
        raise ConfigError("transcriber.no_openai_key")
    if not fits_header(key):
        raise ConfigError("transcriber.bad_key")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    service = HttpService(_SERVER, settings.model, settings.base_url, headers, settings.seconds, _LARGEST)
    return OpenAITranscriber(service, settings.language)


plugin = Plugin(settings=OpenAISettings, build=build)
