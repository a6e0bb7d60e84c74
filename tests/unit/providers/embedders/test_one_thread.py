"""A model in this process has one thread, is loaded when it is needed, and lets queries pass."""

import asyncio
import subprocess
import sys
import threading
from array import array
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from kenobot.ports.embedder import EmbedKind
from kenobot.ports.errors import Unavailable
from kenobot.providers.embedders.texts import MAX_CHARACTERS, Vector, clip_text
from kenobot_local.threaded import Encode, ThreadedEmbedder


class Model:
    """Notes what it is asked, in which thread; `held` keeps it at its work."""

    def __init__(self) -> None:
        self.loaded = 0
        self.asked: list[tuple[tuple[str, ...], EmbedKind]] = []
        self.threads: set[int] = set()
        self.held = threading.Event()
        self.held.set()
        self.fails: Exception | None = None
        self.began = threading.Event()

    def load(self) -> Encode:
        self.loaded += 1

        def encode(texts: Sequence[str], kind: EmbedKind) -> list[Vector]:
            self.asked.append((tuple(texts), kind))
            self.threads.add(threading.get_ident())
            self.began.set()
            assert self.held.wait(10)
            if self.fails is not None:
                raise self.fails
            return [array("f", [1.0, float(len(text))]) for text in texts]

        return encode


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
async def embedder(model: Model) -> AsyncIterator[ThreadedEmbedder]:
    made = ThreadedEmbedder("toy", 2, model.load)
    yield made
    model.held.set()
    await made.aclose()


async def test_it_is_loaded_once_and_when_it_is_first_asked(model: Model, embedder: ThreadedEmbedder) -> None:
    """In a thread of its own, off the event loop."""
    assert model.loaded == 0
    await asyncio.gather(embedder.embed(["one"]), embedder.embed(["two"], "query"))
    assert model.loaded == 1
    assert len(model.threads) == 1
    assert threading.get_ident() not in model.threads


async def test_a_query_goes_before_passages_that_wait(model: Model, embedder: ThreadedEmbedder) -> None:
    """However long the backlog is: it waits for what is under way and for nothing else."""
    model.held.clear()
    backlog = asyncio.create_task(embedder.embed([f"passage {number}" for number in range(20)]))
    await asyncio.to_thread(model.began.wait, 10)
    query = asyncio.create_task(embedder.embed(["query"], "query"))
    await asyncio.sleep(0)
    model.held.set()
    await query
    assert [kind for _, kind in model.asked].index("query") <= 2
    assert len(await backlog) == 20


async def test_what_nobody_waits_for_is_not_computed(model: Model, embedder: ThreadedEmbedder) -> None:
    """A deadline that is up takes its texts out of the queue."""
    model.held.clear()
    first = asyncio.create_task(embedder.embed(["first"]))
    await asyncio.to_thread(model.began.wait, 10)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await embedder.embed(["too late"] * 6, "query")
    model.held.set()
    await first
    await embedder.embed(["next"])
    assert [texts for texts, _ in model.asked] == [("first",), ("next",)]


async def test_a_failure_is_told_and_passes(model: Model, embedder: ThreadedEmbedder) -> None:
    """A model that raises costs those who asked; the next ones are answered."""
    model.fails = MemoryError("no room")
    with pytest.raises(Unavailable, match=r"toy failed \(MemoryError: no room\)"):
        await embedder.embed(["one", "two", "three"])
    model.fails = None
    assert [list(row) for row in await embedder.embed(["four"])] == [[1.0, 4.0]]


async def test_a_model_that_cannot_be_loaded_is_tried_again(model: Model) -> None:
    """There may be room for it later."""
    broken = [True]

    def load() -> Encode:
        if broken:
            raise OSError("the file is gone")
        return model.load()

    embedder = ThreadedEmbedder("toy", 2, load)
    with pytest.raises(Unavailable, match="the file is gone"):
        await embedder.embed(["one"])
    broken.clear()
    assert len(await embedder.embed(["one"])) == 1
    await embedder.aclose()


async def test_far_too_much_at_once_is_refused(model: Model, embedder: ThreadedEmbedder) -> None:
    """The queue has a bound."""
    with pytest.raises(Unavailable, match="more to do"):
        await embedder.embed(["text"] * 5000)
    assert model.asked == []


async def test_texts_are_made_fit(model: Model, embedder: ThreadedEmbedder) -> None:
    """Bounded, and without what ends a string in C or cannot be encoded."""
    await embedder.embed(["a\0b", "half \ud83d", "x" * 9000, "👍"])
    assert [text for texts, _ in model.asked for text in texts] == ["a b", "half �", "x" * MAX_CHARACTERS, "👍"]
    assert clip_text("plain") == "plain"


async def test_closing_an_unused_one_does_nothing(model: Model) -> None:
    """No thread was begun."""
    await ThreadedEmbedder("toy", 2, model.load).aclose()
    assert model.loaded == 0


def test_without_memory_the_model_is_not_even_asked() -> None:
    """What multiplies in it does not look itself, and would end the process; a reply is worth more than a vector."""
    code = (
        "import resource, asyncio\n"
        "from array import array\n"
        "from kenobot_local.threaded import ThreadedEmbedder\n"
        "from kenobot.ports.errors import Unavailable\n"
        "asked = []\n"
        "def encode(texts, kind):\n"
        "    asked.append(texts)\n"
        "    return [array('f', [1.0])]\n"
        "async def main():\n"
        "    embedder = ThreadedEmbedder('toy', 1, lambda: encode)\n"
        "    await embedder.embed(['before'])\n"
        "    used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "    soft, hard = resource.getrlimit(resource.RLIMIT_AS)\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (used + 40_000_000, hard))\n"
        "    try:\n"
        "        await embedder.embed(['meanwhile'])\n"
        "    except Unavailable:\n"
        "        print('refused')\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))\n"
        "    await embedder.embed(['after'])\n"
        "    print(asked)\n"
        "asyncio.run(main())\n"
    )
    if not Path("/proc/self/statm").exists():
        pytest.skip("only Linux says how much memory a process takes")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split("\n")[:2] == ["refused", "[('before',), ('after',)]"]
