"""What says the same becomes one memory, and only that."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate.pairs import merging, pair_relation, pair_review
from kenobot.cognitive.sleep.consolidate.pairs.near_pairs import RecordPair
from kenobot.language.similarity import topic_words
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory
from tests.unit.cognitive.sleep.beliefs import links, live, nearness, put, relation_json, sleep_judged
from tests.unit.cognitive.sleep.nights import sleep, view_of

_NOW = AdmitContext(START + timedelta(days=1), "2026-02-15", "owner")


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


@pytest.mark.parametrize(
    "texts",
    [
        ("Adrian works at Acme", "Adrian works at Acme as a senior engineer"),
        ("The user likes tea", "I like tea"),
        ("Adrian favorite languages JavaScript Ruby", "Adrian favorite languages are JavaScript and Ruby"),
        ("A Laura le gustan los trenes", "A Laura le gustan los trenes."),
        ("Toby es el perro de Marta", "El perro de Marta se llama Toby"),
        ("The hint for the wifi is blue whale", "Blue whale is the hint for the wifi"),
    ],
)
def test_what_a_model_takes_for_one_is_one(memory: Connection, texts: Sequence[str]) -> None:
    """In the fullest wording; the other is history, linked from what took its place."""
    one, other = (put(memory, text) for text in texts)
    changes = sleep_judged(memory, pair_review.DUPLICATES, "repeat")
    assert [change.kind for change in changes] == ["merged"]
    kept = get(memory, changes[0].record or 0)
    gone = get(memory, other.id if kept.id == one.id else one.id)
    assert (gone.status, gone.valid_to) == ("superseded", gone.updated)
    assert (kept.id, gone.id) in links(memory, "supersedes")
    assert live(memory) == [kept.text]
    assert len(topic_words(kept.text)) == max(len(topic_words(text)) for text in texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Adrian works at Acme", "Adrian works at Acme as a senior engineer"),
        ("The user likes tea", "I like tea"),
        ("Toby es el perro de Marta", "El perro de Marta se llama Toby"),
        ("My brother Tom pays 40 for the gym", "My brother pays 40 for the gym"),
        ("Llamo a Ana los lunes", "Llamó a Ana los lunes"),
        ("I take ramipril in the morning", "I take the ramipril in the morning"),
        ("User likes cilantro", "User dislikes cilantro"),
        ("Adrian is allergic to peanuts", "Adrian is not allergic to peanuts"),
        ("Ana es alérgica al polen", "Ana no es alérgica al polen"),
        ("The standup is at 9 every day in room 4", "The standup is at 10 every day in room 4"),
        ("The weather report of New York comes today", "The weather report of New York comes tomorrow"),
        ("Laura works with Bob on the billing system", "Laura works with Eve on the billing system"),
        ("Adrian flies from Madrid to Lyon every month", "Adrian flies from Lyon to Madrid every month"),
        ("Adrian prefers to deploy on staging first", "Adrian prefers to deploy on production first"),
        ("Ana tiene un perro", "Ana tiene alergia al perro"),
        ("Ana has a dog", "Ana has a dog allergy"),
        ("Adrian uses C for the firmware", "Adrian uses C++ for the firmware"),
        ("我喜欢喝绿茶", "我不喜欢喝绿茶"),
        ("Adrian works at Acme", "Adrian works at Acme if they ask"),
        ("Marta es la jefa de Ana", "Ana es la jefa de Marta"),
        ("Prefiero el té al café", "Prefiero el café al té"),
        ("Marta's boss is called Ana", "Ana's boss is Marta"),
    ],
)
@pytest.mark.parametrize("tier", ["daily", "core"])
def test_without_a_model_near_wordings_are_two(memory: Connection, one: str, other: str, tier: str) -> None:
    """However near the words are, also in MEMORY.md, and whether they mean the same or not."""
    put(memory, one, tier=tier)
    put(memory, other, tier=tier)
    sleep(memory, pair_review.DUPLICATES)
    assert live(memory) == sorted([one, other])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A Laura le gustan los trenes", "A Laura le gustan los trenes."),
        ("The locker is 14", "the  locker is “14”!"),
        ("¡Ana tiene un perro!", "Ana tiene un perro"),
    ],
)
def test_without_a_model_the_same_statement_is_one(memory: Connection, one: str, other: str) -> None:
    """The same words in the same order, but for case, marks and blanks."""
    put(memory, one)
    put(memory, other)
    assert [change.kind for change in sleep(memory, pair_review.DUPLICATES)] == ["merged"]


def test_a_verdict_that_denies_a_denial_is_not_followed(memory: Connection) -> None:
    """A model that says "repeat" of a pair it was asked about joins it, but not one that a number tells apart."""
    put(memory, "Adrian enjoys drinking green tea in the morning hours")
    put(memory, "Adrian loves drinking green tea during the morning hours")
    asked = list(pair_review.DUPLICATES.questions(view_of(memory)))
    assert len(asked) == 1
    sleep(memory, pair_review.DUPLICATES, answers={asked[0].key: relation_json("repeat")})
    assert len(live(memory)) == 1
    first, second = (put(memory, f"The boiler of the cellar was built in {year} by hand") for year in (1990, 1991))
    assert pair_relation.classify_pair(RecordPair(first, second, 0.99), "repeat", DEFAULT) == "independent"
    assert pair_review.DUPLICATES.questions(view_of(memory)) == []


def test_the_one_that_stays_keeps_the_best_of_all(memory: Connection) -> None:
    """Importance, belief, uses, turns, tags, attributes, confirmation, MEMORY.md, and every link."""
    later = START + timedelta(days=3)
    one = put(
        memory,
        "Adrian works at Acme",
        importance=0.3,
        use_count=2,
        source_messages="[1]",
        tags='["job"]',
        stability=1.5,
    )
    two = put(
        memory, "Adrian works at Acme as a senior engineer", at=later, importance=1.0, use_count=3, mentions=2,
        source_messages="[2, 3]", tags='["work"]', tier="core", attributes='{"employer": "Acme"}',
        last_used=stamp(later),
        confidence=0.7, category="decision", expires=stamp(later + timedelta(days=9)),
    )  # fmt: skip
    friend, box = put(memory, "Laura works at Acme too, in the same hall"), put(memory, "a box", form="box")
    for src, dst, kind in ((one.id, friend.id, "related"), (one.id, box.id, "member"), (friend.id, one.id, "causal")):
        strengthen_link(memory, src, dst, kind, START, "told")  # type: ignore[arg-type]
    sleep_judged(memory, pair_review.DUPLICATES, "repeat")
    kept = next(r for r in (get(memory, one.id), get(memory, two.id)) if r.status == "active")
    assert kept.text == two.text
    assert (kept.importance, kept.use_count, kept.mentions, kept.tier, kept.stability) == (1.0, 5, 3, "core", 1.5)
    assert kept.source_message_ids == (1, 2, 3)
    assert kept.confidence == pytest.approx(1.0)
    assert set(json.loads(kept.tags)) == {"job", "work"}
    assert (kept.attribute_map, kept.category, kept.expires) == ({"employer": "Acme"}, "decision", None)
    assert kept.last_used == stamp(later)
    assert (max(kept.id, friend.id), min(kept.id, friend.id)) in links(memory, "related")
    assert (kept.id, box.id) in links(memory, "member")
    assert (friend.id, kept.id) in links(memory, "causal")


def test_a_stranger_rewords_nothing_and_makes_nothing_surer(memory: Connection) -> None:
    """The fuller word of somebody who is believed less stays a record of its own; the same words only lend turns."""
    put(memory, "Adrian works at Acme", confidence=0.9)
    put(memory, "Adrian works at Acme as a thief", trust="tool", confidence=0.4)
    sleep(memory, pair_review.DUPLICATES)
    assert len(live(memory)) == 2
    mine = put(memory, "Adrian plays the violin", confidence=0.6, source="tag", importance=0.4)
    put(memory, "Adrian plays the violin!", confidence=1.0, trust="tool", importance=1.0, key="another")
    sleep(memory, pair_review.DUPLICATES)
    kept = get(memory, mine.id)
    assert (kept.status, kept.trust, kept.confidence, kept.importance) == ("active", "owner", 0.6, 0.4)


def test_scopes_and_subjects_never_mix(memory: Connection) -> None:
    """The same words of two people, or told in two chats, stay with each."""
    for scope, subject in (("owner", "owner"), ("owner", "bob"), ("chat:1", "owner"), ("user:x", "owner")):
        put(memory, "likes green tea a lot", scope=scope, subject=subject, key=f"{scope}{subject}")
        put(memory, "likes green tea a lot!", scope=scope, subject=subject, key=f"{scope}{subject}!")
    sleep(memory, pair_review.DUPLICATES)
    rows = memory.execute("SELECT scope, subject FROM record WHERE status = 'active'").fetchall()
    assert len(rows) == len(set(rows)) == 4
    pairs = memory.execute(
        "SELECT a.scope = b.scope AND a.subject = b.subject FROM link JOIN record a ON a.id = src "
        "JOIN record b ON b.id = dst"
    ).fetchall()
    assert pairs == [(1,)] * 4


def test_an_event_is_told_twice_only_on_its_own_day(memory: Connection) -> None:
    """Two days with the same event are two episodes, and neither is reworded."""
    for day, text in (("2026-02-14", "Adrian went running"), ("2026-02-14", "Adrian went running."),
                      ("2026-02-15", "Adrian went running!")):  # fmt: skip
        put(memory, text, form="episode", day=day, key=f"{day}{text}")
    sleep(memory, pair_review.DUPLICATES)
    days = memory.execute("SELECT day FROM record WHERE status = 'active' ORDER BY day").fetchall()
    assert days == [("2026-02-14",), ("2026-02-15",)]


@pytest.mark.parametrize("seed", range(6))
def test_the_order_in_which_they_came_says_nothing(seed: int) -> None:
    """A chain of wordings, each near the next, ends in the same memories whatever came first."""
    texts = [
        "Adrian works at Acme",
        "Adrian works at Acme as a senior engineer",
        "Adrian works at Acme in Lyon since spring",
        "Adrian works at Acme as a senior engineer in Lyon",
        "Adrian work at Acme",
        "The user likes tea",
        "I like tea",
        "Adrian does not work at Acme",
    ]

    def night(order: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
        with open_memory() as memory:
            names = {put(memory, text).id: text for text in order}
            sleep_judged(memory, pair_review.DUPLICATES, "repeat")
            return live(memory), sorted((names[new], names[old]) for new, old in links(memory, "supersedes"))

    shuffled = [*texts]
    Random(seed).shuffle(shuffled)
    assert night(shuffled) == night(texts)


def test_nothing_is_lost_and_undo_brings_it_back(memory: Connection) -> None:
    """Every wording stands in a record or in the event that overwrote it; undone, all is as before, for good."""
    texts = ["Adrian works at Acme", "Adrian works at Acme as a senior engineer", "I work at Acme"]
    ids = [put(memory, text, source_messages=f"[{number}]").id for number, text in enumerate(texts, 1)]
    before = [get(memory, number) for number in ids]
    sleep_judged(memory, pair_review.DUPLICATES, "repeat")
    words = {row[0] for row in memory.execute("SELECT text FROM record")}
    words |= {row[0] for row in memory.execute("SELECT json_extract(data, '$.was.text') FROM event")}
    assert set(texts) <= words
    root = memory.execute("SELECT min(id) FROM event WHERE type = 'merged'").fetchone()[0]
    undo(memory, root, ("owner",), _NOW)
    after = [get(memory, number) for number in ids]
    assert [(r.text, r.status, r.key, r.source_messages, r.importance) for r in after] == [
        (r.text, r.status, r.key, r.source_messages, r.importance) for r in before
    ]
    assert links(memory, "supersedes") == set()
    assert sleep(memory, pair_review.DUPLICATES, START + timedelta(days=2)) == []


def test_what_is_forgotten_takes_part_in_nothing(memory: Connection) -> None:
    """A forgotten twin does not take the living one along; neither does a change that comes too late."""
    dead, alive = put(memory, "Adrian plays chess", confidence=1.0), put(memory, "Adrian plays chess.", key="x")
    third = put(memory, "The user likes tea")
    fourth = put(memory, "The user likes tea!", key="y")
    forget(memory, dead.id, ("owner",), _NOW)
    assert merging.merge_records(view_of(memory), [get(memory, dead.id), get(memory, alive.id)]) is None
    assert len(sleep(memory, pair_review.DUPLICATES)) == 1
    assert get(memory, dead.id).status == "forgotten"
    assert sorted(get(memory, number.id).status for number in (third, fourth)) == ["active", "superseded"]


def test_all_of_memory_is_looked_through(memory: Connection) -> None:
    """A twin is found among hundreds that came between, also before it is filed."""
    put(memory, "The garden shed key hangs behind the blue barrel")
    for number in range(300):
        put(memory, f"Note {number} tells of thing{number} and matter{number * 7} on its own")
    put(memory, "the garden shed key hangs behind the blue barrel!", key="late")
    assert nearness(memory, 0.85)[0][0].lower().startswith("the garden")
    memory.execute("INSERT INTO key_value (key, value) SELECT 'terms:next', max(id) FROM record")
    memory.execute("DELETE FROM term_index")
    assert len(sleep(memory, pair_review.DUPLICATES)) == 1


def test_a_pair_that_a_model_told_apart_is_not_asked_about_again(memory: Connection) -> None:
    """Until one of the two says something else."""
    one = put(memory, "Adrian enjoys drinking green tea in the morning hours")
    put(memory, "Adrian loves drinking green tea during the morning hours")
    asked = list(pair_review.DUPLICATES.questions(view_of(memory)))
    changes = sleep(memory, pair_review.DUPLICATES, answers={asked[0].key: relation_json("independent")})
    assert [change.kind for change in changes] == ["compared"]
    assert pair_review.DUPLICATES.questions(view_of(memory)) == []
    later = stamp(START + timedelta(days=9))
    memory.execute("UPDATE record SET updated = ? WHERE id = ?", (later, one.id))
    assert len(list(pair_review.DUPLICATES.questions(view_of(memory)))) == 1


def test_what_a_stranger_wrote_is_shown_to_no_model(memory: Connection) -> None:
    """It could tell the model what to say of the other pairs."""
    put(memory, "Adrian enjoys drinking green tea in the morning hours", trust="forward")
    put(memory, "Adrian loves drinking green tea during the morning hours")
    assert pair_review.DUPLICATES.questions(view_of(memory)) == []


def test_nearness_by_meaning_finds_what_a_model_is_asked_about(memory: Connection) -> None:
    """A paraphrase is one with what it paraphrases once a model says so; nearness alone joins nothing."""
    first = put(memory, "Alex enjoys tea")
    second = put(memory, "Alex likes drinking hot tea")
    near = {first.id: 0.95, second.id: 0.95}
    view = replace(view_of(memory), find_neighbours=lambda *_: near)
    assert list(pair_review.DUPLICATES.plan(view)) == []
    [question] = pair_review.DUPLICATES.questions(view)
    judged = replace(view, answers={question.key: relation_json("repeat")})
    assert [change.kind for change in pair_review.DUPLICATES.plan(judged)] == ["merged"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ('{"pairs": [{"pair": 1, "relation": "repeat"}]}', {1: "repeat"}),
        ('```json\n{"pairs": [{"pair": 2, "relation": "Contradiction."}]}\n```', {2: "contradiction"}),
        ("**1. CONTRADICTION: x**\n2) COMPATIBLE", {1: "contradiction", 2: "independent"}),
        ("3. CONTRADICTION: no such pair", {}),
        ('{"pairs": [{"pair": 1, "relation": "repeat"}, {"pair": 1, "relation": "contradiction"}]}', {}),
        ('{"pairs": [{"pair": true, "relation": "repeat"}, {"pair": 1, "relation": 3}, 7]}', {}),
        ('{"pairs": "repeat"}', {}),
        ("I'm not sure about this one", {}),
        ("", {}),
    ],
)
def test_a_verdict_counts_only_when_it_is_clear(answer: str, told: dict[int, str]) -> None:
    """About a pair that was asked about, in a known word, and not taken back in the same breath."""
    assert pair_relation.parse_relations(answer, 2) == told


def test_lines_are_alike_by_their_words_and_not_by_their_marks() -> None:
    """Two empty lines are not alike, and a dot at the end tells nothing apart."""
    assert pair_relation.jaccard("ends with dot.", "ends with dot") == 1.0
    assert pair_relation.jaccard("", "") == pair_relation.jaccard("a b", "c d") == 0.0


def test_what_only_means_the_like_stays_two_when_the_words_are_turned_round(memory: Connection) -> None:
    """Vectors hardly tell who flies where from where."""
    texts = ("Adrian flies from Madrid to Lyon every month", "Adrian flies from Lyon to Madrid every month")
    one, other = (put(memory, text) for text in texts)
    near = {one.id: {other.id: 0.99}, other.id: {one.id: 0.99}}
    view = replace(view_of(memory), find_neighbours=lambda _scope, _subject, record, _limit: near[record])
    assert list(pair_review.DUPLICATES.plan(view)) == []
