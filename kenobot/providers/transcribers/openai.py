"""Transcribe by OpenAI's API, which other services and local servers of Whisper offer too."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, Field, SecretStr, field_validator

from kenobot.core.network import HttpAddress
from kenobot.ports.errors import AnswerLost, ConfigError, Rejected, RemoteError
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Usage
from kenobot.ports.transcriber import Recording, Transcript
from kenobot.providers.http_errors import broken_connection, refusal

if TYPE_CHECKING:
    import httpx

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

    base_url: HttpAddress = _OPENAI
    model: str = Field("whisper-1", min_length=1)
    api_key: SecretStr = SecretStr("")
    language: str = Field("", max_length=3)
    seconds: float = Field(120, gt=0, le=600)

    @field_validator("base_url")
    @classmethod
    def _without_slash(cls, address: str) -> str:
        return address.rstrip("/")


@dataclass(eq=False, repr=False)  # the settings hold the key
class OpenAITranscriber:
    """A transcriber behind HTTP."""

    settings: OpenAISettings
    _client: "httpx.AsyncClient | None" = None

    @property
    def model_id(self) -> str:
        return f"openai:{self.settings.model}"

    async def transcribe(self, recording: Recording) -> Transcript:
        """See `kenobot.ports.transcriber.Transcriber`."""
        try:
            content = await asyncio.to_thread(recording.file.read_bytes)
        except OSError as error:
            raise Rejected("The recording is not there any more.") from error
        try:
            async with asyncio.timeout(self.settings.seconds):
                status, headers, body = await self._post(recording, content)
        except TimeoutError:
            raise AnswerLost(f"{_SERVER} took longer than {self.settings.seconds:g} seconds to answer.") from None
        except RemoteError:
            raise
        except Exception as error:
            raise broken_connection(_SERVER, error) from None
        if status != 200:
            raise refusal(_SERVER, self.settings.model, status, headers)
        return _transcript(body)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _post(self, recording: Recording, content: bytes) -> tuple[int, Mapping[str, str], bytes]:
        import httpx

        if self._client is None:
            key = self.settings.api_key.get_secret_value().strip()
            seconds = self.settings.seconds
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(seconds, connect=min(10.0, seconds / 2)),
                headers={"authorization": f"Bearer {key}"} if key else {},
            )
        fields = {"model": self.settings.model, "response_format": "json"}
        if self.settings.language:
            fields["language"] = self.settings.language
        # Servers tell the format by the name.
        name = f"recording.{_SUFFIXES.get(recording.mime, 'ogg')}"
        files = {"file": (name, content, recording.mime or "audio/ogg")}
        body = bytearray()
        address = f"{self.settings.base_url}/audio/transcriptions"
        async with self._client.stream("POST", address, data=fields, files=files) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _LARGEST:
                    raise AnswerLost(f"{_SERVER} answered with far more than was asked for.")
            return response.status_code, response.headers, bytes(body)


def _transcript(body: bytes) -> Transcript:
    """Parse an answer. Raises AnswerLost for one that is no transcript."""
    try:
        answer = json.loads(body)
        text = answer["text"]
        if not isinstance(text, str):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise AnswerLost(f"{_SERVER} answered with something that is no transcript.") from None
    counted = answer.get("usage")
    usage = counted if isinstance(counted, dict) else {}
    seconds = usage.get("seconds", answer.get("duration"))
    tokens = [_count(usage.get(name)) for name in ("input_tokens", "output_tokens")]
    known = isinstance(seconds, int | float) and isfinite(seconds) and 0 < seconds < 1e6
    return Transcript(text.strip(), float(seconds) if known else 0.0, Usage(*tokens).within_reason())


def _count(told: object) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) else 0


def build(settings: OpenAISettings, _context: PluginContext) -> OpenAITranscriber:
    """Build the transcriber. Raises ConfigError when the key is missing or cannot be one."""
    key = settings.api_key.get_secret_value().strip()
    if not key and settings.base_url == _OPENAI:
        raise ConfigError(
            "There is no OpenAI API key for the transcriber: set OPENAI_API_KEY or transcribers.openai.api_key."
        )
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError("The API key of the transcriber has characters that no key has: copy it again.")
    return OpenAITranscriber(settings)


plugin = Plugin(settings=OpenAISettings, build=build)
