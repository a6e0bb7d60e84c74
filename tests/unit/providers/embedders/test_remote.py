"""Embedders behind HTTP: within their deadline, in our own terms, and never with the key in what they say."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, RateLimited, Rejected, RemoteError, Unavailable
from kenobot.ports.plugin import PluginContext
from kenobot.providers.embedders import ollama, openai
from kenobot.providers.embedders.http import HttpEmbedder
from kenobot.providers.embedders.ollama import OllamaSettings
from kenobot.providers.embedders.openai import OpenAISettings
from kenobot_testing.embedder import cosine
from tests.constants import with_constants
from tests.integration.providers.embedding_standin import EmbeddingStandIn

KEY = "sk-canary-1234567890"
SURROUNDINGS = PluginContext(home=Path("unused"), clock=SystemClock(), bot_name="Kenobot")


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingStandIn]:
    async with EmbeddingStandIn() as server:
        yield server


@pytest.fixture
async def embedder(server: EmbeddingStandIn) -> AsyncIterator[HttpEmbedder]:
    settings = OpenAISettings(base_url=f"{server.url}/v1/", api_key=SecretStr(KEY), model="small")
    made = openai.plugin.build(settings, SURROUNDINGS)
    yield made
    await made.aclose()


async def test_openai_is_asked_as_its_api_wants(server: EmbeddingStandIn, embedder: HttpEmbedder) -> None:
    """Model, texts and key; rows come back in the order of the texts, of length 1, whatever the server's order."""
    rows = await embedder.embed(["the cat", "the dog", " "])
    ((path, headers, content),) = server.requests
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert content == {
        "model": "small",
        "input": ["the cat", "the dog", "."],
        "encoding_format": "float",
    }
    again = await embedder.embed(["the dog"], "query")
    assert cosine(rows[1], again[0]) == pytest.approx(1)
    assert embedder.model_id == "openai:small"
    assert embedder.dimensions == len(rows[0])


async def test_ollama_is_asked_as_its_api_wants(server: EmbeddingStandIn) -> None:
    """With what its model wants before queries and passages, which makes other vectors, and so another id."""
    settings = OllamaSettings(base_url=server.url, model="multilingual-e5-small")
    made = ollama.plugin.build(settings, SURROUNDINGS)
    await made.embed(["the cat"])
    await made.embed(["the cat"], "query")
    assert [content["input"] for _, _, content in server.requests] == [["passage: the cat"], ["query: the cat"]]
    assert server.requests[0][0] == "/api/embed"
    assert made.model_id == "ollama:multilingual-e5-small+passage:"
    await made.aclose()


async def test_many_texts_go_in_several_requests(server: EmbeddingStandIn, embedder: HttpEmbedder) -> None:
    """No request is larger than servers take."""
    rows = await embedder.embed([f"text {number}" for number in range(70)])
    assert [len(content["input"]) for _, _, content in server.requests] == [32, 32, 6]
    assert len(rows) == 70
    assert cosine(rows[69], (await embedder.embed(["text 69"]))[0]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, Rejected), (401, Rejected), (403, Rejected), (404, Rejected), (429, RateLimited), (500, Unavailable),
     (503, Unavailable), (408, Unavailable), (302, Rejected)],
)  # fmt: skip
async def test_refusals_in_our_own_terms(
    server: EmbeddingStandIn, embedder: HttpEmbedder, status: int, kind: type[RemoteError]
) -> None:
    """What may pass is told from what will not, and neither the key nor the server's words are shown."""
    server.script = [status]
    with pytest.raises(kind) as caught:
        await embedder.embed(["the cat"])
    assert str(status) in str(caught.value)
    assert KEY not in str(caught.value)
    assert "told to" not in str(caught.value)
    assert len(await embedder.embed(["the cat"])) == 1


async def test_a_pause_that_the_server_asks_for_is_kept(server: EmbeddingStandIn, embedder: HttpEmbedder) -> None:
    """In seconds, and an hour at most."""
    server.script = [(429, {"retry-after": "7"}), (429, {"retry-after": "1e9"}), (429, {"retry-after": "soon"})]
    pauses = []
    for _ in range(3):
        with pytest.raises(RateLimited) as caught:
            await embedder.embed(["the cat"])
        pauses.append(caught.value.retry_after)
    assert pauses == [7.0, 3600.0, None]


