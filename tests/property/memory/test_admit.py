"""What taking something in promises, whatever is said by whomever in whatever order."""

import json
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.remember.admit import admit, correct, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, term_index
from kenobot.language.similarity import similarity, topic_words
from kenobot.language.statements.statement_relation import (
    is_contrary,
    parse_statement,
    relation,
    repeat_veto,
    same_words,
)
from kenobot.ports.memory import Candidate, Decision, Relation, RelationVerdict
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory

_WHO = st.sampled_from(["Adrian", "Laura", "李雷", "user", "El usuario", "I", ""])
_SAYS = st.sampled_from(
    "likes|does not like|hates|no longer likes|prefers|le gusta|no le gusta|odia|lives in|vive en|works at|is|is not|"
    "喜欢|不喜欢|uses|has|was|liked".split("|")
)
_WHAT = st.sampled_from(
    "tea|green tea|té|茶|C++|C#|Austin|Denver|Lyon|5|-5|34 years old|35 years old|vegan|Friday|Monday|🐶|"
    "jazz and chess|tea in the morning|tea in the evening|Acme|Acme as an engineer|قهوة".split("|")
)
_SENTENCES = st.tuples(_WHO, _SAYS, _WHAT).map(lambda words: " ".join(filter(None, words)))
_TEXTS = _SENTENCES | st.text(max_size=60)
_SCOPES = st.sampled_from(["owner", "chat:s-1", "user:fake-2"])
_RELATIONS: st.SearchStrategy[Relation] = st.sampled_from(["repeat", "contradiction", "independent"])
_CANDIDATES = st.builds(
    Candidate,
    form=st.sampled_from(["note", "note", "episode"]),
    scope=_SCOPES,
    text=_TEXTS,
    category=st.sampled_from(["fact", "preference", "commitment"]),
    source=st.sampled_from(["tag", "extraction", "command", "edit", "sleep", "import"]),
    trust=st.sampled_from(["owner", "owner", "guest", "forward", "model", "tool"]),
    subject=st.sampled_from(["", "", "Laura", "Bob"]),
    attributes=st.sampled_from([(), (), (("city", "Austin"),), (("city", "Denver"), ("job", "baker"))]),
    confidence=st.sampled_from([None, 0.3, 0.6, 0.95]),
    verdicts=st.lists(st.builds(RelationVerdict, st.integers(1, 8), _RELATIONS), max_size=2).map(tuple),
)


@dataclass(frozen=True)
class Step:
    """Something that happens on a day: somebody says something, or a record is forgotten, rewritten or corrected."""

    kind: str
    candidate: Candidate
    record: int
    again: bool


_STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["say", "say", "say", "say", "forget", "supersede", "correct"]),
        candidate=_CANDIDATES,
        record=st.integers(1, 8),
        again=st.booleans(),
    ),
    max_size=10,
)


def _occasion(day: int) -> AdmitContext:
    at = START + timedelta(days=day)
    return AdmitContext(at, at.date().isoformat(), "test", "s-1", evidence=day)


def _take(memory: Connection, step: Step, day: int) -> Decision | None:
    occasion = _occasion(day)
    if step.kind == "forget":
        forget(memory, step.record, (step.candidate.scope,), occasion)
        return None
    if step.kind == "supersede":
        return supersede(memory, step.record, replace(step.candidate, source="edit", trust="owner"), occasion)
    if step.kind == "correct":
        try:
            return correct(memory, step.record, step.candidate.text, (step.candidate.scope,), occasion)
        except (LookupError, ValueError):
            return None
    return admit(memory, step.candidate, occasion)


def _rows(memory: Connection) -> dict[int, tuple[object, ...]]:
    """Every record whole, by id, but for the event that last changed what is shown."""
    names = [row[1] for row in memory.execute("PRAGMA table_info(record)") if row[1] != "changed_event"]
    return {row[0]: row for row in memory.execute(f"SELECT {', '.join(names)} FROM record")}


