"""Puts every bad input through a whole house and says what came of it. The tests and the table both ask this module.

After each input the same things must hold: the answers that are due and no others, each fit for Telegram; memory as it
should be; nothing but the runtime's own frame in the prompt; no file out of its place; no error in the log; and the
next ordinary message of the same person is answered as ever.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kenobot.agent.prompt.runtime_block import BLOCK_CLOSE, BLOCK_OPEN
from kenobot.cognitive.policy import DEFAULT
from kenobot.ports.provider import Delta, Request
from tests.scene import Scene
from tests.security.bad_inputs import CHATS, REPLIES, UPDATES, WORDS, ChatId, Outcome, Place, Said, Update, Words
from tests.security.house import TelegramScene
from tests.security.telegram_server import TelegramServer

_FINE = "Fine."
_BORDER = re.compile(r"<\s*/?\s*kenobot-context", re.IGNORECASE)
_ENTRY = re.compile(r"## [0-9]{2}:[0-9]{2} — |### [0-9]{4}-")
_SECTIONS = {
    "## Group chat",
    "### Long-term memory",
    "### Recent notes",
    "### Chat-specific memory",
    "### Chat context",
}
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_DATABASES = {f"{name}.db{part}" for name in ("kenobot", "index") for part in ("", "-wal", "-shm")}
_HOME = _DATABASES | {"memory", "credentials", "backups", "kenobot.lock"}
_SECONDS = 30
_ANSWERED: Outcome = "answered"
_ENDS = ("answered", "expired", "failed")
# An update may bear a date of long ago, and a model may say nothing twice: then the person is told so.


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one input. `problems` is empty when all is well."""

    kind: str
    name: str
    happened: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must come of an input. `kept` and `shown` are looked at when they are given."""

    outcome: Outcome
    answers: int = 1
    kept: Sequence[str] = ()
    shown: str = ""
    hidden: str = ""


class Model:
    """A model that says what it is told to, `piece` characters at a time."""

    name = "trial"
    rule_based = True  # it says the same whatever it is asked, so that only conversation asks it

    def __init__(self) -> None:
        self.reply: str | Callable[[Request], str] = _FINE
        self.piece = 1000
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.requests.append(request)
        text = self.reply if isinstance(self.reply, str) else self.reply(request)
        for at in range(0, len(text), self.piece):
            yield Delta(text=text[at : at + self.piece])
        yield Delta(stop_reason="end_turn")


_STALLED = re.compile(r"has not answered for [\d.]+ seconds; its connection is opened anew$")


class Ear(logging.Handler):
    """Hears every error and every traceback that is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if _STALLED.search(record.getMessage()):
            return  # by a clock whose every nap is over at once: a busy machine is silent for long by it
        if record.levelno >= logging.ERROR or (record.exc_info and record.exc_info[0]):
            self.heard.append(f"{record.name}: {record.getMessage()}"[:200])


