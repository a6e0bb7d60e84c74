"""An embedder that needs no model, and the tests that every embedder must pass."""

import asyncio
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from math import sqrt

import pytest

from kenobot.ports.embedder import Embedder, EmbedKind
from kenobot.ports.errors import RemoteError

_PIECE = 64  # bytes of a digest
_NEAR = 0.5  # cosine from which two texts count as near, for a model of whatever kind


class WordEmbedder:
    """Places a text by its words: the more words two texts share, the nearer they are. The same text, the same row.

    synonyms: groups of words that mean the same, such as ("cat", "gato"). failure: is raised instead of an answer,
    until it is taken away. embedded: every text with its kind, in the order they came. Set `gate` to hold answers back.
    """

    def __init__(
        self, synonyms: Iterable[Sequence[str]] = (), *, model_id: str = "words", dimensions: int = 256
    ) -> None:
        self.model_id = model_id
        self.dimensions = dimensions
        self.embedded: list[tuple[str, EmbedKind]] = []
        self.failure: Exception | None = None
        self.gate: asyncio.Event | None = None
        self._one = {word: group[0] for group in synonyms for word in group}

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        """Return a row for each text; raises what it was told to."""
        self.embedded += [(text, kind) for text in texts]
        if self.gate is not None:
            await self.gate.wait()
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> Sequence[float]:
        row = [0.0] * self.dimensions  # directions of different words are nearly at right angles
        words = ["".join(filter(str.isalnum, word)) for word in text.lower().split()]
        for word in [self._one.get(word, word) for word in words if word] or [""]:
            for at in range(0, self.dimensions, _PIECE):
                digest = blake2b(f"{at} {word}".encode("utf-8", "surrogatepass"), digest_size=_PIECE).digest()
                for place, byte in enumerate(digest[: self.dimensions - at], at):
                    row[place] += byte - 127.5
        length = sqrt(sum(number * number for number in row))
        return array("f", (number / length for number in row))


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return how near two rows of length 1 are, from -1 to 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.asyncio
class EmbedderContract:
    """Tests of what memory relies on in an embedder.

    Subclass it and override `embedder`, and `failing` when yours can fail.
    """

    @pytest.fixture
    def embedder(self) -> Embedder:
        """An embedder that understands English and Spanish, or at least its words."""
        raise NotImplementedError("override the fixture `embedder`")

    @pytest.fixture
    def failing(self) -> Embedder | None:
        """An embedder whose model is out of reach; None when that cannot be."""
        return None

    async def test_a_row_for_each_text_in_order(self, embedder: Embedder) -> None:
        """One row each, also for a text that comes twice, and none for none."""
        texts = ["The cat sleeps.", "Rent is due on Monday.", "The cat sleeps."]
        rows = await embedder.embed(texts)
        assert len(rows) == 3
        assert cosine(rows[0], rows[2]) > 0.999 > cosine(rows[0], rows[1]) + 0.01
        assert list(await embedder.embed([])) == []

    async def test_rows_have_the_length_they_say_and_are_of_length_one(self, embedder: Embedder) -> None:
        """So that a product of two rows is the cosine, whatever the model."""
        for row in await embedder.embed(["hello", "Una frase bastante más larga, con comas y todo."]):
            assert len(row) == embedder.dimensions > 0
            assert abs(cosine(row, row) - 1) < 1e-3

    async def test_the_same_text_is_placed_alike_alone_and_among_others(self, embedder: Embedder) -> None:
        """Vectors are kept for years, and compared with others that came by another batch."""
        alone = (await embedder.embed(["Mi hermana vive en Lyon."]))[0]
        among = (await embedder.embed(["One", "two and three", "Mi hermana vive en Lyon.", "four " * 40]))[2]
        assert cosine(alone, among) > 0.99

    async def test_what_means_the_like_is_nearer(self, embedder: Embedder) -> None:
        """A question is nearer to the note that answers it than to one about something else."""
        asked = (await embedder.embed(["Where does my sister live?"], "query"))[0]
        answer, other = await embedder.embed(["My sister does live in Lyon.", "The invoices are in the blue folder."])
        assert cosine(asked, answer) > cosine(asked, other)

    @pytest.mark.parametrize(
        "text", ["", "  \n", "你好，世界", "مرحبا", "👩‍👩‍👧 \u202e", "a\0b", "half a pair: \ud83d", "word " * 3000]
    )
    async def test_any_text_passes(self, embedder: Embedder, text: str) -> None:
        """People write in every script, at every length, and platforms let odd characters through."""
        for row in (*await embedder.embed([text]), *await embedder.embed([text], "query")):
            assert abs(cosine(row, row) - 1) < 1e-3

    async def test_what_stands_after_an_odd_character_counts(self, embedder: Embedder) -> None:
        """A text does not end at a character that ends a string elsewhere."""
        rows = await embedder.embed(["a\0 the rent is due", "a the rent is due", "a"])
        assert cosine(rows[0], rows[1]) > max(_NEAR, cosine(rows[0], rows[2]))

    async def test_many_may_ask_at_once(self, embedder: Embedder) -> None:
        """Queries and passages of several chats at the same time each get their own."""
        texts = [f"note number {number} about {word}" for number, word in enumerate(["tea", "rent", "cats", "Lyon"])]
        alone = [(await embedder.embed([text]))[0] for text in texts]
        rows = await asyncio.gather(*(embedder.embed([text]) for text in texts), embedder.embed(["tea?"], "query"))
        assert all(cosine(row[0], one) > 0.999 for row, one in zip(rows, alone, strict=False))

    async def test_who_stops_waiting_breaks_nothing(self, embedder: Embedder) -> None:
        """A deadline that is up leaves an embedder that answers the next one."""
        asking = asyncio.create_task(embedder.embed(["one two three " * 20] * 8))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert len(await embedder.embed(["hello"], "query")) == 1

    async def test_failures_are_remote_errors(self, failing: Embedder | None) -> None:
        """Report what goes wrong with the model as a RemoteError, whose text may be shown to a person."""
        if failing is None:
            pytest.skip("this embedder has nothing that could be out of reach")
        with pytest.raises(RemoteError) as caught:
            await failing.embed(["hello"])
        assert str(caught.value).strip(), "the error says nothing"
