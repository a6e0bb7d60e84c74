"""The only way into memory, and the only way out of sight."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records
from kenobot.language.sanitize import sanitize
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.samples import rows, scalar

_NOW = AdmitContext(START, "2026-02-14", "model", "fake-1", evidence=7)
_LATER = replace(_NOW, at=START + timedelta(days=3), day="2026-02-17", evidence=8)
_TEA = Candidate("note", "owner", "Adrian likes tea")


async def _admit(database: Database, candidate: Candidate = _TEA, occasion: AdmitContext = _NOW) -> Decision:
    return await database.write(lambda connection: admit(connection, candidate, occasion))


async def _get(database: Database, decision: Decision) -> Record:
    assert decision.record is not None
    number = decision.record
    record = await database.read(lambda connection: records.get(connection, number, ALL_SCOPES))
    assert record is not None
    return record


async def test_something_new_is_kept_as_it_was_said(database: Database) -> None:
    """With where it came from, how sure it is, and the owner's day."""
    decision = await _admit(database)
    assert (decision.action, decision.record) == ("created", 1)
    record = await _get(database, decision)
    assert (record.text, record.scope, record.form, record.tier, record.day) == (
        "Adrian likes tea",
        "owner",
        "note",
        "daily",
        "2026-02-14",
    )
    assert (record.trust, record.confidence, record.mentions, record.status) == ("owner", 0.95, 1, "active")
    found = await rows(database, "SELECT source, source_messages, valid_from, valid_to FROM record WHERE form = 'note'")
    assert found == [("tag", "[7]", stamp(START), None)]


@pytest.mark.parametrize(
    ("category", "confidence", "also"),
    [("decision", 0.9, "create_artifact"), ("decision", 0.7, None), ("fact", 0.95, None)],
)
async def test_what_is_kept_word_for_word_is_logged_so(
    database: Database, category: str, confidence: float, also: str | None
) -> None:
    """A sure decision gets an artifact beside its file; a guess and a plain fact do not."""
    await _admit(database, replace(_TEA, category=category, confidence=confidence))
    told = "SELECT json_extract(data, '$.also') FROM event WHERE type = 'created' AND record_id = 1"
    assert await rows(database, told) == [(also,)]


async def test_a_repeat_is_news(database: Database) -> None:
    """It makes surer and counts, and there is still one record; its expiry is off, its wording and birth stay."""
    first = await _admit(database, replace(_TEA, trust="guest"))
    await database.write(lambda c: c.execute("UPDATE record SET expires = '2026-03-01'"))
    second = await _admit(database, replace(_TEA, trust="guest", text="  adrian LIKES tea. "), _LATER)
    assert (second.action, second.record) == ("reinforced", first.record)
    record = await _get(database, second)
    assert record.confidence == pytest.approx(0.8)
    assert (record.mentions, record.text) == (2, "Adrian likes tea")
    assert (record.created, record.updated, record.day) == (stamp(START), stamp(START), "2026-02-14")
    found = await rows(database, "SELECT expires, last_seen, source_messages FROM record WHERE form = 'note'")
    assert found == [(None, stamp(_LATER.at), "[7, 8]")]


async def test_nothing_is_surer_than_sure(database: Database) -> None:
    """Confidence ends at one, however often something is said."""
    for number in range(20):
        decision = await _admit(database, _TEA, replace(_NOW, evidence=number))
    assert (await _get(database, decision)).confidence == 1
    assert (await _get(database, decision)).mentions == 20


async def test_the_owners_word_lifts_the_trust(database: Database) -> None:
    """What was forwarded becomes the owner's once the owner says it, and the prompt hears of that; not the reverse."""
    forwarded = await _admit(database, replace(_TEA, trust="forward"))
    before = await _get(database, forwarded)
    await _admit(database, _TEA, _LATER)
    after = await _get(database, forwarded)
    assert (before.trust, after.trust) == ("forward", "owner")
    assert after.confidence >= 0.95
    assert after.changed_event > before.changed_event
    await _admit(database, replace(_TEA, trust="forward"), _LATER)
    assert (await _get(database, forwarded)).trust == "owner"


async def test_a_repeat_alone_changes_no_prompt(database: Database) -> None:
    """The provider's cache must not be lost for a number that nobody sees."""
    decision = await _admit(database)
    before = (await _get(database, decision)).changed_event
    await _admit(database, _TEA, _LATER)
    assert (await _get(database, decision)).changed_event == before


@pytest.mark.parametrize(
    "other",
    [
        replace(_TEA, scope="chat:fake-1"),
        replace(_TEA, scope="user:fake-2"),
        replace(_TEA, form="episode"),
        replace(_TEA, text="Adrian likes black tea"),
    ],
)
async def test_another_scope_form_or_text_is_another_record(database: Database, other: Candidate) -> None:
    """Nothing is merged across them."""
    await _admit(database)
    assert (await _admit(database, other)).action == "created"
    assert await scalar(database, "SELECT count(*) FROM record WHERE status = 'active' AND form != 'box'") == 2


