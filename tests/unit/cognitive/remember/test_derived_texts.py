"""What was made of a memory follows it when it is corrected, by whatever door, and when that is undone."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.remember.admit import admit, correct, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.conflicts import end_record
from kenobot.cognitive.remember.derived_texts import FOLLOWED, bring_up_to_date
from kenobot.cognitive.sleep.consolidate import weeks
from kenobot.cognitive.store import events, links, records, tiers
from kenobot.language.summary.digest import Digest, SummaryLine
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Candidate, RelationVerdict
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out

SATURDAY = datetime(2026, 2, 14, 14, 30, tzinfo=UTC)
WEEK = timedelta(days=7)
LATER = SATURDAY + 2 * WEEK

ENGLISH = ("Leo is Carmen's son and is seven", "Leo is Carmen's son and is eight", "seven", "eight")
SPANISH = ("Leo es hijo de Carmen y tiene siete años", "Leo es hijo de Carmen y tiene ocho años", "siete", "ocho")
LANGUAGES = pytest.mark.parametrize("words", [ENGLISH, SPANISH], ids=["en", "es"])


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def occasion(at: datetime = SATURDAY, actor: str = "owner") -> AdmitContext:
    return AdmitContext(at, at.date().isoformat(), actor)


def tell(memory: Connection, text: str, at: datetime = SATURDAY) -> int:
    decision = admit(memory, Candidate("note", "owner", text, trust="owner"), occasion(at))
    assert decision.record is not None
    return decision.record


def sum_up_chat(memory: Connection, *lines: str, scope: str = "owner", session: str = "telegram-1") -> int:
    """Put in the summary of a chat whose talk goes to `scope`."""
    memory.execute(
        "INSERT INTO message (session, role, text, at, scope) VALUES (?, 'user', 'hi', ?, ?)",
        (session, SATURDAY.isoformat(), scope),
    )
    held = Digest(tuple(SummaryLine(line, "owner") for line in lines), (), 1, SATURDAY.isoformat())
    candidate = Candidate(
        "summary", f"chat:{session}", held.text, "session", "sleep", held.trust, slot="session",
        attributes=tuple(held.attributes.items()),
    )  # fmt: skip
    number = admit(memory, candidate, occasion(actor="compaction")).record
    assert number is not None
    return number


def by_correction(memory: Connection, old: int, text: str) -> int:
    """As the dashboard, `/correct` and the command line do."""
    return correct(memory, old, text, ALL_SCOPES, occasion(LATER)).record or 0


def by_file(memory: Connection, old: int, text: str) -> int:
    """As the edit of a line or a record's file does."""
    known = get(memory, old)
    candidate = Candidate("note", "owner", text, source="edit", trust="owner")
    return supersede(memory, old, candidate, replace(occasion(LATER), day=known.day)).record or 0


def by_talk(memory: Connection, old: int, text: str) -> int:
    """As a model does that reads a conversation."""
    verdict = RelationVerdict(old, "contradiction")
    candidate = Candidate("note", "owner", text, source="extraction", trust="owner", verdicts=(verdict,))
    return admit(memory, candidate, occasion(LATER, "extraction")).record or 0


Door = Callable[[Connection, int, str], int]
DOORS = pytest.mark.parametrize("door", [by_correction, by_file, by_talk])


@LANGUAGES
@DOORS
def test_a_chats_summary_says_what_holds_now_behind_what_was_said(
    memory: Connection, door: Door, words: tuple[str, str, str, str]
) -> None:
    """The line keeps its words, no other line changes, and an undo of the correction takes away what was added."""
    former, current, old_word, new_word = words
    old = tell(memory, former)
    summary = sum_up_chat(memory, f"2026-02-14 {former}", "2026-02-14 The tax papers are in the blue folder")
    before = get(memory, summary)
    new = door(memory, old, current)
    after = get(memory, summary)
    first, second = after.text.split("\n")
    assert first.startswith(f"- 2026-02-14 {former} (") and first.endswith(f" {current} #{new})")
    assert second == "- 2026-02-14 The tax papers are in the blue folder"
    assert old_word in first and new_word in first
    steps = events.record_events(memory, summary)
    assert steps[-1].kind == FOLLOWED and steps[-1].reason
    undo(memory, events.last_decision_on(memory, new) or 0, ALL_SCOPES, occasion(LATER))
    assert get(memory, summary).text == before.text


