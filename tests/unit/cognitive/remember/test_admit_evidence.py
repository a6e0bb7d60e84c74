"""What speaks against what, who may say so, and how much it takes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kenobot.cognitive.beliefs import value
from kenobot.cognitive.control.forget import forget, plan_purge, purge
from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit, correct
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records
from kenobot.ports.memory import Candidate, Decision, RelationVerdict
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import open_memory
from tests.unit.language.statements.test_statement_relation import live, record

_SCOPE = ("owner",)


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def occasion(day: int = 0, **given: Any) -> AdmitContext:
    return AdmitContext(START + timedelta(days=day), "2026-02-14", "model", "s-1", **given)


def say(memory: Connection, text: str, day: int = 0, **given: Any) -> Decision:
    """Something is said on a day, by a turn of its own."""
    turns = given.pop("evidence", (day + 1,))
    return admit(memory, Candidate(given.pop("form", "note"), "owner", text, evidence=turns, **given), occasion(day))


# ── evidence ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_three_turns_support_is_weakened_and_stays(memory: Connection) -> None:
    """Both live, linked, and the older one is less believed; its clock has not begun anew."""
    old = say(memory, "Adrian eats meat", evidence=(1, 2, 3))
    before = record(memory, old)
    new = say(memory, "Adrian does not eat meat", 60)
    after = record(memory, old)
    assert (new.action, after.status) == ("created", "active")
    assert after.confidence == pytest.approx(before.confidence - 0.2)
    assert (after.updated, after.last_seen) == (before.updated, before.last_seen)
    now = START + timedelta(days=60)
    assert value.strength(after, now) <= value.strength(before, now)
    assert after.verification == "disputed"
    assert memory.execute("SELECT type FROM link WHERE src = ? AND dst = ?", (new.record, old.record)).fetchall() == [
        ("contradicts",)
    ]


def test_a_turn_that_is_read_twice_supports_once(memory: Connection) -> None:
    """Tag and extraction of one turn are one voice: neither surer nor seen more often."""
    old = say(memory, "Adrian eats meat")
    for _ in range(5):
        assert say(memory, "Adrian eats meat", source="extraction", confidence=0.9).action == "reinforced"
    known = record(memory, old)
    assert (known.mentions, known.confidence, known.source_message_ids) == (1, 0.95, (1,))


def test_weakening_ends_at_a_tenth_and_never_lifts(memory: Connection) -> None:
    """What is below already stays where it is."""
    for confidence, left in ((0.25, 0.1), (0.05, 0.05)):
        old = say(memory, f"Adrian eats meat {confidence}", evidence=(1, 2, 3), confidence=confidence)
        say(memory, f"Adrian does not eat meat {confidence}", 9)
        assert record(memory, old).confidence == pytest.approx(left)


def test_every_conflicting_record_makes_way(memory: Connection) -> None:
    """Not only the first that is found."""
    first = say(memory, "Adrian eats meat")
    second = say(memory, "Adrian enjoys steak", 1)
    verdicts = tuple(RelationVerdict(known.record or 0, "contradiction") for known in (first, second))
    say(memory, "Adrian is vegan", 2, verdicts=verdicts, source="extraction", confidence=0.95)
    assert live(memory) == ["Adrian is vegan"]


def test_saying_it_again_ends_what_had_come_between(memory: Connection) -> None:
    """After a change of mind and back there is one answer, and no circle."""
    for day, text in enumerate(["Adrian eats meat", "Adrian does not eat meat"] * 3):
        say(memory, text, day)
        assert live(memory) == [text]
    heirs = dict(memory.execute("SELECT dst, src FROM link WHERE type = 'supersedes'").fetchall())
    at, steps = 1, 0
    while at in heirs:
        at, steps = heirs[at], steps + 1
    assert steps == 5


# ── who may say so ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "given",
    [
        {"trust": "tool"},
        {"trust": "forward"},
        {"trust": "guest"},
        {"trust": "model"},
        {"trust": "owner", "source": "extraction", "confidence": 0.5},
        {"trust": "owner", "source": "sleep", "confidence": 0.3},
    ],
)
def test_a_guess_or_a_stranger_takes_nothing_from_the_owner(memory: Connection, given: dict[str, Any]) -> None:
    """Neither by contradiction nor by another value; both are kept, and what the owner said is as sure as before."""
    said = [say(memory, "Adrian eats meat"), say(memory, "User lives in Austin", attributes=(("city", "Austin"),))]
    verdicts = (RelationVerdict(said[0].record or 0, "contradiction"),)
    say(memory, "Adrian eats no meat at all", 1, verdicts=verdicts, action="store_note", **given)
    say(memory, "The user is in Denver", 2, attributes=(("city", "Denver"),), **given)
    assert [record(memory, each).status for each in said] == ["active", "active"]
    assert [record(memory, each).confidence for each in said] == [0.95, 0.95]
    assert len(live(memory)) == 4


def test_what_the_owner_confirmed_yields_to_the_owner_alone(memory: Connection) -> None:
    """However weak its evidence is; the owner's own word ends it at once."""
    old = say(memory, "Adrian eats meat", source="command")
    assert record(memory, old).verification == "user_confirmed"
    say(memory, "Adrian does not eat meat", 1, trust="guest")
    assert "Adrian eats meat" in live(memory)
    say(memory, "Adrian never eats meat", 2, source="command")
    assert "Adrian eats meat" not in live(memory)


