"""Remembered, corrected, forgotten, undone in whatever order: nothing is lost, and all of it can be put back."""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.control import export
from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.control.undo import last_undoable_event, undo
from kenobot.cognitive.mirror.paths import is_memory_file
from kenobot.cognitive.remember.admit import admit, correct
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store.events import last_event, record_events
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import UndoError
from kenobot.storage.connection import Connection, connect
from kenobot.storage.migrate import migrate
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.property.effort import effort
from tests.scratch import scratch

SCOPES = ("owner", "chat:telegram-1", "user:telegram-2")
WORDS = ("tea", "cake", "Lyon", "París", "C++", "绿茶")
FACTS = tuple(f"{who} {verb} {what}" for who in ("Ana", "Iñigo") for verb in ("likes", "hates") for what in WORDS)


@dataclass(frozen=True)
class Step:
    """Something that a person does: to the `pick`-th record or event, or with the `pick`-th fact."""

    kind: str
    scope: str
    pick: int


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["remember", "remember", "correct", "forget", "undo", "undo last", "say"]),
        st.sampled_from(SCOPES),
        st.integers(0, 60),
    ),
    max_size=14,
)


class Hands:
    """A memory, and what is done to it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.turn = 0

    @property
    def occasion(self) -> AdmitContext:
        self.turn += 1
        return AdmitContext(START + timedelta(minutes=self.turn), "2026-02-14", "owner", "telegram-1")

    def do(self, step: Step) -> None:
        reach, fact = (step.scope,), FACTS[step.pick % len(FACTS)]
        rows = self.connection.execute("SELECT id FROM record WHERE form != 'box' ORDER BY id").fetchall()
        record = rows[step.pick % len(rows)][0] if rows else 0
        match step.kind:
            case "remember":
                admit(self.connection, Candidate("note", step.scope, fact), self.occasion)
            case "correct":
                try:
                    correct(self.connection, record, fact, reach, self.occasion)
                except (LookupError, ValueError):
                    return
            case "forget":
                forget(self.connection, record, reach, self.occasion)
            case "say":
                self.connection.execute(
                    "INSERT INTO message (session, role, text, at, inbox_id, trust, scope) "
                    "VALUES ('telegram-1', 'user', ?, ?, ?, 'owner', ?)",
                    (fact, stamp(START), self.turn + 1000, step.scope),
                )
                self.turn += 1
            case _:
                wanted = last_undoable_event(self.connection, reach) if step.kind == "undo last" else step.pick + 1
                try:
                    undo(self.connection, wanted or 0, reach, self.occasion)
                except UndoError:
                    return


def meant(connection: Connection) -> list[tuple[object, ...]]:
    """What records mean, bookkeeping and holders left out."""
    return connection.execute(
        "SELECT id, text, status, key, category, subject, tier, trust FROM record WHERE form NOT IN ('box', 'entity') "
        "ORDER BY id"
    ).fetchall()


def veils(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT inbox_id, record_id FROM hidden_turn ORDER BY 1, 2").fetchall()


def check(connection: Connection) -> None:
    live = connection.execute("SELECT scope, form, key FROM record WHERE status = 'active'").fetchall()
    assert len(set(live)) == len(live), "two live records have one key"
    links = connection.execute("SELECT src, dst FROM link WHERE type = 'supersedes'").fetchall()
    heirs: dict[int, set[int]] = {}
    for src, dst in links:
        heirs.setdefault(dst, set()).add(src)
    for start in heirs:
        seen, border = set[int](), {start}
        while border:
            border = {heir for each in border for heir in heirs.get(each, ())} - seen
            seen |= border
        assert start not in seen, "supersession goes round"
    for number, status in connection.execute("SELECT id, status FROM record").fetchall():
        events = record_events(connection, number)
        moved = [happening for happening in events if "status" in happening.previous_values]
        assert status == "active" or moved, f"{number} became {status} without an event"
    hidden = {row[0] for row in connection.execute("SELECT record_id FROM hidden_turn")}
    dead = {row[0] for row in connection.execute("SELECT id FROM record WHERE status = 'forgotten'")}
    assert hidden <= dead, "a turn is hidden for nothing"


@pytest.mark.long
@given(steps)
@effort(20, 12)
def test_nothing_is_lost_and_every_change_can_be_put_back(done: list[Step]) -> None:
    """Records never become fewer, live keys stay unique, each status has its event; undo, and its undo, restore."""
    with scratch() as folder:
        migrate(Path(folder) / "k.db", Path(folder) / "backups")
        connection = connect(Path(folder) / "k.db")
        try:
            hands = Hands(connection)
            count = 0
            for step in done:
                connection.execute("BEGIN")
                before, hidden = meant(connection), veils(connection)
                newest = last_event(connection)
                hands.do(step)
                check(connection)
                now = connection.execute("SELECT count(*) FROM record").fetchone()[0]
                assert now >= count
                count = now
                event = last_undoable_event(connection, (step.scope,))
                if step.kind in ("correct", "forget") and event is not None and event > newest:
                    after, veiled = meant(connection), veils(connection)
                    back = undo(connection, event, (step.scope,), hands.occasion)
                    old = {row[0]: row for row in before}
                    assert [row for row in meant(connection) if row[0] in old] == before
                    assert veils(connection) == hidden
                    check(connection)
                    undo(connection, back.event, (step.scope,), hands.occasion)
                    assert meant(connection) == after
                    assert veils(connection) == veiled
                    check(connection)
                connection.execute("COMMIT")
            _comes_back(connection, Path(folder), hands.occasion)
        finally:
            connection.close()


def _comes_back(connection: Connection, folder: Path, occasion: AdmitContext) -> None:
    """An export of it gives the same memory in another home, and a second import changes nothing."""
    lines = list(export.export(connection, ALL_SCOPES, START))
    migrate(folder / "other.db", folder / "backups")
    other = connect(folder / "other.db")
    try:
        export.import_lines(other, lines, occasion, is_memory_file)
        assert meant(other) == meant(connection)
        assert veils(other) == veils(connection)
        check(other)
        again = export.import_lines(other, lines, replace(occasion, at=occasion.at + timedelta(days=1)), is_memory_file)
        assert not any(again.added.values())
        assert meant(other) == meant(connection)
    finally:
        other.close()
