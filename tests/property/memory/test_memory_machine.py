"""What memory promises, whatever is said to it, forgotten and rewritten in whatever order, and wherever it dies.

The oracle is a plain dictionary of what was said: tests/property/memory/memory_oracle.py.
"""

from collections.abc import Awaitable, Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.fingerprint import key_of
from kenobot.language.sanitize import sanitize
from kenobot.ports.errors import StoreError
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.property.effort import effort
from tests.property.mail.lives import Lives
from tests.property.mail.power import CRASHES, Crash
from tests.property.memory.memory_oracle import (
    BUDGETS,
    FACTS,
    NOTHING,
    READERS,
    SCOPES,
    Belief,
    Deed,
    Key,
    Memory,
    Reader,
    Seen,
    facts_in,
    forgotten,
    live_of,
    name_of,
    recorded,
    rewritten,
    said,
    shown_to,
)

_TEXTS = st.sampled_from([dress for dresses in FACTS.values() for dress in dresses] + NOTHING)
_CANDIDATES = st.builds(
    Candidate,
    form=st.sampled_from(["note", "episode"]),
    scope=st.sampled_from(SCOPES),
    text=_TEXTS,
    category=st.sampled_from(["fact", "preference"]),
    trust=st.sampled_from(["owner", "guest", "forward", "model", "tool"]),
    tier=st.sampled_from(["daily", "core"]),
)
_SLOTS = st.sampled_from(SCOPES[1:3]).flatmap(
    lambda scope: (
        st.builds(
            Candidate,
            form=st.just("profile"),
            scope=st.just(scope),
            text=_TEXTS,
            trust=st.sampled_from(["owner", "forward"]),
            slot=st.just("context"),
        )
        | st.builds(Candidate, form=st.just("scratchpad"), scope=st.just(scope), text=_TEXTS, slot=st.just("working"))
    )
)


