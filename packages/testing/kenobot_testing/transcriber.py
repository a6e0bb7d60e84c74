"""The tests that every transcriber must pass."""

import asyncio
from pathlib import Path

import pytest

from kenobot.ports.errors import RemoteError
from kenobot.ports.transcriber import Recording, Transcriber

SILENCE = (
    b"RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00"
    b"\x02\x00\x10\x00data" + bytes(4)
)
"""A recording in which nothing is said."""


@pytest.mark.asyncio
class TranscriberContract:
    """Tests of what the core relies on in a transcriber.

    Subclass it and override `transcriber`; `speech` with a recording and what it says, when yours can hear it, and
    `failing` when yours can fail.
    """

    @pytest.fixture
    def transcriber(self) -> Transcriber:
        """A transcriber that answers."""
        raise NotImplementedError("override the fixture `transcriber`")

    @pytest.fixture
    def failing(self) -> Transcriber | None:
        """A transcriber whose model is out of reach; None when that cannot be."""
        return None

    @pytest.fixture
    def speech(self) -> tuple[bytes, str, str] | None:
        """The bytes of a recording, their kind, and what is said in it; None when there is none."""
        return None

    async def test_its_id_names_service_and_model(self, transcriber: Transcriber) -> None:
        """The ledger finds the price by it."""
        service, colon, model = transcriber.model_id.partition(":")
        assert service and colon and model, f"{transcriber.model_id!r} is not SERVICE:MODEL"
        assert transcriber.model_id == transcriber.model_id, "the id changes"

    async def test_it_writes_down_what_is_said(
        self, transcriber: Transcriber, speech: tuple[bytes, str, str] | None, tmp_path: Path
    ) -> None:
        """Twice the same, side by side; the figures are no nonsense."""
        if speech is None:
            pytest.skip("this suite has no recording for it")
        content, kind, said = speech
        (tmp_path / "0f").write_bytes(content)
        recording = Recording(tmp_path / "0f", kind, 1.0)
        async with asyncio.timeout(120):
            both = await asyncio.gather(transcriber.transcribe(recording), transcriber.transcribe(recording))
        for transcript in both:
            assert said.lower() in transcript.text.lower()
            assert transcript.seconds >= 0 and transcript.usage.tokens >= 0

    @pytest.mark.parametrize("content", [SILENCE, b"", b"no recording at all", b"OggS" + bytes(5000)])
    async def test_any_bytes_end_in_a_transcript_or_a_remote_error(
        self, transcriber: Transcriber, content: bytes, tmp_path: Path
    ) -> None:
        """People send anything as a recording; the person is then told, and the chat goes on."""
        (tmp_path / "0f").write_bytes(content)
        async with asyncio.timeout(120):
            try:
                transcript = await transcriber.transcribe(Recording(tmp_path / "0f", "audio/wav"))
            except RemoteError:
                return
        assert isinstance(transcript.text, str)

    async def test_a_file_that_is_gone_is_a_remote_error(self, transcriber: Transcriber, tmp_path: Path) -> None:
        """Report a file that is gone, by somebody's erasure meanwhile, as a RemoteError."""
        with pytest.raises(RemoteError):
            await transcriber.transcribe(Recording(tmp_path / "none", "audio/ogg"))

    async def test_a_model_out_of_reach_is_a_remote_error(self, failing: Transcriber | None, tmp_path: Path) -> None:
        """Within its deadline."""
        if failing is None:
            pytest.skip("it cannot fail")
        (tmp_path / "0f").write_bytes(SILENCE)
        async with asyncio.timeout(120):
            with pytest.raises(RemoteError):
                await failing.transcribe(Recording(tmp_path / "0f", "audio/wav"))