def test_what_followed_can_be_undone_by_itself(memory: Connection) -> None:
    """The former text of a chat's summary comes back, and the correction stays."""
    old = tell(memory, ENGLISH[0])
    summary = sum_up_chat(memory, f"2026-02-14 {ENGLISH[0]}")
    new = by_correction(memory, old, ENGLISH[1])
    undo(memory, events.record_events(memory, summary)[-1].id, ALL_SCOPES, occasion(LATER))
    assert get(memory, summary).text == f"- 2026-02-14 {ENGLISH[0]}"
    assert get(memory, new).status == "active"


def test_a_correction_reaches_no_other_persons_chat(memory: Connection) -> None:
    """The summary of a group, or of a guest's chat, learns nothing of what is remembered elsewhere."""
    old = tell(memory, ENGLISH[0])
    group = sum_up_chat(memory, f"2026-02-14 {ENGLISH[0]}", scope="chat:telegram-9", session="telegram-9")
    guest = sum_up_chat(memory, f"2026-02-14 {ENGLISH[0]}", scope="user:bob", session="telegram-8")
    by_correction(memory, old, ENGLISH[1])
    assert "eight" not in get(memory, group).text + get(memory, guest).text


@pytest.mark.parametrize(("trust", "expected"), [("owner", "oo"), ("forward", "fo")])
def test_a_line_is_trusted_as_the_least_of_what_it_says(memory: Connection, trust: Trust, expected: str) -> None:
    """What others said, put beside the owner's words, makes of them what is quoted."""
    old = put_record(memory, ENGLISH[0], trust="forward").id
    summary = sum_up_chat(memory, f"2026-02-14 {ENGLISH[0]}", "2026-02-14 Ana called")
    correct(memory, old, ENGLISH[1], ALL_SCOPES, occasion(LATER), trust=trust)
    assert get(memory, summary).attribute_map["voices"] == expected


@LANGUAGES
@DOORS
def test_a_weeks_summary_is_written_anew_at_once(
    memory: Connection, door: Door, words: tuple[str, str, str, str]
) -> None:
    """It says what holds now where the fact keeps its day, no longer what was wrong, and loses nothing else."""
    former, current, old_word, new_word = words
    old = tell(memory, former)
    tell(memory, "The tax papers are in the blue folder")
    carry_out(memory, weeks.PASS, SATURDAY + WEEK)
    new = door(memory, old, current)
    week = _week(memory)
    assert old_word not in week.text and "blue folder" in week.text
    assert (new_word in week.text) is (door is not by_talk)
    assert not tiers.has_ended_source(memory, "owner", week.id)
    assert not [each for each in carry_out(memory, weeks.PASS, LATER) if each.record == week.id]
    undo(memory, events.last_decision_on(memory, new) or 0, ALL_SCOPES, occasion(LATER))
    assert old_word in _week(memory).text and new_word not in _week(memory).text


def test_a_week_of_nothing_else_ends_and_comes_back(memory: Connection) -> None:
    """When its one fact ends without another in its place, the summary ends; the night after the undo writes it."""
    old = tell(memory, ENGLISH[0])
    carry_out(memory, weeks.PASS, SATURDAY + WEEK)
    event = end_record(memory, get(memory, old), "invalidated", occasion(LATER).change_context("no"))
    assert records.slot_record(memory, "owner", "summary", "week:2026-W07") is None
    undo(memory, event, ALL_SCOPES, occasion(LATER))
    carry_out(memory, weeks.PASS, LATER)
    assert "seven" in _week(memory).text