class MemoryMachine(Lives):
    """A memory to which anything may be said, in any order, on a disk that may lose its process at any write."""

    @initialize()
    def begin(self) -> None:
        """An empty memory."""
        self.day = 0
        self.model = Memory()
        self.most = 0
        self.runner.run(self._begin())

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────

    @rule(candidates=st.lists(_CANDIDATES | _SLOTS, min_size=1, max_size=4), again=st.booleans())
    def turn(self, candidates: list[Candidate], again: bool) -> None:
        """A turn remembers something; said again, it is known already."""
        self._do(said(candidates, self._occasion()))
        if again:
            before = {key: belief.id for key, belief in self.model.live.items()}
            plain = [candidate for candidate in candidates if not candidate.slot]
            self._do(said(plain, self._occasion()))
            assert {key: belief.id for key, belief in self.model.live.items()} == before

    @precondition(lambda self: self.model.live)
    @rule(pick=st.integers(0, 30), candidate=_CANDIDATES)
    def rewrite(self, pick: int, candidate: Candidate) -> None:
        """A person changes a line that the mirror shows."""
        if (deed := self._rewriting(pick, candidate)) is not None:
            self._do(deed)

    @precondition(lambda self: self.model.live)
    @rule(pick=st.integers(0, 30))
    def take_away(self, pick: int) -> None:
        """A person takes a line out."""
        self._do(forgotten(self._pick(pick)[1].id, self._occasion()))

    @rule(crash=CRASHES, turns=st.lists(st.lists(_CANDIDATES | _SLOTS, min_size=1, max_size=3), max_size=3),
          pick=st.integers(0, 30), last=st.sampled_from(["turn", "rewrite", "forget"]))  # fmt: skip
    def crash(self, crash: Crash, turns: list[list[Candidate]], pick: int, last: str) -> None:
        """The process dies while memory is written: each turn is there whole or not at all, none after a lost one."""
        deeds = [said(candidates, self._occasion()) for candidates in turns]
        if self.model.live and last == "forget":
            deeds.append(forgotten(self._pick(pick)[1].id, self._occasion()))
        elif self.model.live and turns and last == "rewrite":
            deeds.extend(filter(None, [self._rewriting(pick, turns[0][0])]))
        self.runner.run(self._crash(replace(crash, writes=crash.writes % 4), deeds))

    @rule(days=st.integers(1, 40))
    def wait(self, days: int) -> None:
        """Time passes."""
        self.day += days

    # ── how it happens ───────────────────────────────────────────────────────────────────────────────────────────

    def _do(self, deed: Deed) -> None:
        self.runner.run(self.database.write(deed))(self.model)

    def _rewriting(self, pick: int, candidate: Candidate) -> Deed | None:
        (scope, form, _), belief = self._pick(pick)
        if candidate.slot or form not in ("note", "episode"):
            return None
        return rewritten(belief.id, replace(candidate, scope=scope), self._occasion())

    def _pick(self, pick: int) -> tuple[Key, Belief]:
        live = sorted(self.model.live.items())
        return live[pick % len(live)]

    def _occasion(self) -> AdmitContext:
        at = START + timedelta(days=self.day)
        return AdmitContext(at, at.date().isoformat(), "test", "fake-1")

    async def _begin(self) -> None:
        self.database = self._open()

    async def _end(self) -> None:
        await self.database.close()

    async def _crash(self, crash: Crash, deeds: Iterable[Deed]) -> None:
        """Which of the deeds are on disk only a look can tell; but they are the first ones, each whole."""
        self.lives += 1
        self.power.cut(crash, self._path())
        stages = [deepcopy(self.model)]
        promised = 0
        for deed in deeds:
            heard: list[Callable[[Memory], None]] = []
            survived = await _survives(self.database.write(_overheard(deed, heard)))
            for mirror in heard:
                stages.append(deepcopy(stages[-1]))
                mirror(stages[-1])
            if not survived:
                break
            promised += 1
        while not self.power.dead.is_set():
            await _survives(self.database.write(lambda _: None))
        await self.database.close()
        self.power.restore()
        self.database = self._open()
        found = await self.database.read(recorded)
        fitting = [stage for stage in stages[promised:] if live_of(stage) == found]
        assert fitting, f"{promised} of {len(stages) - 1} deeds were promised, and this is left: {found}"
        self.model = fitting[0]

    # ── what must hold ───────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def memory_is_as_it_should_be(self) -> None:
        """Whatever has happened."""
        today = self._occasion().day
        seen = self.runner.run(self.database.read(lambda connection: Seen.of(connection, today)))
        assert seen.live == live_of(self.model)
        self._check_the_gone(seen)
        self._check_supersession(seen)
        for reader in READERS:
            self._check_recall(seen, reader)

    def _check_the_gone(self, seen: Seen) -> None:
        """The number of records never falls, and what lives no longer says why, in an event."""
        gone = {record: (status, status, "active") for record, (status, _) in self.model.gone.items()}
        assert seen.gone == gone
        count = len(seen.gone) + len(seen.live)
        assert count >= self.most
        self.most = count

    def _check_supersession(self, seen: Seen) -> None:
        """Every superseded record has one that took its place, and following them comes to an end."""
        assert set(seen.links) == {(old, heir) for old, (_, heir) in self.model.gone.items() if heir is not None}
        heirs = dict(seen.links)
        for start in heirs:
            passed, at = {start}, start
            while at in heirs:
                at = heirs[at]
                assert at not in passed, "a circle"
                passed.add(at)
            assert at in seen.gone or at in {row[0] for row in seen.live.values()}, "a dangling end"

    def _check_recall(self, seen: Seen, reader: Reader) -> None:
        """Every live fact of the reader's scopes and nothing else, as far as the budget goes."""
        scopes, chat = reader
        may = shown_to(self.model, scopes, chat)
        for budget in BUDGETS:
            pack = seen.packs[reader, budget]
            notes = sum(part.count("_(MEMORY.md goes on") for part in (pack["long_term"], pack["chat"])) * 16
            parts = [part for part in (pack["long_term"], pack["recent"], pack["chat"]) if part]
            assert sum(map(estimate_tokens, parts)) <= budget + notes + len(parts)
            assert estimate_tokens(pack["context"]) <= DEFAULT.working_tokens
            shown = facts_in(pack)
            assert not shown - may, f"{scopes} are shown {shown - may}"
            assert budget < BUDGETS[-1] or shown == may, f"{scopes} are not shown {may - shown}"
        kept = self.model.live.get((chat, "scratchpad", "working"))
        assert seen.pads[chat] == ({name_of(kept.text)} if kept else set())


def _overheard(deed: Deed, heard: list[Callable[[Memory], None]]) -> Callable[[Connection], Callable[[Memory], None]]:
    """`deed`, which also tells what it did when nobody lives to hear that it is done."""

    def work(connection: Connection) -> Callable[[Memory], None]:
        mirror = deed(connection)
        heard.append(mirror)
        return mirror

    return work


async def _survives(work: Awaitable[object]) -> bool:
    try:
        await work
    except StoreError:
        return False
    return True


TestMemory = MemoryMachine.TestCase
TestMemory.settings = effort(10, 15)


def test_the_dresses_of_a_fact_are_one_fact() -> None:
    """The oracle counts on it: one key a row, and no two rows with the same."""
    keys = [{key_of(sanitize(dress, 16_000)) for dress in row} for row in FACTS.values()]
    assert all(len(row) == 1 for row in keys)
    assert len(set.union(*keys)) == len(FACTS)