@contextmanager
def listening() -> Iterator[Ear]:
    """An ear at the root of all loggers."""
    ear = Ear()
    logging.getLogger().addHandler(ear)
    try:
        yield ear
    finally:
        logging.getLogger().removeHandler(ear)


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far everything had come before an input."""

    inbox: int
    records: int
    outbox: int
    sent: int
    requests: int
    heard: int


class Bench:
    """A house on trial. `sent` gives what people got so far; `write` sends an ordinary message from a chat."""

    def __init__(
        self,
        scene: Scene,
        model: Model,
        ear: Ear,
        room: Path,
        sent: Callable[[], Sequence[str]],
        refused: Callable[[], Sequence[str]],
    ) -> None:
        self.scene = scene
        self.model = model
        self._ear = ear
        self._room = room
        self._sent = sent
        self._refused = refused
        self._headings: frozenset[str] = frozenset()

    async def begin(self, ordinary: Awaitable[object]) -> None:
        """Learn from an ordinary message what a prompt looks like."""
        await ordinary
        self._headings = _headings(self.model.requests[-1]) | _SECTIONS

    async def judge(
        self, kind: str, name: str, wanted: Wanted, act: Awaitable[object], after: Callable[[], Awaitable[object]]
    ) -> Verdict:
        """Let `act` happen, then an ordinary message, and see what came of both."""
        before = await self._mark()
        problems: list[str] = []
        try:
            async with asyncio.timeout(_SECONDS):
                await act
                happened = await self._outcome(before, wanted, problems)
                await self._memory(before, wanted, problems)
                self._reply(before, wanted, problems)
                self.model.reply, self.model.piece = _FINE, 1000
                said = len(self._sent())
                await after()
        except Exception as error:
            return Verdict(kind, name, "broke", (f"{type(error).__name__}: {error}"[:300],))
        if self._sent()[said:] != [_FINE]:
            problems.append(f"the next message was answered with {self._sent()[said:]!r:.100}")
        problems += self._refused()
        problems += self._ear.heard[before.heard :]
        problems += _forged(self.model.requests[before.requests :], self._headings)
        problems += strays(self._room)
        return Verdict(kind, name, happened, tuple(problems))

    async def _mark(self) -> _Mark:
        ((inbox, records, outbox),) = await self.scene.rows(
            "SELECT (SELECT coalesce(max(id), 0) FROM inbox), (SELECT coalesce(max(id), 0) FROM record), "
            "(SELECT coalesce(max(id), 0) FROM outbox)"
        )
        return _Mark(
            *(int(str(inbox)), int(str(records)), int(str(outbox))),
            *(len(self._sent()), len(self.model.requests), len(self._ear.heard)),
        )

    async def _outcome(self, before: _Mark, wanted: Wanted, problems: list[str]) -> str:
        rows = await self.scene.rows(
            f"SELECT inbox.state, inbox.reason, count(outbox.id) FROM inbox LEFT JOIN outbox ON inbox_id = inbox.id "
            f"WHERE inbox.id > {before.inbox} GROUP BY inbox.id ORDER BY inbox.id"
        )
        ((notices,),) = await self.scene.rows(
            f"SELECT count(*) FROM outbox WHERE id > {before.outbox} AND inbox_id IS NULL"
        )
        notices = int(str(notices))
        parts = len(self._sent()) - before.sent - notices
        answered = sum(state in _ENDS and bool(count) for state, _, count in rows)
        aside = [str(reason) for state, reason, _ in rows if state == "dead"]
        due = {"answered": (wanted.answers, 0), "set aside": (0, 1), "ignored": (0, 0)}[wanted.outcome]
        if (answered, len(aside)) != due or len(rows) != sum(due):
            problems.append(f"wanted {wanted.outcome} ×{sum(due)}, and the inbox has {rows!r:.200}")
        if parts != sum(int(str(count)) for *_, count in rows):
            problems.append(f"{parts} parts were sent for {rows!r:.200}")
        if notices > len(aside):
            problems.append(f"the owner was told {notices}×")
        if aside:
            return f"set aside: {aside[0]}"
        if not answered:
            return "ignored"
        several = f" ×{answered}" if answered > 1 else ""
        return f"answered{several}" + (f", in {parts} parts" if parts > answered else "")

    async def _memory(self, before: _Mark, wanted: Wanted, problems: list[str]) -> None:
        rows = await self.scene.rows(
            f"SELECT text FROM record WHERE id > {before.records} AND form NOT IN ('box', 'summary') ORDER BY text"
        )
        kept = [str(text) for (text,) in rows]
        fits = len(kept) == len(wanted.kept) and all(
            want in (text, "…") for text, want in zip(kept, sorted(wanted.kept), strict=True)
        )
        if not fits or any(len(text) > DEFAULT.max_text_chars for text in kept):
            problems.append(f"remembered {kept!r:.200}")

    def _reply(self, before: _Mark, wanted: Wanted, problems: list[str]) -> None:
        answer = "\n".join(self._sent()[before.sent :])
        if wanted.shown not in answer:
            problems.append(f"{wanted.shown!r} is missing in {answer!r:.100}")
        if wanted.hidden and wanted.hidden in answer:
            problems.append(f"{wanted.hidden!r} is shown in {answer!r:.100}")


# ── what must hold ───────────────────────────────────────────────────────────────────────────────────────────────


def _headings(request: Request) -> frozenset[str]:
    """The lines of the system prompt that structure it, and how often its border is named."""
    text = "\n".join(block.text for block in request.system)
    lines = [line for line in text.splitlines() if line.startswith(("#", "---")) and not _ENTRY.match(line)]
    return frozenset([*lines, f"{len(_BORDER.findall(text))} borders"])


def _forged(requests: Sequence[Request], headings: frozenset[str]) -> list[str]:
    """What in these prompts passes for the runtime's own words and is not."""
    found: list[str] = []
    for request in requests:
        found += [f"the prompt has a new heading: {line!r:.80}" for line in _headings(request) - headings]
        for message in request.messages:
            for block in message.text_blocks:
                ours = block.text.startswith(BLOCK_OPEN) and block.text.endswith(BLOCK_CLOSE)
                if len(_BORDER.findall(block.text)) != (2 if ours else 0):
                    found.append(f"a border is forged: {block.text!r:.80}")
    return found


