"""Two statements are one only when they mean the same: what the original systems took for a repeat, and lost."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records
from kenobot.language.similarity import similarity
from kenobot.language.statements.statement_relation import relation, repeat_veto
from kenobot.ports.memory import Candidate, Decision, RelationVerdict
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def say(memory: Connection, text: str, turn: int = 1, **given: Any) -> Decision:
    """The owner's turn number `turn` says `text`."""
    near = given.pop("near", None)
    occasion = AdmitContext(START + timedelta(minutes=turn), "2026-02-14", "model", "s-1", evidence=turn, nearness=near)
    return admit(memory, Candidate(given.pop("form", "note"), "owner", text, **given), occasion)


def live(memory: Connection) -> list[str]:
    """What is remembered, in the order it came."""
    rows = memory.execute("SELECT text FROM record WHERE status = 'active' AND form != 'box' ORDER BY id")
    return [row[0] for row in rows]


def record(memory: Connection, decision: Decision) -> Record:
    assert decision.record is not None
    found = records.get(memory, decision.record, ("owner",))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("User is allergic to peanuts", "User is NOT allergic to peanuts"),
        ("User is allergic to peanuts", "The user isn’t allergic to peanuts"),
        ("Adrian likes cilantro", "Adrian dislikes cilantro"),
        ("Adrian prefers meetings", "Adrian avoids meetings"),
        ("A Adrian le gusta el cilantro", "Adrian odia el cilantro"),
        ("Como carne", "Ya no como carne"),
        ("Adrian eats meat", "Adrian doesn't eat meat"),
        ("李雷喜欢茶", "李雷不喜欢茶"),
        ("أحب القهوة", "لا أحب القهوة"),
        ("Я люблю чай", "Я не люблю чай"),
    ],
)
def test_a_denial_is_never_a_repeat(memory: Connection, before: str, after: str) -> None:
    """However near the texts are; what was said before makes way, and is linked to what is so now."""
    old = say(memory, before, 1)
    new = say(memory, after, 2)
    assert new.action == "replaced"
    assert live(memory) == [after]
    assert record(memory, old).status == "invalidated"
    links = set(memory.execute("SELECT src, dst, type FROM link WHERE type IN ('supersedes', 'contradicts')"))
    assert links == {(new.record, old.record, "supersedes"), (new.record, old.record, "contradicts")}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alex prefers tea", "Bob prefers tea"),
        ("李雷喜欢茶", "韩梅喜欢茶"),
        ("علي يحب القهوة", "عمر يحب القهوة"),
        ("uso C++", "uso C#"),
        ("The lock code for the shed begins with 12", "The lock code for the shed begins with 21"),
        ("Adrian drinks tea in the morning", "Adrian drinks tea in the evening"),
        ("Adrian drinks coffee before breakfast", "Adrian drinks coffee after breakfast"),
        ("Adrian likes tea", "Adrian liked tea"),
        ("Adrian has a dog", "Adrian has a dog allergy"),
        ("Adrian eats meat", "Adrian doesn't eat meat on Fridays"),
        ("Adrian likes tea", "Adrian likes tea only when he is ill"),
        ("Adrian likes tea, not coffee", "Adrian likes coffee, not tea"),
        ("Ana is taller than Bob", "Bob is taller than Ana"),
        ("temperatura -5", "temperatura 5"),
        ("🐶 en casa", "🐱 en casa"),
        ("The user visited Lyon on Monday", "The user visited Lyon on Tuesday"),
    ],
)
def test_two_facts_stay_two(memory: Connection, one: str, other: str) -> None:
    """Other names, numbers, dates, signs, times and conditions make another fact, and take nothing away."""
    say(memory, one, 1)
    say(memory, other, 2)
    assert live(memory) == [one, other]


def test_two_people_with_the_same_habits_are_two(memory: Connection) -> None:
    """What is said of one is not heard of the other, even in the same words and with the nearest of vectors."""
    say(memory, "prefers tea", 1, subject="Alex")
    near = {1: 0.99}
    second = say(memory, "prefers tea in the morning", 2, subject="Bob", near=lambda *_: near)
    assert second.action == "created"
    say(memory, "does not like tea", 3, subject="Bob")
    assert [record(memory, Decision("created", "", number)).subject for number in (1, second.record or 0)] == [
        "alex",
        "bob",
    ]
    assert "prefers tea" in live(memory)


def test_the_same_words_about_two_people_are_two_facts(memory: Connection) -> None:
    """Each is strengthened by what is said of that one; words that name somebody need nobody to say of whom."""
    told = [
        say(memory, "prefers tea", turn, subject=who) for turn, who in enumerate(["Alex", "Bob", "", "bob", "alex"])
    ]
    assert [decision.action for decision in told] == ["created", "created", "created", "reinforced", "reinforced"]
    assert [told[0].record, told[1].record] == [told[4].record, told[3].record]
    tagged = say(memory, "Laura likes jazz", 7)
    assert (
        say(memory, "Laura likes jazz", 8, subject="Laura", source="extraction", confidence=0.9).record == tagged.record
    )
    assert record(memory, tagged).subject == "laura"