async def test_a_slot_holds_one_text(database: Database) -> None:
    """A new one replaces the old, which stays in the event; the same one again only reinforces."""
    pad = Candidate("scratchpad", "chat:fake-1", "- buy milk", slot="working")
    first = await _admit(database, pad)
    changed = (await _get(database, first)).changed_event
    second = await _admit(database, replace(pad, text="- buy bread"), _LATER)
    third = await _admit(database, replace(pad, text="- buy bread"), _LATER)
    assert [first.action, second.action, third.action] == ["created", "replaced", "reinforced"]
    assert first.record == second.record == third.record
    record = await _get(database, first)
    assert (record.text, record.day, record.updated) == ("- buy bread", "2026-02-17", stamp(_LATER.at))
    assert record.changed_event > changed
    [(data,)] = await rows(database, "SELECT data FROM event WHERE type = 'replaced'")
    assert json.loads(str(data))["was"]["text"] == "- buy milk"
    other = await _admit(database, replace(pad, scope="chat:fake-2"))
    assert other.action == "created"


async def test_a_slot_takes_over_the_trust_of_its_text(database: Database) -> None:
    """A forwarded text in the owner's slot is not the owner's word."""
    pad = Candidate("profile", "chat:fake-1", "friends", slot="context")
    await _admit(database, pad)
    decision = await _admit(database, replace(pad, text="obey", trust="forward"))
    assert (await _get(database, decision)).trust == "forward"


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n", "\0\x07", "\x7f"])
async def test_nothing_is_discarded(database: Database, text: str) -> None:
    """An empty text leaves an event and no record."""
    decision = await _admit(database, replace(_TEA, text=text))
    assert (decision.action, decision.record) == ("discarded", None)
    assert await rows(database, "SELECT type, record_id FROM event") == [("discarded", None)]
    assert await rows(database, "SELECT * FROM record") == []


@pytest.mark.parametrize("slot", ["", "working"])
@pytest.mark.parametrize(
    "text",
    [
        "my password is hunter2",
        "token 123456789:AAFd3kq9ZxcVbnmAsdfGhjkLqwertyUiop0",
        "sk-ant-api03-abcdefghijkl\x00mnop",
    ],
)
async def test_a_secret_is_refused_and_stands_nowhere(database: Database, text: str, slot: str) -> None:
    """Neither in a record nor in an event, also with a control character in it; the reason says what it is."""
    decision = await _admit(database, replace(_TEA, text=text, slot=slot))
    assert (decision.action, decision.record) == ("refused", None)
    assert "looks like" in decision.reason
    everything = str(await rows(database, "SELECT * FROM event")) + str(await rows(database, "SELECT * FROM record"))
    for piece in ("hunter2", "AAFd3kq9", "sk-ant"):
        assert piece not in everything


async def test_every_decision_is_an_event_with_its_reason(database: Database) -> None:
    """Who, when, where, what came of it and why."""
    await _admit(database)
    await _admit(database, _TEA, _LATER)
    found = await rows(
        database,
        "SELECT at, session, actor, type, record_id, json_object('reason', data ->> 'reason') FROM event "
        "WHERE type IN ('created', 'reinforced') ORDER BY id",
    )
    assert found == [
        (stamp(START), "fake-1", "model", "created", 1, '{"reason":"it is new"}'),
        (stamp(_LATER.at), "fake-1", "model", "reinforced", 1, '{"reason":"it was known already"}'),
    ]


async def test_a_failing_turn_takes_its_memories_along(database: Database) -> None:
    """What is admitted stands or falls with the transaction."""

    def work(connection: Connection) -> None:
        admit(connection, _TEA, _NOW)
        raise ValueError("the turn broke")

    with pytest.raises(ValueError, match="broke"):
        await database.write(work)
    assert await scalar(database, "SELECT count(*) FROM record") == 0
    assert await scalar(database, "SELECT count(*) FROM event") == 0


# ── cleaning ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  plain  ", "plain"),
        ("a\r\nb\rc\nd\te", "a\nb\nc\nd\te"),
        ("a\0b\x1b[2Jc\x7fd", "ab[2Jcd"),
        ("half \ud83d", "half ?"),
        ("ñ 你好 مرحبا 👩‍👩‍👧", "ñ 你好 مرحبا 👩‍👩‍👧"),
        ("x" * 200, "x" * 100),
    ],
)
def test_cleaning(text: str, expected: str) -> None:
    """No control characters but line breaks and tabs, no lone surrogates, not too long."""
    assert sanitize(text, 100) == expected


async def test_a_megabyte_is_cut(database: Database) -> None:
    """A record has an end."""
    decision = await _admit(database, replace(_TEA, text="word " * 200_000))
    assert len((await _get(database, decision)).text) <= Policy().max_text_chars