def _check(memory: Connection) -> None:
    """What holds after every step."""
    keys = memory.execute("SELECT scope, form, key FROM record WHERE status = 'active'").fetchall()
    assert len(keys) == len(set(keys)), "two live records with one key"
    links = memory.execute("SELECT src, dst FROM link WHERE type = 'supersedes'").fetchall()
    ids = dict(memory.execute("SELECT id, status FROM record").fetchall())
    assert all(src in ids and dst in ids for src, dst in links), "a dangling end"
    assert all(ids[dst] != "active" for _, dst in links), "something live has been superseded"
    heirs: dict[int, set[int]] = {}
    for src, dst in links:
        heirs.setdefault(dst, set()).add(src)
    for start in heirs:
        seen: set[int] = set()
        front = {start}
        while front:
            front = {heir for each in front for heir in heirs.get(each, ())}
            assert start not in front, "a circle"
            front -= seen
            seen |= front
    assert memory.execute("SELECT count(*) FROM record WHERE confidence < 0 OR confidence > 1").fetchone() == (0,)
    filed = {row[0] for row in memory.execute("SELECT DISTINCT record_id FROM term_index")}
    assert all(ids[number] == "active" for number in filed), "something gone is still filed"


@given(_STEPS)
@settings(max_examples=60)
def test_memory_holds_together_whatever_is_said(steps: list[Step]) -> None:
    """One live record a key, no circle, no dangling end, nothing lost; and the same twice is the same once."""
    with open_memory() as memory:
        most = 0
        for day, step in enumerate(steps):
            decision = _take(memory, step, day)
            _check(memory)
            count = memory.execute("SELECT count(*) FROM record").fetchone()[0]
            assert count >= most, "a record is lost"
            most = count
            if step.again and step.kind == "say" and decision is not None:
                rows = _rows(memory)
                again = _take(memory, step, day)
                assert again is not None and again.record in (decision.record, None)
                assert _rows(memory).keys() == rows.keys()
                assert {number: row for number, row in _rows(memory).items() if row != rows[number]}.keys() <= {
                    decision.record
                }


@given(_STEPS)
@settings(max_examples=60)
def test_every_change_can_be_put_back(steps: list[Step]) -> None:
    """What the events of a step say that columns held makes of each record what it was, status and all."""
    with open_memory() as memory:
        for day, step in enumerate(steps):
            held, last = _rows(memory), events.last_event(memory)
            _take(memory, step, day)
            now = _rows(memory)
            names = [row[1] for row in memory.execute("PRAGMA table_info(record)") if row[1] != "changed_event"]
            restored = {number: dict(zip(names, row, strict=True)) for number, row in now.items()}
            for event in range(events.last_event(memory), last, -1):
                found = events.get_event(memory, event)
                if found is not None and found.record in restored:
                    restored[found.record].update(found.previous_values)
            assert {number: tuple(restored[number].values()) for number in held} == held
            made = now.keys() - held.keys()
            told = {
                row[0]: json.loads(row[1])
                for row in memory.execute(
                    "SELECT record_id, data FROM event WHERE id > ? AND type = 'created'", (last,)
                )
            }
            forms = dict(memory.execute("SELECT id, form FROM record").fetchall())
            assert {number for number in made if forms[number] != "box"} <= told.keys()
            assert all(data["reason"] for data in told.values())


@given(_TEXTS, _TEXTS)
def test_comparing_is_fair(one: str, other: str) -> None:
    """Nearness is symmetric and bounded; what contradicts is contradicted, and is never the same."""
    assert similarity(one, other) == similarity(other, one)
    assert 0 <= similarity(one, other) <= 1
    a, b = parse_statement(one), parse_statement(other)
    assert is_contrary(a, b) == is_contrary(b, a)
    assert same_words(a, b) == same_words(b, a)
    assert not (is_contrary(a, b) and same_words(a, b))
    assert bool(repeat_veto(one, other, read=False)) == bool(repeat_veto(other, one, read=False))
    if relation(one, other) == "contradiction":
        assert repeat_veto(one, other, read=True)


@given(st.lists(_SENTENCES, min_size=1, max_size=12, unique=True), st.data())
def test_what_says_nearly_the_same_is_found(texts: list[str], data: st.DataObject) -> None:
    """A lookup finds the text itself, and its denial, among whatever else is remembered of that subject."""
    with open_memory() as memory:
        for day, text in enumerate(texts):
            admit(memory, Candidate("episode", "owner", text), _occasion(day))
        sought = data.draw(st.sampled_from(texts))
        found = [record.text for record, _ in term_index.neighbours(memory, "owner", "owner", sought, 12)]
        known = memory.execute("SELECT count(*) FROM term_index").fetchone()[0]
        if topic_words(sought) and known:
            keys = {row[0] for row in memory.execute("SELECT text FROM record WHERE status = 'active'")}
            assert sought in found or sought not in keys or len(found) == 12
        assert term_index.neighbours(memory, "chat:s-1", "owner", sought) == []
        assert term_index.neighbours(memory, "owner", "laura", sought) == []
