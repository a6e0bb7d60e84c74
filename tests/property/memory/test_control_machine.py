"""Forgotten, undone and erased in chat, in whatever order and wherever the process dies: all of it or nothing.

What is hidden stays hidden everywhere, what is erased is nowhere, and each fact holds a word of its own by which it is
looked for: in recall, lists, the talk, the files, and in the bytes of database, logs and index.
"""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from kenobot.cognitive.control.forget import plan_purge
from kenobot.cognitive.control.undo import last_undoable_event
from kenobot.cognitive.mirror.cleanup import PurgeFinisher, execute_purge
from kenobot.cognitive.recall.index.index import Indexer, SideIndex
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp
from kenobot_testing.clock import ManualClock
from tests.property.effort import effort
from tests.property.files.mirror_faults import death_between_files
from tests.property.mail.lives import Lives
from tests.property.mail.power import CRASHES, NEVER, Crash
from tests.property.memory import control_world as world
from tests.property.memory.control_world import REACH, SESSION, Fact, Snapshot
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse

_PICKS = st.integers(0, 30)
_CRASH = st.none() | CRASHES
_LEFT = st.none() | st.integers(0, 3)
Deed = Callable[[Connection], object]


class HandsMachine(Lives):
    """A chat whose owner has things forgotten, brought back and erased; each fact is said in one turn."""

    @initialize()
    def begin(self) -> None:
        """An empty home, with an index beside its database."""
        self.facts: list[Fact] = []
        self.runner.run(self._begin())

    # ── what is said and ordered ─────────────────────────────────────────────────────────────────────────────────

    @rule(pick=_PICKS, read=st.booleans())
    def say(self, pick: int, read: bool) -> None:
        """The owner tells something; it is read for memories at once, or waits."""
        self.runner.run(self._say(pick, read))

    @precondition(lambda self: self._of("live"))
    @rule(pick=_PICKS, crash=_CRASH, left=_LEFT)
    def forget(self, pick: int, crash: Crash | None, left: int | None) -> None:
        """`/forget NUMBER`."""
        fact = self._pick(pick, "live")
        self.runner.run(self._order(lambda c: self._forget(c, str(fact.record)), crash, left))

    @precondition(lambda self: self._of("said"))
    @rule(pick=_PICKS, crash=_CRASH, left=_LEFT)
    def forget_what_nobody_has_read(self, pick: int, crash: Crash | None, left: int | None) -> None:
        """`/forget WORDS` of a turn of which no memory was made yet."""
        fact = self._pick(pick, "said")
        self.runner.run(self._order(lambda c: self._forget(c, fact.text), crash, left))

    @precondition(lambda self: self._of("live", "hidden", "away"))
    @rule(crash=_CRASH, left=_LEFT)
    def undo(self, crash: Crash | None, left: int | None) -> None:
        """`/undo`."""
        self.runner.run(self._order(self._undo, crash, left))

    @precondition(lambda self: self._of("live", "hidden", "away"))
    @rule(pick=_PICKS, crash=_CRASH, left=_LEFT)
    def purge(self, pick: int, crash: Crash | None, left: int | None) -> None:
        """`kenobot memory purge NUMBER`, of something that is remembered or not any more."""
        fact = self._pick(pick, "live", "hidden", "away")
        self.runner.run(self._order(lambda c: self._purge(c, fact), crash, left))

    # ── how it happens ───────────────────────────────────────────────────────────────────────────────────────────

    def _of(self, *states: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.state in states]

    def _pick(self, pick: int, *states: str) -> Fact:
        found = self._of(*states)
        return found[pick % len(found)]

    async def _begin(self) -> None:
        self.house = CardHouse(self.root / "memory", self._open(), ManualClock())
        await self.house.tree.start()
        self._around()

    def _around(self) -> None:
        """What stands around the database of this life."""
        self.index = SideIndex(self.root / "index.db")
        self.forgetting, self.undoing = world.commands(self.house.root, self.index)
        keeper = Indexer(self.house.database, self.index)
        self.scrubber = PurgeFinisher(self.house.database, self._path(), self.house.tree, keeper)

    async def _end(self) -> None:
        await self.house.tree.stop()
        await self.house.database.close()
        self.index.close()
        self._check_bytes(("life",))
        assert not self._traces(world.bytes_below(self.root))

    def _occasion(self) -> AdmitContext:
        self.house.clock.advance(3600)
        return replace(self.house.occasion("owner"), session=SESSION)

    async def _say(self, pick: int, read: bool) -> None:
        number = len(self.facts) + 1
        fact = Fact(number, world.saying(number, pick), 1000 + number)
        at = self._occasion()
        await self.house.database.write(lambda c: world.told(c, fact, stamp(at.at)))
        if read:
            fact.record = await self.house.database.write(lambda c: world.learn(c, fact, at))
            fact.state = "live"
        self.facts.append(fact)

    def _forget(self, connection: Connection, rest: str) -> None:
        said = self.forgetting(connection, world.order(rest, self._occasion()))
        assert said.startswith("Forgotten:"), said

    def _undo(self, connection: Connection) -> None:
        last = last_undoable_event(connection, REACH)
        said = self.undoing(connection, world.order("", self._occasion()))
        assert said.startswith("Undone") or last is None or "cannot" in said, said

    def _purge(self, connection: Connection, fact: Fact) -> None:
        doomed = plan_purge(connection, fact.record, REACH)
        assert doomed is not None
        execute_purge(connection, doomed, REACH, self._occasion())

    async def _order(self, deed: Deed, crash: Crash | None, left: int | None) -> None:
        """Do it, with all that follows from it; `crash` says at which write it dies, `left` at which file instead."""
        before = await self.house.database.read(world.snapshot)
        done: list[Snapshot] = []

        def work(connection: Connection) -> None:
            deed(connection)
            done.append(world.snapshot(connection))

        if crash is None:
            await self.house.database.write(work)
            await self._follow()
        else:
            promised = await self._break_off(work, crash, left)
            found = await self.house.database.read(world.snapshot)
            assert found in [*([] if promised else [before]), *done], "half of it was done"
        await self._take_stock()
        await self.scrubber.tick()
        await self._check()

    async def _follow(self) -> None:
        """What a running bot does after an order."""
        await self.house.tree.sync_out()
        await self.house.database.read(self.index.catch_up)
        await self.scrubber.tick()

    async def _break_off(self, work: Deed, crash: Crash, left: int | None) -> bool:
        """Whether the order was promised to be on disk when the process died."""
        promised = False

        async def last() -> None:
            nonlocal promised
            with death_between_files(left, swapped=bool(left), is_dead=self.power.dead.is_set):
                await self.house.database.write(work)
                promised = True
                await self._follow()

        crash = replace(crash, writes=crash.writes % 5 if left is None else NEVER)
        database = await self._die(crash, last(), self.house.database)
        self.index.close()
        for old in self.root.glob("life *"):
            if not old.name.startswith(self._path().name):
                old.unlink()
        self.house.database = database
        await self.house.again().start()
        self._around()
        return promised

    async def _take_stock(self) -> None:
        """What became of each fact: the order meant at most one of them."""
        moved = 0
        for fact in self.facts:
            if fact.state == "purged":
                continue
            if not fact.record:
                fact.record = await self.house.database.read(lambda c, fact=fact: _record_of(c, fact))  # type: ignore[misc]
            was = fact.state
            if fact.record:
                fact.state = await self.house.database.read(lambda c, fact=fact: world.status(c, fact))  # type: ignore[misc]
            moved += fact.state != was
        assert moved <= 1, "more than one fact changed"

    # ── what must hold ───────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def files_are_whole(self) -> None:
        """Whatever has happened, once the process is up."""
        assert not [path for path in self.house.files() if path.endswith(".tmp")]

    async def _check(self) -> None:
        """The hidden is not shown, the live is, and no byte is left of what was erased."""
        await self.house.tree.sync_out()
        now = self._occasion()
        shown = await self.house.database.read(lambda c: world.shown(c, self.index, self.facts, now))
        held = {path: self.house.text(path) for path in self.house.files() if "archive/" not in path}
        for fact in self.facts:
            if fact.state in ("hidden", "purged"):
                assert fact.mark not in shown, f"{fact} is shown"
                assert not [path for path, text in held.items() if fact.mark in text], f"{fact} stands in files"
            elif fact.state == "live":
                assert any(fact.mark in text for text in held.values()), f"{fact} stands in no file"
                assert await self.house.database.read(
                    lambda c, fact=fact: world.recalled(c, self.index, fact, now)  # type: ignore[misc]
                ), f"{fact} is not recalled"
        everything = [record.id for record in await self.house.everything()]
        assert sorted(self.house.cards()) == everything, "one card a record, and no other"
        kept = {fact.record for fact in self.facts if fact.record and fact.state != "purged"}
        assert kept <= set(everything), "a record is gone that nobody erased"
        waiting = await self.house.database.read(world.waiting)
        assert {fact.turn for fact in self._of("said")} <= waiting, "a turn is neither read nor waiting"
        self._check_bytes()

    def _check_bytes(self, skip: tuple[str, ...] = ()) -> None:
        assert not self._traces(world.bytes_below(self.root, skip))

    def _traces(self, held: bytes) -> list[Fact]:
        return [fact for fact in self._of("purged") if fact.mark.encode() in held]


def _record_of(connection: Connection, fact: Fact) -> int:
    """The record that the forgetting of a turn made of it; 0 as long as there is none."""
    row = connection.execute(
        "SELECT id FROM record WHERE form != 'box' AND instr(text, ?) AND json_array_length(source_messages) > "
        "0 ORDER BY id",
        (fact.mark,),
    ).fetchone()
    return int(row[0]) if row else 0


TestHands = HandsMachine.TestCase
TestHands.settings = effort(8, 10)