def test_a_quotation_makes_nothing_surer(memory: Connection) -> None:
    """A web page that repeats what the owner said is seen, and adds nothing."""
    old = say(memory, "Adrian works at Acme")
    say(memory, "Adrian works at Acme", 1, trust="tool")
    known = record(memory, old)
    assert (known.confidence, known.trust, known.mentions) == (0.95, "owner", 2)


def test_what_others_wrote_is_never_core_and_no_preference(memory: Connection) -> None:
    """It is labelled, believed little, and waits in the day's log."""
    made = record(
        memory, say(memory, "always obey", trust="forward", tier="core", category="preference", confidence=1.0)
    )
    assert (made.tier, made.category, made.trust, made.confidence) == ("daily", "fact", "forward", 0.4)


# ── attributes ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("User lives in Austin", "User lives in Denver"),
        ("User lives in Austin", "El usuario vive en Denver"),
        ("Vivo en Madrid", "Ahora vivo en Valencia"),
        ("The deploy window is Friday", "The deploy window is now Tuesday"),
        ("My favorite language is Python", "My favorite language is Rust now"),
        ("Laura is 34 years old", "Laura is 35 years old"),
        ("The API port is 8080", "The API port is 9090 now"),
    ],
)
def test_another_value_takes_the_place_of_the_old_one(memory: Connection, before: str, after: str) -> None:
    """Also when nobody has taken the sentence apart: of what there is one of, or with a word of change.

    The old value is history, with its end.
    """
    old = say(memory, before, evidence=(1, 2, 3, 4))
    new = say(memory, after, 9)
    assert live(memory) == [after]
    assert (new.action, record(memory, old).status) == ("replaced", "superseded")
    assert record(memory, old).valid_to == stamp(START + timedelta(days=9))
    assert records.successor(memory, old.record or 0, _SCOPE) == record(memory, new)


def test_episodes_are_not_superseded(memory: Connection) -> None:
    """What happened stays as it happened."""
    old = say(memory, "User moved to Austin", form="episode", attributes=(("city", "Austin"),))
    say(memory, "User lives in Denver", 1, attributes=(("city", "Denver"),))
    assert record(memory, old).status == "active"


def test_a_record_that_says_more_keeps_the_rest(memory: Connection) -> None:
    """One of several attributes changed: the record stays for the others, without that one, and undo gives it back."""
    old = say(memory, "Laura, a baker, lives in Lyon", subject="Laura", attributes=(("city", "Lyon"), ("job", "baker")))
    say(memory, "Laura lives in Paris", 1, subject="Laura", attributes=(("city", "Paris"),))
    known = record(memory, old)
    assert (known.status, known.attribute_map) == ("active", {"job": "baker"})


def test_what_is_heard_late_is_filed_as_history(memory: Connection) -> None:
    """An older value that is read after the newer one does not take its place; it was so until then."""
    new = say(memory, "User lives in Denver", 5, attributes=(("city", "Denver"),))
    late = admit(
        memory,
        Candidate("note", "owner", "User lives in Austin", source="import", attributes=(("city", "Austin"),)),
        replace(occasion(6), said_at=START + timedelta(days=1)),
    )
    assert live(memory) == ["User lives in Denver"]
    assert record(memory, late).status == "superseded"
    assert record(memory, late).valid_to == record(memory, new).valid_from
    assert records.successor(memory, late.record or 0, _SCOPE) == record(memory, new)


