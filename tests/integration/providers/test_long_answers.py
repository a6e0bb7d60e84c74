"""An answer has an end, whatever the model says: it is cut, shown in so many parts, and no other chat waits for it."""

import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from kenobot.core import texts
from kenobot.ports.channel import Capabilities
from kenobot.ports.messages import MessagePart
from kenobot.ports.postprocessor import Element
from kenobot.ports.provider import Delta, Request
from kenobot.postprocessors.tags import MemoryTag
from tests.scene import Chatter, Scene

_LIMITS = {"TurnPolicy.answer_chars": 5000, "ModelRouter.answer_chars": 5000, "TurnServices.answer_parts": 4}


class Talker:
    """A model that says the same words for ever, and counts them; `closed` when it was left."""

    name = "talker"

    def __init__(self, words: str = "word ", most: int = 1_000_000) -> None:
        self.words = words
        self.most = most
        self.said = 0
        self.closed = False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        try:
            for _ in range(self.most):
                self.said += 1
                yield Delta(text=self.words)
            yield Delta(stop_reason="end_turn")
        finally:
            self.closed = True


class Pages(Chatter):
    """A channel whose messages hold a thousand characters."""

    def __init__(self, *sends: str) -> None:
        super().__init__("telegram")
        self.capabilities = Capabilities(longest=2000, sends=frozenset(sends))  # type: ignore[arg-type]

    def render(self, text: str) -> Sequence[MessagePart]:
        return [MessagePart(text[at : at + 1000]) for at in range(0, len(text), 1000)]


def _scene(folder: Path, model: Talker, channel: Chatter, **environ: object) -> Scene:
    scene = Scene(folder, provider=model, environ={**_LIMITS, **environ})
    scene.channel = channel
    return scene


@pytest.mark.parametrize("words", ["word ", "palabra ñ ", "词", "👩‍👩‍👧 ", "x" * 3_000_000], ids=len)
async def test_an_answer_without_an_end_is_cut(tmp_path: Path, words: str) -> None:
    """Its stream is closed, the person is told, and what is kept is no longer than what may be."""
    model = Talker(words)
    async with _scene(tmp_path, model, Chatter("telegram")) as scene:
        reply = await scene.say("go on")
        assert model.closed
        assert model.said * len(words) <= 5000 + len(words)
        assert reply.endswith(texts.CUT("en"))
        assert len(reply) <= 5000 + len("\n\n" + texts.CUT("en"))
        assert await scene.rows("SELECT text FROM message WHERE role = 'assistant'") == [(reply,)]
        assert await scene.rows("SELECT stop_reason FROM turn") == [("answer_chars",)]


@pytest.mark.parametrize(("asked", "language"), [("what is new?", "en"), ("¿qué hay de nuevo?", "es")])
async def test_what_does_not_fit_is_said(tmp_path: Path, asked: str, language: str) -> None:
    """In a channel that sends no files, the last part tells how much is left out; so does the conversation."""
    async with _scene(tmp_path, Talker("word ", 900), Pages()) as scene:
        await scene.say(asked)
        assert [len(text) for text in scene.texts[:3]] == [1000] * 3
        said = (texts.REST_LEFT_OUT.es if language == "es" else texts.REST_LEFT_OUT.en).format(count=1499)
        assert scene.texts[3:] == [said]
        [(kept,)] = await scene.rows("SELECT text FROM message WHERE role = 'assistant'")
        assert str(kept).endswith(said)


async def test_what_does_not_fit_comes_as_a_file(tmp_path: Path) -> None:
    """Where the channel sends files, one has all of the answer; no copy of it stays behind."""
    async with _scene(tmp_path, Talker("ñandú ", 800), Pages("document")) as scene:
        await scene.say("what is new?")
        *shown, last = scene.channel.sent
        assert "".join(part.part.text for part in shown) == ("ñandú " * 800)[:3000]
        assert last.part.text == texts.REST_IN_FILE("en")
        [file] = last.part.attachments
        assert (file.kind, file.name, file.text) == ("document", "answer.md", ("ñandú " * 800).strip())
        assert file.size == len(file.text.encode())
        assert await scene.rows("SELECT payload FROM outbox WHERE payload != '{}'") == []


async def test_an_answer_that_fits_comes_whole(tmp_path: Path) -> None:
    """Exactly as many parts as there may be, and exactly as long as it may be."""
    environ = {"TurnPolicy.answer_chars": 4000, "ModelRouter.answer_chars": 4000}
    async with _scene(tmp_path, Talker("wordy", 800), Pages(), **environ) as scene:
        await scene.say("what is new?")
        assert scene.texts == [("wordy" * 800)[at : at + 1000] for at in range(0, 4000, 1000)]


async def test_a_command_with_much_to_show_is_bounded_too(tmp_path: Path) -> None:
    """No list of the bot's own floods a chat."""
    files = {"MEMORY.md": "".join(f"- the plant number {number} is green\n" for number in range(400))}
    scene = Scene(tmp_path, ["fine"], files=files, environ=_LIMITS)
    channel = scene.channel = Pages()
    async with scene:
        channel.render = lambda text: [MessagePart(line) for line in text.splitlines() if line]  # type: ignore[method-assign]
        await scene.say("/memory plant")
        assert 0 < len(scene.texts) <= 4


async def test_a_long_answer_keeps_no_other_chat_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is worked through and rendered beside the event loop, which goes on meanwhile."""
    loop, seen = threading.get_ident(), list[tuple[str, bool]]()
    extract = MemoryTag.extract

    def watched(tag: MemoryTag, elements: Sequence[Element]) -> tuple[str, ...]:
        seen.append(("tags", threading.get_ident() == loop))
        return extract(tag, elements)

    class Watched(Pages):
        def render(self, text: str) -> Sequence[MessagePart]:
            seen.append(("parts", threading.get_ident() == loop))
            return super().render(text)

    monkeypatch.setattr(MemoryTag, "extract", watched)
    model = Talker("<memory>The garden needs water</memory>" + "word " * 900, 1)
    async with _scene(tmp_path, model, Watched()) as scene:
        await scene.say("go on")
        assert seen == [("tags", False), ("parts", False), ("parts", False)]
        assert await scene.rows("SELECT text FROM record WHERE form != 'box'") == [("The garden needs water",)]