def strays(room: Path) -> list[str]:
    """Files that stand where none of the house's should, in `room`, which holds a home and a bystander."""
    if (room / "bystander").read_text() != "mine":
        return ["the bystander was changed"]
    found = [path for path in room.iterdir() if path.name not in ("home", "bystander")]
    found += [path for path in (room / "home").iterdir() if path.name not in _HOME]
    found += [path for path in (room / "home").rglob("*") if not _SAFE_NAME.fullmatch(path.name)]
    return [f"a file out of place: {str(path)!r:.100}" for path in found]


def new_room(folder: Path, name: str) -> Path:
    """A folder for a home, with something beside it that must stay as it is."""
    room = folder / name
    room.mkdir()
    (room / "bystander").write_text("mine")
    return room


# ── the trials ───────────────────────────────────────────────────────────────────────────────────────────────────


async def try_all(folder: Path) -> list[Verdict]:
    """Every input, each in its turn, in houses that outlive them all."""
    with listening() as ear:
        by_telegram = await _through_telegram(folder, ear)
        straight = await _straight_in(folder, ear)
    return [*by_telegram, *straight]


async def _through_telegram(folder: Path, ear: Ear) -> list[Verdict]:
    room, model = new_room(folder, "telegram"), Model()
    rows: Sequence[Words | Said | Update] = (*WORDS, *REPLIES, *UPDATES)
    owners = [str(number) for number in range(1, 1000 + len(rows))]
    async with TelegramServer() as server, TelegramScene(room, server, provider=model, owners=owners) as scene:
        bench = Bench(scene, model, ear, room, lambda: [item.text for item in server.sent], lambda: server.refused)
        await bench.begin(scene.hear(Place(999, 1, scene.clock.now()).update(text="hello")))
        verdicts = []
        for at, row in enumerate(rows):
            place = Place(1000 + at, 100 * (at + 1), scene.clock.now())
            kind, wanted, updates = _as_updates(row, place, model)

            async def follow(place: Place = place) -> None:
                await scene.hear(place.update(90, text="an ordinary message"))

            verdicts.append(await bench.judge(kind, row.name, wanted, scene.hear(*updates), follow))
            server.refused.clear()
        return verdicts


def _as_updates(row: Words | Said | Update, place: Place, model: Model) -> tuple[str, Wanted, Sequence[object]]:
    """How a row is tried by Telegram: its kind, what must come of it, the updates; the model is told its part."""
    match row:
        case Words():
            model.reply = _echo(row)
            return "a text, by Telegram", Wanted(row.telegram, kept=row.kept), [place.update(text=row.text)]
        case Said():
            model.reply, model.piece = row.reply, row.piece
            wanted = Wanted("answered", kept=row.kept, shown=row.shown, hidden=row.hidden)
            return "a reply of the model", wanted, [place.update(text="Do you like lists?")]
        case Update():
            model.reply = _FINE
            return "an update", Wanted(row.outcome, row.answers), row.make(place)


def _echo(row: Words) -> str:
    return row.text if row.reply is None else row.reply


async def _straight_in(folder: Path, ear: Ear) -> list[Verdict]:
    """Past the Telegram channel, as a channel of somebody else's might hand it in."""
    room, model = new_room(folder, "core"), Model()
    async with Scene(room, provider=model, owners=["1"]) as scene:
        bench = Bench(scene, model, ear, room, lambda: scene.texts, list)
        await bench.begin(scene.say("hello"))
        verdicts = []
        rows: Sequence[Words | ChatId] = (*WORDS, *CHATS)
        for at, row in enumerate(rows):
            chat, outcome = (row.chat, row.outcome) if isinstance(row, ChatId) else (str(1000 + at), _ANSWERED)
            text = row.text if isinstance(row, Words) else "hi"
            model.reply = _echo(row) if isinstance(row, Words) else _FINE
            kind = "a text, straight in" if isinstance(row, Words) else "a chat id, straight in"

            async def follow(chat: str = chat if outcome == "answered" else "1") -> None:
                await scene.say("an ordinary message", chat=chat, user="1")

            kept = row.kept if isinstance(row, Words) else ()
            act = scene.say(text, chat=chat, user="1", user_name=text[:200])
            verdicts.append(await bench.judge(kind, row.name, Wanted(outcome, kept=kept), act, follow))
        return verdicts
