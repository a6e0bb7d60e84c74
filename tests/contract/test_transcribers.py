"""The transcriber behind OpenAI's API keeps to the contract, over a stand-in of such a server."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import AnswerLost, ConfigError, RateLimited, Rejected, RemoteError, Unavailable
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Usage
from kenobot.ports.transcriber import Recording, Transcriber, Transcript
from kenobot.providers.transcribers.openai import OpenAISettings, OpenAITranscriber, plugin
from kenobot_testing.transcriber import TranscriberContract
from tests.integration.providers.transcription_standin import TranscriptionStandIn

KEY = "sk-canary-1234567890"


@pytest.fixture
async def server() -> AsyncIterator[TranscriptionStandIn]:
    async with TranscriptionStandIn() as server:
        yield server


def built(url: str, **more: Any) -> OpenAITranscriber:
    settings = OpenAISettings.model_validate({"base_url": url, "api_key": SecretStr(KEY), **more})
    return plugin.build(settings, PluginContext(home=Path("unused"), clock=SystemClock(), bot_name="K"))


@pytest.fixture
async def listener(server: TranscriptionStandIn) -> AsyncIterator[OpenAITranscriber]:
    made = built(server.url, language="es")
    yield made
    await made.aclose()


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    (tmp_path / "0f").write_bytes(b"OggS Hola, buenos dias")
    return Recording(tmp_path / "0f", "audio/ogg", 3.0)


class TestOpenAI(TranscriberContract):
    """The suite."""

    @pytest.fixture
    def transcriber(self, listener: OpenAITranscriber) -> Transcriber:
        """Over the stand-in."""
        return listener

    @pytest.fixture
    def failing(self) -> Transcriber | None:
        """Nothing listens at this address."""
        return built("http://127.0.0.1:9/v1")

    @pytest.fixture
    def speech(self) -> tuple[bytes, str, str] | None:
        """As the stand-in hears."""
        return b"OggS Hola, buenos dias", "audio/ogg", "hola"


async def test_a_server_is_asked_as_its_api_wants(
    server: TranscriptionStandIn, listener: OpenAITranscriber, recording: Recording
) -> None:
    """Key, model, language, and a name by which the format is told; its seconds are taken over."""
    assert await listener.transcribe(recording) == Transcript("Hola, buenos dias", 3.0)
    ((headers, sent),) = server.requests
    assert headers["authorization" if "authorization" in headers else "Authorization"] == f"Bearer {KEY}"
    assert (sent["model"], sent["language"], sent["response_format"]) == ("whisper-1", "es", "json")
    assert sent["name"] == "recording.ogg"
    assert listener.model_id == "openai:whisper-1" and KEY not in repr(listener)


async def test_tokens_are_taken_over_where_a_model_counts_these(
    server: TranscriptionStandIn, listener: OpenAITranscriber, recording: Recording
) -> None:
    """As newer models do."""
    usage = {"type": "tokens", "input_tokens": 30, "output_tokens": 7}
    server.answer = web.json_response({"text": " Hola ", "usage": usage})
    assert await listener.transcribe(recording) == Transcript("Hola", 0.0, Usage(30, 7))


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (429, "{}", RateLimited),
        (503, "<html>", Unavailable),
        (401, "{}", Rejected),
        (404, "{}", Rejected),
        (200, "<html>", AnswerLost),
        (200, '{"text": 3}', AnswerLost),
        (200, "[" * 100_000, AnswerLost),
    ],
)
async def test_refusals_are_errors_in_our_own_terms(
    server: TranscriptionStandIn,
    listener: OpenAITranscriber,
    recording: Recording,
    status: int,
    body: str,
    error: type[RemoteError],
) -> None:
    """Without the key; what was answered in another way than wanted may be charged for."""
    server.answer = web.Response(status=status, text=body)
    with pytest.raises(error) as raised:
        await listener.transcribe(recording)
    assert KEY not in str(raised.value)
    assert isinstance(raised.value, AnswerLost) == (error is AnswerLost)


async def test_a_server_that_does_not_answer_may_charge_for_it(
    server: TranscriptionStandIn, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is not there has taken nothing."""
    monkeypatch.setattr(OpenAISettings, "seconds", 0.2)
    server.hangs = True
    with pytest.raises(AnswerLost):
        await built(server.url).transcribe(recording)
    monkeypatch.setattr(OpenAISettings, "seconds", 2)
    with pytest.raises(Unavailable) as raised:
        await built("http://127.0.0.1:9/v1").transcribe(recording)
    assert not isinstance(raised.value, AnswerLost)


def test_openai_itself_needs_a_key() -> None:
    """A server of one's own does not."""
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        built("https://api.openai.com/v1", api_key=SecretStr(""))
    assert built("http://127.0.0.1:9/v1", api_key=SecretStr("")).model_id == "openai:whisper-1"