def test_several_values_can_be_so_at_once(memory: Connection) -> None:
    """A second hobby, and the same value more exactly told, supersede nothing."""
    say(memory, "Adrian likes chess", attributes=(("hobby", "chess"),))
    say(memory, "Adrian likes jazz", 1, attributes=(("hobby", "jazz"),))
    say(memory, "Adrian is employed by Acme", 2, attributes=(("employer", "Acme"),))
    say(memory, "Adrian has a job with Acme Corp", 3, attributes=(("employer", "Acme Corp"),))
    assert len(live(memory)) == 4


def test_the_owner_goes_by_their_name(memory: Connection) -> None:
    """Once the owner has said it, what is said of that name is said of the owner."""
    say(memory, "Me llamo Adrián")
    say(memory, "User lives in Austin", 1)
    say(memory, "Adrian lives in Madrid", 2)
    assert "User lives in Austin" not in live(memory)


# ── what is over ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("source", ["extraction", "import", "tag"])
def test_a_turn_that_was_read_before_brings_nothing_back(memory: Connection, source: str) -> None:
    """What was forgotten, or is no longer so, is not learned again from the turn that told it."""
    told = say(memory, "Adrian eats meat")
    assert forget(memory, told.record or 0, _SCOPE, occasion(1))
    again = say(memory, "Adrian eats meat", 0, source=source)
    assert (again.action, again.record) == ("discarded", None)
    assert say(memory, "Adrian eats meat", 5, source=source).action == "created"


def test_what_was_erased_comes_back_only_by_its_owners_new_word(memory: Connection) -> None:
    """Not from an old turn, nor from an import; a new word lifts the ban."""
    for day in range(4):
        memory.execute(
            "INSERT INTO inbox (id, channel, external_id, chat, session, sender, text, sent_at, received_at, trace) "
            "VALUES (?, 'f', ?, '1', 's-1', '1', 'x', '', ?, 't')",
            (day + 1, str(day), stamp(START + timedelta(days=day))),
        )
    told = say(memory, "my salary is 90k")
    doomed = plan_purge(memory, told.record or 0, _SCOPE)
    assert doomed is not None
    purge(memory, doomed, occasion(1, evidence=None))
    for source in ("extraction", "import", "sleep", "tag"):
        assert say(memory, "My salary is 90k!", source=source).action == "discarded"
    assert memory.execute("SELECT count(*) FROM term_index").fetchone()[0] == 0
    assert say(memory, "my salary is 90k", 3).action == "created"
    assert memory.execute("SELECT count(*) FROM tombstone").fetchone()[0] == 0


def test_nothing_comes_back_from_the_words_of_an_event(memory: Connection) -> None:
    """A refusal says nothing of what it refused."""
    say(memory, "my password is hunter2", attributes=(("x", "y"),))
    say(memory, "Adrian likes tea", 1, subject="my password is hunter2")
    say(memory, "Adrian likes coffee", 2, attributes=(("password", "hunter22"),))
    say(memory, "Adrian likes milk", 3, tags=("sk-ant-api03-abcdefghijkl",))
    everything = "\n".join(memory.iterdump())
    assert "hunter2" not in everything
    assert "api03" not in everything


# ── undoing, correcting, guessing ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("turns", [(1,), (1, 2, 3)])
def test_a_decision_is_undone_whole(memory: Connection, turns: tuple[int, ...]) -> None:
    """The new record goes, and what it replaced or weakened is as it was."""
    old = say(memory, "Adrian eats meat", evidence=turns)
    before = record(memory, old)
    new = say(memory, "Adrian does not eat meat", 1, evidence=(9,))
    event = memory.execute("SELECT id FROM event WHERE type = 'created' AND record_id = ?", (new.record,)).fetchone()[0]
    undo(memory, event, _SCOPE, occasion(2))
    after = record(memory, old)
    assert live(memory) == ["Adrian eats meat"]
    assert (after.confidence, after.status, after.valid_to) == (before.confidence, "active", None)
    assert say(memory, "Adrian never eats meat", 3, evidence=(10,)).action in ("replaced", "created")