def test_what_a_person_wrote_into_a_weeks_file_stays(memory: Connection) -> None:
    """Their words are not rewritten, and a recall passes the page by until a night adds what holds now."""
    old = tell(memory, ENGLISH[0])
    carry_out(memory, weeks.PASS, SATURDAY + WEEK)
    mine = Candidate("summary", "owner", "Leo (seven) came by.", "week", "edit", "owner", slot="week:2026-W07")
    admit(memory, mine, occasion(SATURDAY + WEEK))
    by_correction(memory, old, ENGLISH[1])
    assert _week(memory).text == "Leo (seven) came by."
    assert tiers.has_ended_source(memory, "owner", _week(memory).id)
    carry_out(memory, weeks.PASS, LATER + WEEK)
    assert _week(memory).text.startswith("Leo (seven) came by.") and ENGLISH[1] in _week(memory).text


def test_a_conclusion_the_profile_and_a_question_follow(memory: Connection) -> None:
    """The profile has the new words, a conclusion has them beside its own, a question about what ended ends."""
    old = tell(memory, "Prefers tea with two sugars")
    page = _derive(memory, old, "- Prefers tea with two sugars\n- Likes short answers", "profile", slot="person")
    meta = _derive(memory, old, "Is careful with tea, of which two sugars are a sign", "note", category="meta")
    asked = _derive(memory, old, "Does Ana prefer tea?", "question")
    new = by_correction(memory, old, "Prefers tea with three sugars")
    assert get(memory, page).text == "- Prefers tea with three sugars\n- Likes short answers"
    beside = f"Is careful with tea, of which two sugars are a sign (Now: Prefers tea with three sugars #{new})"
    assert get(memory, meta).text == beside
    assert get(memory, asked).status == "expired"
    undo(memory, events.last_decision_on(memory, new) or 0, ALL_SCOPES, occasion(LATER))
    assert get(memory, page).text == "- Prefers tea with two sugars\n- Likes short answers"
    assert get(memory, meta).text == "Is careful with tea, of which two sugars are a sign"


def test_a_confidence_is_not_put_into_a_conclusion(memory: Connection) -> None:
    """What was told in confidence is told only by its own record: a conclusion says that it is no longer so."""
    old = tell(memory, "Earns 2000 euros")
    memory.execute("UPDATE record SET tags = '[\"confided\"]' WHERE id = ?", (old,))
    meta = _derive(memory, old, "Lives well on 2000 euros that are what they earn", "note", category="meta")
    by_correction(memory, old, "Earns 3000 euros")
    assert "3000" not in get(memory, meta).text


def test_a_summary_made_later_of_older_talk_says_what_holds_now(memory: Connection) -> None:
    """What leaves the prompt after the correction, and was said before it, has the correction behind it too."""
    sum_up_chat(memory, "2026-02-13 Ana called")
    old = tell(memory, ENGLISH[0])
    new = by_correction(memory, old, ENGLISH[1])
    fresh = Digest((SummaryLine("2026-02-14 My nephew Leo is seven", "owner"), SummaryLine("2026-02-14 Hi", "owner")))
    lines = bring_up_to_date(memory, "telegram-1", fresh).lines
    assert [line.text for line in lines] == [
        f"2026-02-14 My nephew Leo is seven (Now: {ENGLISH[1]} #{new})",
        "2026-02-14 Hi",
    ]


def _week(memory: Connection) -> Record:
    found = records.slot_record(memory, "owner", "summary", "week:2026-W07")
    assert found is not None
    return found


def _derive(memory: Connection, source: int, text: str, form: str, *, category: str = "", slot: str = "") -> int:
    held: dict[str, str | float] = {"form": form, "category": category or form, "source": "sleep"}
    if slot:
        held["key"] = f"slot:{slot}"
    made = put_record(memory, text, columns=held)
    links.add_link(memory, made.id, source, "derived", SATURDAY.isoformat(), "sleep")
    return made.id
