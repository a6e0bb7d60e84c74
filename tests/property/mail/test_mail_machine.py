"""Mail, whatever people, the model, the platform and crashes do, in whatever order: nothing lost, nothing doubled.

The whole house runs, on real files; the oracle is what people said and what the platform took, kept as plain lists.
"""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from kenobot.agent.prompt.speakers import message_text
from kenobot.storage import turn_steps
from kenobot.storage.connection import Connection
from tests.property.effort import effort
from tests.property.mail.lives import Lives
from tests.property.mail.mail_world import CHANNEL, CHATS, Answer, Life, Line, Said, World, marks
from tests.property.mail.power import CRASHES, Crash, ordered

pytestmark = pytest.mark.long

OPEN = {"pending", "claimed"}
TOLD = {"failed", "dead", "expired"}
LIMIT = 5  # the shipped `loop.attempts`
KEPT = timedelta(days=7)
EXPIRE = timedelta(hours=48)  # the shipped `messages.expire_hours`

_PLANS: st.SearchStrategy[list[Answer]] = st.one_of(
    st.sampled_from([["ok"], ["memory"], ["long"], ["half"], ["held", "long"], ["bug", "memory"], ["bug"] * LIMIT]),
    st.lists(
        st.sampled_from(
            ["ok", "long", "memory", "limited", "for long", "down", "rejected", "cut", "half", "bug", "held"]
        ),
        max_size=6,
    ),
)
_BATCHES = st.lists(st.tuples(st.sampled_from(CHATS), _PLANS), min_size=1, max_size=4)
_LINES: st.SearchStrategy[list[Line]] = st.lists(
    st.sampled_from(["ok", "limited", "down", "down", "rejected", "bug"]), min_size=1, max_size=4
)


@dataclass(frozen=True)
class Row:
    """A row of the inbox."""

    id: int
    number: int
    chat: str
    state: str
    attempts: int
    done_at: str | None


@dataclass(frozen=True)
class Sheet:
    """A row of the outbox."""

    id: int
    inbox: int | None
    part: int
    chat: str
    text: str
    state: str


@dataclass(frozen=True)
class Books:
    """What the database says, in one snapshot."""

    inbox: list[Row]
    outbox: list[Sheet]
    history: list[tuple[int, str, str, str]]
    paid: set[int]
    committed: set[int]
    facts: list[str]

    @classmethod
    def read(cls, connection: Connection) -> "Books":
        def rows(sql: str) -> list[tuple[object, ...]]:
            return connection.execute(sql).fetchall()

        inbox = rows("SELECT id, CAST(external_id AS INTEGER), chat, state, attempts, done_at FROM inbox ORDER BY id")
        outbox = rows("SELECT id, inbox_id, part, chat, text, state FROM outbox ORDER BY id")
        history = rows("SELECT inbox_id, session, role, text FROM message ORDER BY id")
        committed = {row[0] for row in rows("SELECT inbox_id FROM turn")}
        paid = committed | {row[0] for row in rows("SELECT inbox_id FROM turn_step")}
        facts = rows("SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id")
        return cls(
            [Row(*row) for row in inbox],  # type: ignore[arg-type]
            [Sheet(*row) for row in outbox],  # type: ignore[arg-type]
            history,  # type: ignore[arg-type]
            paid,  # type: ignore[arg-type]
            committed,  # type: ignore[arg-type]
            [str(row[0]) for row in facts],
        )