# ── superseding and forgetting ───────────────────────────────────────────────────────────────────────────────────


async def _status(database: Database) -> dict[object, object]:
    return {row[0]: row[1] for row in await rows(database, "SELECT text, status FROM record WHERE form != 'box'")}


async def test_a_rewritten_line_takes_the_place_of_the_old_one(database: Database) -> None:
    """The old one stays as history, linked from the new."""
    old = await _admit(database)
    new = await database.write(
        lambda c: supersede(c, old.record or 0, replace(_TEA, text="Adrian likes coffee"), _LATER)
    )
    assert new.action == "replaced"
    assert await _status(database) == {"Adrian likes tea": "superseded", "Adrian likes coffee": "active"}
    found = await rows(database, "SELECT src, dst, type FROM link WHERE type = 'supersedes'")
    assert found == [(new.record, old.record, "supersedes")]
    assert (await _get(database, old)).changed_event > (await _get(database, new)).changed_event
    assert await rows(database, "SELECT valid_to FROM record WHERE id = ?", old.record) == [(stamp(_LATER.at),)]


async def test_a_line_rewritten_to_the_same_words_stays(database: Database) -> None:
    """Another spelling of the same is a repeat, not a change."""
    old = await _admit(database)
    same = await database.write(
        lambda c: supersede(c, old.record or 0, replace(_TEA, text="adrian likes tea!"), _LATER)
    )
    assert (same.action, same.record) == ("reinforced", old.record)
    assert await _status(database) == {"Adrian likes tea": "active"}


async def test_a_line_rewritten_to_what_is_known_already_leaves_one(database: Database) -> None:
    """The other record takes the place of the old one."""
    old = await _admit(database)
    known = await _admit(database, replace(_TEA, text="Adrian likes coffee"))
    new = await database.write(
        lambda c: supersede(c, old.record or 0, replace(_TEA, text="Adrian likes coffee"), _LATER)
    )
    assert (new.action, new.record) == ("replaced", known.record)
    assert await _status(database) == {"Adrian likes tea": "superseded", "Adrian likes coffee": "active"}


@pytest.mark.parametrize("text", ["", "my password is hunter2"])
async def test_a_line_rewritten_to_what_is_not_kept_leaves_the_old_one(database: Database, text: str) -> None:
    """Nothing takes its place, so nothing is taken away."""
    old = await _admit(database)
    decision = await database.write(lambda c: supersede(c, old.record or 0, replace(_TEA, text=text), _LATER))
    assert decision.record is None
    assert await _status(database) == {"Adrian likes tea": "active"}


async def test_going_back_and_forth_makes_no_circle(database: Database) -> None:
    """Each change is a new record that points at an older one."""
    current = await _admit(database)
    for text in ["coffee", "tea", "coffee", "tea"]:
        candidate = replace(_TEA, text=f"Adrian likes {text}")
        before = current.record or 0
        current = await database.write(lambda c, n=before, x=candidate: supersede(c, n, x, _LATER))  # type: ignore[misc]
    links = await rows(database, "SELECT src, dst FROM link WHERE type = 'supersedes'")
    assert len(links) == 4
    assert all(int(str(source)) > int(str(target)) for source, target in links)
    assert await scalar(database, "SELECT count(*) FROM record WHERE status = 'active' AND form != 'box'") == 1


async def test_what_is_forgotten_is_out_of_sight_but_not_erased(database: Database) -> None:
    """With an event that says what it was before; forgetting it twice, or what never was, is told."""
    decision = await _admit(database)
    number = decision.record or 0
    assert await database.write(lambda c: forget(c, number, ALL_SCOPES, _LATER))
    record = await _get(database, decision)
    assert (record.status, record.text) == ("forgotten", "Adrian likes tea")
    was = await scalar(database, "SELECT data -> 'was' -> 'status' FROM event WHERE type = 'forgotten'")
    assert was == '"active"'
    for unknown in (number, 999):
        assert not await database.write(lambda c, n=unknown: forget(c, n, ALL_SCOPES, _LATER))  # type: ignore[misc]
    assert await scalar(database, "SELECT count(*) FROM event WHERE type = 'forgotten'") == 1


@pytest.mark.parametrize("away", ["forget", "supersede"])
async def test_what_has_gone_can_be_learned_again(database: Database, away: str) -> None:
    """As something new: its key died with it."""
    old = await _admit(database)
    number = old.record or 0
    leave: Callable[[Connection], object] = (
        (lambda c: forget(c, number, ALL_SCOPES, _NOW))
        if away == "forget"
        else (lambda c: supersede(c, number, replace(_TEA, text="no more tea"), _NOW))
    )
    await database.write(leave)
    again = await _admit(database, _TEA, _LATER)
    assert again.action == "created"
    assert again.record != old.record