@pytest.mark.parametrize(
    "answer",
    [{}, {"data": []}, {"data": [{"index": 0}]}, {"data": [{"index": 0, "embedding": []}]}, {"data": 7},
     {"data": [{"index": 0, "embedding": ["a"]}]}, {"data": [{"index": 0, "embedding": [0, 0, 0]}]},
     {"data": [{"index": 0, "embedding": [1e400]}]}, {"data": [{"index": "x", "embedding": [1]}]}],
)  # fmt: skip
async def test_an_answer_that_is_none_is_a_failure(
    server: EmbeddingStandIn, embedder: HttpEmbedder, answer: dict[str, object]
) -> None:
    """Whatever the server says instead of an embedding, nothing of it is kept."""
    server.script = [answer]
    with pytest.raises(Unavailable, match="embedding"):
        await embedder.embed(["the cat"])


async def test_rows_of_two_sizes_are_refused(server: EmbeddingStandIn, embedder: HttpEmbedder) -> None:
    """They cannot be of one model."""
    server.script = [{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}]
    with pytest.raises(Unavailable, match="another number"):
        await embedder.embed(["the cat", "the dog"])


async def test_a_server_that_never_answers_costs_its_deadline(server: EmbeddingStandIn) -> None:
    """And one that is not there costs nothing."""
    server.script = ["hang"]
    slow = ollama.plugin.build(with_constants(OllamaSettings, base_url=server.url, seconds=0.2), SURROUNDINGS)
    with pytest.raises(Unavailable, match=r"longer than 0\.2 seconds"):
        await slow.embed(["the cat"])
    await slow.aclose()
    gone = ollama.plugin.build(OllamaSettings(base_url="http://127.0.0.1:9"), SURROUNDINGS)
    with pytest.raises(Unavailable, match="connection"):
        await gone.embed(["the cat"])
    await gone.aclose()


class _Meter:
    """Notes what each request was settled with."""

    def __init__(self) -> None:
        self.settled: list[int | None] = []

    async def reserve(self, model_id: str, texts: Sequence[str]) -> Callable[[int | None], None]:
        return self.settled.append


async def test_what_a_server_may_charge_for_is_counted(server: EmbeddingStandIn) -> None:
    """A request that was taken and not answered, or oddly, counts as reserved; one that was refused does not."""
    meter = _Meter()
    server.script = ["hang", 503, {"data": "odd"}]
    for seconds in (1, 30, 30):  # only the first is to be late, and after it was sent
        made = openai.plugin.build(
            with_constants(OpenAISettings, base_url=f"{server.url}/v1", model="m", seconds=seconds), SURROUNDINGS
        )
        made.meter = meter
        with pytest.raises(Unavailable):
            await made.embed(["the cat"])
        await made.aclose()
    gone = openai.plugin.build(OpenAISettings(base_url="http://127.0.0.1:9", model="m"), SURROUNDINGS)
    gone.meter = meter
    with pytest.raises(Unavailable):
        await gone.embed(["the cat"])
    await gone.aclose()
    assert meter.settled == [None, 0, None, 0]


def test_a_key_is_demanded_where_one_is_needed() -> None:
    """By OpenAI itself; a server of one's own may do without. What cannot be a key is refused at once."""
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        openai.plugin.build(OpenAISettings(), SURROUNDINGS)
    with pytest.raises(ConfigError, match="characters") as caught:
        openai.plugin.build(OpenAISettings(api_key=SecretStr(f"{KEY}\n{KEY}")), SURROUNDINGS)
    assert KEY not in str(caught.value)
    own = openai.plugin.build(OpenAISettings(base_url="http://127.0.0.1:8000/v1", model="m"), SURROUNDINGS)
    assert own.model_id == "openai:m"


@pytest.mark.parametrize("address", ["127.0.0.1:11434", "file:///etc/passwd", ""])
def test_an_address_is_one(address: str) -> None:
    """Of HTTP, with or without encryption."""
    with pytest.raises(ValidationError, match="http"):
        OllamaSettings(base_url=address)