class Mail(Lives):
    """A KenoBot with three chats, and everything that can happen to it."""

    lives_on = True

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.ends: dict[int, str] = {}
        self.done_at: dict[int, datetime] = {}
        self.numbers: dict[int, int] = {}
        self.sheets: dict[int, Sheet] = {}
        self.facts: set[str] = set()
        self.committed: set[int] = set()
        self.runner.run(self._begin())

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────

    @rule(batch=_BATCHES)
    def say(self, batch: list[tuple[str, list[Answer]]]) -> None:
        """People write, several at once."""
        self.runner.run(self._say(batch))

    @rule(pick=st.integers(0, 50))
    def again(self, pick: int) -> None:
        """The platform repeats a message that it was told is stored."""
        recent = [said for said in self.world.said.values() if self._is_recent(said)]
        if recent:
            said = recent[pick % len(recent)]
            before = said.took
            self.runner.run(self.life.deliver(said))
            assert said.took == before, f"{said.number} was taken for new twice"

    @rule(chat=st.sampled_from(CHATS), outcomes=_LINES)
    def bad_line(self, chat: str, outcomes: list[Line]) -> None:
        """The platform will take what is sent to a chat only in a while, or not at all."""
        self.world.lines[chat].extend(outcomes)

    @rule()
    def let_go(self) -> None:
        """The model answers whoever it kept waiting."""
        self.runner.run(self._let_go())

    @rule(crashes=st.lists(CRASHES, min_size=1, max_size=3), batch=_BATCHES | st.just([]))
    def crash(self, crashes: list[Crash], batch: list[tuple[str, list[Answer]]]) -> None:
        """The process dies while people write, and perhaps again while it takes up what was left."""
        self.runner.run(self._crash(crashes, batch))

    @rule(chat=st.sampled_from(CHATS), plan=_PLANS, crash=CRASHES)
    def crash_in_one_turn(self, chat: str, plan: list[Answer], crash: Crash) -> None:
        """The process dies between a message's arrival and the record of its answer's last part."""
        self.runner.run(self._crash([replace(crash, writes=crash.writes % 5)], [(chat, plan)]))

    @rule(batch=_BATCHES | st.just([]), moment=st.integers(0, 40))
    def stop(self, batch: list[tuple[str, list[Answer]]], moment: int) -> None:
        """The process is asked to stop, perhaps just while people write, and is started again."""
        self.runner.run(self._stop(batch, moment))

    @rule(plan=_PLANS, crash=st.booleans())
    def overtake(self, plan: list[Answer], crash: bool) -> None:
        """Another attempt at a message begins while the model keeps the first one waiting."""
        self.runner.run(self._overtake(plan, crash))

    @rule(hours=st.integers(1, 100))
    def wait(self, hours: int) -> None:
        """Time passes, and the house is kept."""
        self.world.clock.advance(hours * 3600)
        self.runner.run(self._keep_house())

    # ── how it happens ───────────────────────────────────────────────────────────────────────────────────────────

    async def _begin(self, doom: Crash | None = None, *, stopped: bool = False) -> None:
        """A new process over what is on disk. stopped: whether the one before was asked to go, and so put it away."""
        self.power.restore()
        folder, heir = (self.root / str(number) for number in (self.lives, self.lives + 1))
        self.lives += 1
        self.life = Life(folder, heir, self.world, self.power)
        left = await self.life.app.database.read(Books.read)
        under_way = Counter(row.chat for row in left.inbox if row.state == "claimed")
        assert all(many == 1 for many in under_way.values()), f"more than one of a chat was under way: {under_way}"
        assert not (stopped and under_way), f"what was not done was not given back: {under_way}"
        taken = {outbound.id for outbound in self.world.taken}
        forgotten = [sheet for sheet in left.outbox if sheet.state == "pending" and sheet.id in taken]
        assert all(many == 1 for many in Counter(sheet.chat for sheet in forgotten).values()), "it ran ahead"
        self.world.repeatable.update(sheet.id for sheet in forgotten)
        numbers = {row.id: row.number for row in left.inbox}
        self.world.paid = {numbers[inbox] for inbox in left.paid if inbox in numbers}
        for row in left.inbox:
            self.world.said[row.number].crashes += row.state == "claimed"
        if doom is not None:
            self.life.doom(doom)
        await self.life.start()
        await self.life.quiet()

    async def _say(self, batch: list[tuple[str, list[Answer]]]) -> None:
        await self.life.deliver(*(self.world.new(chat, plan) for chat, plan in batch))
        await self.life.quiet()

    async def _let_go(self) -> None:
        self.life.brain.let_go()
        await self.life.quiet()

    async def _crash(self, crashes: list[Crash], batch: list[tuple[str, list[Answer]]]) -> None:
        first, *later = crashes
        self.life.doom(first)
        self.life.brain.let_go()
        await self._say(batch)
        for crash in later:
            await self._crash_now(crash)
        await self._crash_now()

    async def _crash_now(self, following: Crash | None = None) -> None:
        await self.life.kill()
        await self._begin(following)

    async def _stop(self, batch: list[tuple[str, list[Answer]]], moment: int) -> None:
        """moment: how many turns of the event loop the process is given for what people write."""
        written = [self.world.new(chat, plan) for chat, plan in batch]
        arrival = asyncio.ensure_future(self.life.hand_in(*written))
        for _ in range(moment):
            await asyncio.sleep(0)
        await self.life.stop()
        await arrival
        await self._begin(stopped=not batch)  # a message may be cut off between its storing and its first ring

    async def _overtake(self, plan: list[Answer], crash: bool) -> None:
        free = sorted(set(CHATS) - set(self.life.brain.held))
        if not free:
            return
        said = self.world.new(free[0], ["held", *plan])
        await self.life.deliver(said)
        await self.life.quiet()
        row = next(row for row in (await self._books()).inbox if row.number == said.number)
        assert await self.life.app.inbox.claim(row.id) == row.attempts + 1
        said.overtaken += 1
        self.life.orphaned.add(said.inbound.session)  # whoever claimed it does nothing about it
        await self._let_go()
        books = await self._books()
        assert next(after for after in books.inbox if after.id == row.id).state == "claimed", "it was finished"
        assert not [line for line in books.history if line[0] == row.id], "an overtaken attempt was remembered"
        assert not [sheet for sheet in books.outbox if sheet.inbox == row.id], "an overtaken attempt was answered"
        if crash:
            await self._crash_now()
        else:
            said.overtaken += 1  # the claim of which nothing came
            self.life.orphaned.clear()
            await self.life.app.sweep()
            await self.life.quiet()

    async def _keep_house(self) -> None:
        await self.life.app.inbox.prune()
        await self.life.app.outbox.prune()
        await turn_steps.prune(self.life.app.database, self.world.clock.now())
        await self.life.app.sweep()
        await self.life.quiet()

    async def _end(self) -> None:
        """Let everybody have an answer, look once more, and close."""
        while self.life.brain.held:
            await self._let_go()
        self._check(await self._books())
        for said in self.world.said.values():
            assert said.number in self.ends, f"{said.number} came to no end"
        await self.life.stop()

    async def _books(self) -> Books:
        return await self.life.app.database.read(Books.read)

    def _is_recent(self, said: Said) -> bool:
        done = self.done_at.get(said.number)
        return said.acknowledged and (done is None or done + KEPT > self.world.clock.now())

    # ── what must hold ───────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def everything_is_in_its_place(self) -> None:
        """Whatever has happened."""
        self._check(self.runner.run(self._books()))

    def _check(self, books: Books) -> None:
        assert not self.world.faults, self.world.faults
        self.numbers.update((row.id, row.number) for row in books.inbox)
        self._check_inbox(books)
        self._check_history(books)
        self._check_outbox(books)
        self._check_platform()

    def _check_inbox(self, books: Books) -> None:
        """Every message that was accepted is there once, and waits or has exactly one end, in the order it came."""
        rows = {row.number: row for row in books.inbox}
        assert len(rows) == len(books.inbox), "a message is there twice"
        for said in self.world.said.values():
            assert said.acknowledged, f"{said.number} was never acknowledged"
            assert said.took <= 1, f"{said.number} was taken for new {said.took} times"
            row, end = rows.get(said.number), self.ends.get(said.number)
            if row is None:
                assert end is not None, f"{said.number} is lost"
                assert self.done_at[said.number] + KEPT <= self.world.clock.now(), f"{said.number} was dropped early"
                continue
            if row.state in OPEN:
                assert end is None, f"{said.number} came back to life"
                assert said.chat in self.life.brain.held, f"{said.number} lies there and nobody works on it"
            else:
                assert row.state in {"answered", *TOLD}, f"{said.number} is {row.state}"
                assert end in (None, row.state), f"{said.number} was {end} and is {row.state}"
                assert row.done_at is not None
                self.ends[said.number] = row.state
                self.done_at[said.number] = datetime.fromisoformat(row.done_at)
            tries = said.bugs + said.crashes + said.overtaken
            assert row.attempts <= tries + 1, f"{row} after {tries} that failed"
            assert row.attempts <= LIMIT + 1 + said.crashes, f"{row} after {said.crashes} crashes"
            assert row.state != "dead" or tries >= LIMIT or said.refusals, f"{said.number} was buried after {tries}"
            waited = self.world.clock.now() - said.at
            assert row.state != "expired" or waited > EXPIRE, f"{said.number} expired after {waited}"
        for chat in CHATS:
            assert ordered([row.number for row in books.inbox if row.chat == chat]), "they were stored out of order"

    def _check_history(self, books: Books) -> None:
        """A message that was answered stands there with its answer, and no other does; a chat's are in order."""
        self.committed |= {self.numbers[inbox] for inbox in books.committed if inbox in self.numbers}
        lines: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for inbox, session, role, text in books.history:
            number = self.numbers[inbox]
            said = self.world.said[number]
            lines[session].append((number, role))
            assert session == said.inbound.session
            if role == "user":
                assert text == message_text(said.inbound, "owner")  # in private no line tells the role
            else:
                told = marks(text)
                assert told, f"the answer to {number} says nothing: {text!r}"
                assert "half of" not in text, f"a tag that was cut is shown: {text!r}"
                assert {(mark[0], mark[1]) for mark in told} == {(number, told[0][1])}, f"{number}: {text}"
                self.facts |= {f"fact {number}.{told[0][1]}"} & self.world.facts
        expected: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number, end in sorted(self.ends.items()):
            if end == "answered":
                expected[self.world.said[number].inbound.session] += [(number, "user"), (number, "assistant")]
        assert lines == expected
        assert self.committed == {number for number, end in self.ends.items() if end == "answered"}
        assert set(books.facts) == self.facts, f"remembered {sorted(books.facts)}, answered {sorted(self.facts)}"

    def _check_outbox(self, books: Books) -> None:
        """Every end has its words, once, part by part; and all of it left, unless the platform does not want it."""
        taken = {outbound.id: outbound.part.text for outbound in self.world.taken}
        for stored in books.outbox:
            sheet = stored
            if stored.state == "sent":
                assert not stored.text, "a reply that was sent stands in the outbox too"
                sheet = replace(stored, text=taken[stored.id])
            known = self.sheets.get(sheet.id, sheet)
            assert (known.inbox, known.part, known.text) == (sheet.inbox, sheet.part, sheet.text)
            assert known.state in ("pending", sheet.state), f"{known} became {sheet}"
            self.sheets[sheet.id] = sheet
        for inbox, number in self.numbers.items():
            sheets = [sheet for sheet in self.sheets.values() if sheet.inbox == inbox]
            patience = [sheet for sheet in sheets if sheet.part == -1]
            answer = [sheet for sheet in sheets if sheet.part != -1]
            assert len(patience) <= 1
            assert bool(answer) == (number in self.ends), f"{number} is {self.ends.get(number)} and was told {answer}"
            assert [sheet.part for sheet in answer] == list(range(len(answer)))
            if self.ends.get(number) == "answered":
                told = [mark for sheet in answer for mark in marks(sheet.text)]
                assert told == [(number, told[0][1], part) for part in range(len(told))], f"{number} got {told}"
        for chat in CHATS:
            mine = [self.numbers[s.inbox] for s in self.sheets.values() if s.chat == chat and s.inbox is not None]
            assert mine == sorted(mine), f"{chat} was answered out of order: {mine}"

    def _check_platform(self) -> None:
        """The platform took every part that is called sent, in order, each once, but for records lost in a crash."""
        taken = Counter(outbound.id for outbound in self.world.taken)
        for sheet in self.sheets.values():
            assert sheet.state != "pending", f"{sheet} was never sent"
            assert taken[sheet.id] or sheet.id in self.world.refused, f"{sheet} was not sent"
        for number, times in taken.items():
            assert times <= 1 + self.world.repeatable[number], f"part {number} was sent {times} times"
        for chat in CHATS:
            ids = [outbound.id for outbound in self.world.taken if outbound.chat == chat]
            assert ordered([one for one, before in zip(ids, [0, *ids], strict=False) if one != before]), (
                f"{chat}: {ids}"
            )
        assert all(outbound.channel == CHANNEL for outbound in self.world.taken)


TestMail = Mail.TestCase
TestMail.settings = effort(10, 10)