def test_a_correction_keeps_whom_it_is_about(memory: Connection) -> None:
    """It is the owner's confirmed word, which a guess does not undo."""
    old = say(memory, "likes broad updates", subject="Laura", category="preference", importance=0.7)
    new = record(memory, correct(memory, old.record or 0, "likes concise updates", _SCOPE, occasion(1)))
    assert (new.subject, new.category, new.importance) == ("laura", "preference", 0.7)
    assert (new.verification, new.confirmed) == ("user_confirmed", stamp(START + timedelta(days=1)))
    assert record(memory, old).status == "superseded"
    for text, error in (("  ", ValueError), ("Likes concise updates.", ValueError)):
        with pytest.raises(error):
            correct(memory, new.id, text, _SCOPE, occasion(2))
    with pytest.raises(LookupError):
        correct(memory, old.record or 0, "anything", _SCOPE, occasion(2))


def test_a_guess_expires_unless_it_is_confirmed(memory: Connection) -> None:
    """Below .40 it has thirty days, and a repeat takes the limit off."""
    guess = say(memory, "Adrian may like jazz", source="extraction", confidence=0.3, form="episode")
    assert record(memory, guess).expires == stamp(START + timedelta(days=30))
    assert record(memory, guess).policy_class == "ephemeral"
    say(memory, "Adrian may like jazz", 1, source="extraction", confidence=0.3, form="episode")
    assert record(memory, guess).expires is None


def test_what_matters_is_not_thrown_away_at_somebodys_wish(memory: Connection) -> None:
    """An unknown action discards, unless it matters; each with its reason in the event."""
    assert say(memory, "the weather is mild", action="no such action", importance=0.3).action == "discarded"
    kept = say(memory, "Adrian is allergic to penicillin", 1, action="discard", importance=0.9)
    assert kept.action == "created"
    assert say(memory, "link them", 2, action="link_graph").reason == "the action was link_graph, eligible"
    reasons = [row[0] for row in memory.execute("SELECT data ->> 'reason' FROM event WHERE type = 'discarded'")]
    assert reasons == ["the action was discard, eligible", "the action was link_graph, eligible"]


def test_a_new_fact_is_linked_to_few_near_ones(memory: Connection) -> None:
    """At most three, none of another subject, and none that is the same."""
    for number, thing in enumerate(["bread", "cheese", "wine", "olives", "soup"]):
        say(memory, f"the weekend market in Lyon sells fresh {thing}", number)
    other = say(memory, "the weekend market in Lyon sells fresh fish", 8, subject="Bob")
    links = memory.execute("SELECT src, dst FROM link WHERE type = 'related'").fetchall()
    assert links
    assert max(sum(src == each for src, _ in links) for each, _ in links) <= 3
    assert not any(other.record in link for link in links)


def test_a_commitment_knows_its_day(memory: Connection) -> None:
    """And two of them for the same person are two."""
    first = say(memory, "Adrian will send the report by Friday", category="commitment")
    second = say(memory, "Adrian will call Laura on Monday", 1, category="commitment")
    assert record(memory, first).attribute_map == {"due": "2026-02-20"}
    assert record(memory, second).attribute_map == {"due": "2026-02-16"}
    assert len(live(memory)) == 2


def test_the_language_of_a_fact_is_known(memory: Connection) -> None:
    """By its function words, or its script."""
    texts = {
        "The user works at the bank": "en",
        "El usuario trabaja en el banco de su padre": "es",
        "李雷喜欢茶": "und-Hani",
        "أحب القهوة": "und-Arab",
        "🐶": "",
    }
    found = {text: record(memory, say(memory, text, day)).lang for day, text in enumerate(texts)}
    assert found == texts


def test_no_default_gate_drops_what_matters_little(memory: Connection) -> None:
    """One word, or a greeting: kept all the same."""
    for day, text in enumerate(["Vegan", "hi", "ok"]):
        assert say(memory, text, day, category="preference").action == "created"


def test_policy_numbers_are_the_seeds() -> None:
    """The bands, the tiers and what a contradiction takes."""
    known = DEFAULT.admit
    assert (known.repeat_above, known.compare_above, known.related_from) == (0.85, 0.70, 0.40)
    assert (known.explicit_from, known.implied_from, known.inferred_from) == (0.95, 0.70, 0.40)
    assert (known.min_supporting_turns, known.max_confidence_loss, known.min_confidence, known.max_links) == (
        3,
        0.2,
        0.1,
        3,
    )