def test_a_tag_and_the_reading_of_its_turn_make_one_record(memory: Connection) -> None:
    """What the reading says of the subject is added, and the turn still counts once."""
    tagged = say(memory, "Adrian's dog is called Rex", 1)
    told = {"subject": "", "source": "extraction", "confidence": 0.9, "tags": ("pets",)}
    again = say(memory, "Adrian's dog is called Rex", 1, attributes=(("dog_name", "Rex"),), **told)
    known = record(memory, tagged)
    assert (again.action, again.record) == ("reinforced", tagged.record)
    assert (known.mentions, known.confidence, known.tags) == (1, 0.95, '["pets"]')
    assert known.attribute_map["dog_name"] == "Rex"


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("I like tea", "The user likes tea", "I like tea"),
        (
            "Adrian works at Acme",
            "Adrian works at Acme as a senior engineer",
            "Adrian works at Acme as a senior engineer",
        ),
        (
            "Adrian works at Acme as a senior engineer",
            "Adrian works at Acme",
            "Adrian works at Acme as a senior engineer",
        ),
        ("User lives in Austin", "El usuario vive en Austin", "El usuario vive en Austin"),
    ],
)
def test_the_same_in_other_words_is_a_repeat(memory: Connection, before: str, after: str, kept: str) -> None:
    """One record, surer; the fuller wording becomes its text, and the other one stays in the event."""
    old = say(memory, before, 1)
    again = say(memory, after, 2)
    assert (again.action, again.record) == ("reinforced", old.record)
    assert live(memory) == [kept]
    assert record(memory, old).mentions == 2
    assert record(memory, old).source_message_ids == (1, 2)
    if kept != before:
        was = memory.execute("SELECT data ->> '$.was.text' FROM event WHERE type = 'reinforced'").fetchone()[0]
        assert was == before


def test_the_newer_more_specific_wording_is_kept(memory: Connection) -> None:
    """Somebody who read both says that it is a repeat: "Ubuntu 24.04" is not lost for "Linux"."""
    old = say(memory, "User uses Linux", 1)
    again = say(memory, "User uses Ubuntu 24.04", 2, verdicts=(RelationVerdict(old.record or 0, "repeat"),))
    assert again.action == "reinforced"
    assert live(memory) == ["User uses Ubuntu 24.04"]
    assert say(memory, "User uses Ubuntu 24.04", 3).record == old.record
    assert say(memory, "User uses Linux", 4).action == "created"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("User is allergic to peanuts", "User is not allergic to any peanuts"),
        ("Ana is 34 years old today", "Ana is 35 years old today"),
        ("The meeting moved to Monday morning", "The meeting moved to Friday morning"),
        ("Adrian loves cilantro a lot", "Adrian hates cilantro a lot"),
    ],
)
def test_no_verdict_makes_a_denial_or_another_number_a_repeat(memory: Connection, before: str, after: str) -> None:
    """A model that calls it a repeat is not believed."""
    old = say(memory, before, 1)
    assert repeat_veto(before, after, read=True)
    again = say(memory, after, 2, verdicts=(RelationVerdict(old.record or 0, "repeat"),))
    assert again.record != old.record
    assert after in live(memory)


def test_a_verdict_about_what_is_gone_or_about_somebody_else_is_void(memory: Connection) -> None:
    """What was read has changed since: memory looks again before it believes."""
    theirs = say(memory, "likes jazz", 1, subject="Bob")
    mine = say(memory, "Adrian likes green tea", 2)
    say(memory, "Adrian does not like green tea", 3)
    verdicts = (
        RelationVerdict(theirs.record or 0, "repeat"),
        RelationVerdict(mine.record or 0, "repeat"),
        RelationVerdict(999, "repeat"),
    )
    assert say(memory, "Adrian enjoys modal jazz", 4, verdicts=verdicts).action == "created"


def test_nearness_of_meaning_counts_only_with_the_same_meaning(memory: Connection) -> None:
    """Above .85 by vectors: a paraphrase strengthens, a denial contradicts, another name is another fact."""
    first = say(memory, "Alex enjoys tea", 1)
    near = {first.record or 0: 0.95}
    same = say(memory, "Alex likes drinking tea", 2, near=lambda *_: near)
    assert (same.action, same.record) == ("reinforced", first.record)
    assert say(memory, "Bob likes drinking tea", 3, near=lambda *_: near).action == "created"
    assert say(memory, "Alex does not like drinking tea", 4, near=lambda *_: near).action == "replaced"


def test_nearness_says_what_a_text_is_about() -> None:
    """A statement and its denial are as near as can be; a text and the same with more are near; others are not."""
    assert similarity("Adrian likes cilantro", "Adrian doesn't dislike cilantro") == 1.0
    assert similarity("Adrian hates cilantro", "Adrian likes cilantro") == 1.0
    assert 0.85 < similarity("Adrian works at Acme", "Adrian works at Acme as a senior engineer in Lyon") < 1
    assert similarity("Adrian works at Acme", "the weather was bad") == 0
    assert similarity("我喜欢绿茶", "我喜欢喝绿茶") > 0.5


@pytest.mark.parametrize("text", ["", "not", "no", "C++", "🐶", "5", "…", "a" * 5000, "不", "x=1 " * 900])
def test_any_text_can_be_compared_with_itself(text: str) -> None:
    """Whatever it is made of; and nothing contradicts itself."""
    assert relation(text, text) in ("repeat", "independent")
    assert repeat_veto(text, text, read=True) == ""
