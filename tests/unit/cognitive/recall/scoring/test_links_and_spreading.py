"""Links: made once, surer with each repeat, weaker with silence; and what recall reaches over them."""

from datetime import timedelta
from itertools import pairwise

import pytest

from kenobot.cognitive.beliefs.links import link_new_record, strengthen_link
from kenobot.cognitive.policy.beliefs import GraphPolicy
from kenobot.cognitive.recall.candidates.by_meaning import replace_superseded
from kenobot.cognitive.recall.candidates.by_words import LexicalHit
from kenobot.cognitive.recall.candidates.spreading_activation import inhibit, settle_scores, spread_activation
from kenobot.cognitive.store import links as graph_store
from kenobot.language.references import causal_phrase, names_previous_as_cause
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import LinkType, Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START
from tests.memory_rows import open_memory, put_record

_PLAIN = GraphPolicy(iterations=0, inhibition=0.0)
_ACT = ChangeContext(START, "model", "", "fake-1")


def test_a_repeat_makes_a_link_surer_and_no_second_one() -> None:
    """Told five times, it is one row (Engram 7)."""
    with open_memory() as connection:
        one, two = put_record(connection), put_record(connection)
        told = [strengthen_link(connection, two.id, one.id, "related", START) for _ in range(5)]
        assert [link.seen for link in told] == [1, 2, 3, 4, 5]
        assert [link.confidence for link in told] == sorted({link.confidence for link in told})
        assert connection.execute("SELECT count(*) FROM link").fetchone() == (1,)


def test_what_means_the_same_both_ways_is_one_link() -> None:
    """A is related to B is B is related to A; A is a cause of B is not B is a cause of A."""
    with open_memory() as connection:
        one, two = put_record(connection), put_record(connection)
        for type_ in ("related", "causal"):
            strengthen_link(connection, one.id, two.id, type_, START)
            strengthen_link(connection, two.id, one.id, type_, START)
        counts = dict(connection.execute("SELECT type, count(*) FROM link GROUP BY type").fetchall())
        assert counts == {"related": 1, "causal": 2}


def test_nothing_is_linked_to_itself() -> None:
    """That would let a record keep itself alive."""
    with open_memory() as connection:
        record = put_record(connection)
        with pytest.raises(ValueError, match="itself"):
            strengthen_link(connection, record.id, record.id, "related", START)


def test_a_repeat_after_a_long_silence_starts_from_what_was_left() -> None:
    """A year's silence costs confidence; saying it again adds to the rest."""
    with open_memory() as connection:
        one, two = put_record(connection), put_record(connection)
        first = strengthen_link(connection, two.id, one.id, "related", START)
        again = strengthen_link(connection, two.id, one.id, "related", START + timedelta(days=365))
        assert again.confidence < first.confidence


def test_equals_are_taken_newest_first_in_whatever_order_they_come() -> None:
    """Of two seeds found as strongly, and of two records found by words as well, the newer comes first."""
    with open_memory() as connection:
        old, new, of_old, of_new = (put_record(connection).id for _ in range(4))
        for seed, far in ((old, of_old), (new, of_new)):
            strengthen_link(connection, far, seed, "related", START)
        narrow = GraphPolicy(iterations=0, inhibition=0.0, frontier=1, max_steps=1)
        for seeds in ((old, new), (new, old)):
            assert [*spread_activation(connection, dict.fromkeys(seeds, 0.5), ALL_SCOPES, narrow)] == [of_new]
            hits = [LexicalHit(number, 0.5, ()) for number in seeds]
            assert [each.id for each in replace_superseded(connection, hits, (), ALL_SCOPES)] == [new, old]


@pytest.mark.parametrize("type_", ["supersedes", "derived", "member"])
def test_what_was_decided_does_not_fade(type_: LinkType) -> None:
    """That one record took another's place is as true in ten years."""
    with open_memory() as connection:
        one, two = put_record(connection), put_record(connection)
        strengthen_link(connection, two.id, one.id, type_, START)
        again = strengthen_link(connection, two.id, one.id, type_, START + timedelta(days=3650))
        assert again.confidence == 1.0


def test_a_new_record_is_linked_to_others_about_the_same_person() -> None:
    """To the newest three, and never to another scope's."""
    with open_memory() as connection:
        known = [put_record(connection, f"Ana likes {thing}", subject="Ana") for thing in "tea jazz Lyon cats".split()]
        put_record(connection, "Ana has a secret", subject="Ana", scope="user:fake-2")
        new = put_record(connection, "Ana moved to Rome", subject="Ana")
        links = link_new_record(connection, new, ChangeContext(START, "model"))
        assert {link.dst for link in links} == {record.id for record in known[1:]}
        assert {link.type for link in links} == {"entity"}


def test_a_record_that_names_somebody_is_linked_to_what_is_known_of_them() -> None:
    """Though it is about somebody else; and the owner's many records are not all linked to one another."""
    with open_memory() as connection:
        zoe = put_record(connection, "Zoë is a dentist", subject="zoe")
        put_record(connection, "Adrian is a baker", subject="owner")
        new = put_record(connection, "Adrian married Zoë in May", subject="owner")
        assert [link.dst for link in link_new_record(connection, new, ChangeContext(START, "model"))] == [zoe.id]


def test_what_was_told_together_is_linked_by_time() -> None:
    """In one chat, within half an hour, at most three, and to nothing older."""
    with open_memory() as connection:
        put_record(connection, "long ago", at=START - timedelta(hours=2), session="fake-1")
        told = [put_record(connection, f"part {n}", at=START, session="fake-1") for n in range(4)]
        put_record(connection, "elsewhere", at=START, session="fake-2")
        new = put_record(connection, "and so on", at=START, session="fake-1")
        assert {link.dst for link in link_new_record(connection, new, _ACT)} == {record.id for record in told[1:]}


@pytest.mark.parametrize(
    ("cause", "effect", "phrase"),
    [
        ("The cache melted on Monday", "We rolled back because the cache melted", "because"),
        ("La caché se fundió el lunes", "Volvimos atrás porque la caché se fundió", "porque"),
        ("The river rose", "That's why the road was closed", "that's why"),
        ("Subió el río", "Por eso cortaron la carretera", "por eso"),
    ],
)
def test_a_cause_is_linked_to_what_it_led_to(cause: str, effect: str, phrase: str) -> None:
    """By shared words, or by beginning with "that's why", in both languages; not to what has nothing to do with it."""
    with open_memory() as connection:
        other = put_record(connection, "Ana likes tea", session="fake-1")
        first = put_record(connection, cause, session="fake-1")
        then = put_record(connection, effect, session="fake-1")
        links = [link for link in link_new_record(connection, then, _ACT) if link.type == "causal"]
        assert [(link.src, link.dst) for link in links] == [(then.id, first.id)]
        assert other.id not in {link.dst for link in links}
        assert connection.execute("SELECT why FROM link WHERE type = 'causal'").fetchone() == (phrase,)


def test_words_that_only_look_like_causes_are_none() -> None:
    """Part of another word, or no such phrase at all."""
    assert causal_phrase("The becausing of things") is None
    assert causal_phrase("Nada que ver") is None
    assert not names_previous_as_cause("We left, and that is why")


def test_activation_never_leaves_the_reach() -> None:
    """A link into another scope is not followed, and nothing behind it is reached either."""
    with open_memory() as connection:
        mine, beyond = put_record(connection), put_record(connection)
        other = put_record(connection, scope="user:fake-2")
        _chain(connection, mine, other, beyond)
        assert spread_activation(connection, {mine.id: 1.0}, ("owner",), _PLAIN) == {}
        assert set(spread_activation(connection, {mine.id: 1.0}, ("owner", "user:fake-2"), _PLAIN)) == {
            other.id,
            beyond.id,
        }
        assert spread_activation(connection, {other.id: 1.0}, ("owner",), _PLAIN) == {}


def test_what_is_no_longer_remembered_is_not_reached() -> None:
    """A forgotten record is neither found nor a way to others."""
    with open_memory() as connection:
        start, gone, behind = put_record(connection), put_record(connection, status="forgotten"), put_record(connection)
        _chain(connection, start, gone, behind)
        assert spread_activation(connection, {start.id: 1.0}, ("owner",), _PLAIN) == {}


def test_a_path_tells_how_something_was_reached() -> None:
    """Each step with its type and how sure it is; three steps and no more."""
    with open_memory() as connection:
        chain = [put_record(connection) for _ in range(5)]
        _chain(connection, *chain)
        found = spread_activation(connection, {chain[0].id: 1.0}, ("owner",), _PLAIN)
        far = found[chain[3].id]
        assert [(step.src, step.dst) for step in far.path] == [(a.id, b.id) for a, b in pairwise(chain[:4])]
        assert (len(far.path), far.seed, far.path[-1].type) == (3, chain[0].id, "related")
        assert chain[4].id not in found
        assert list(found) == [record.id for record in chain[1:4]]


def test_a_link_that_has_faded_is_not_followed() -> None:
    """A link of long ago that nobody repeated leads nowhere; one that was repeated does."""
    with open_memory() as connection:
        start, old, fresh = (put_record(connection) for _ in range(3))
        later = START + timedelta(days=900)
        strengthen_link(connection, old.id, start.id, "related", START)
        strengthen_link(connection, fresh.id, start.id, "related", START)
        strengthen_link(connection, fresh.id, start.id, "related", later)
        strengthen_link(connection, fresh.id, start.id, "related", later)
        policy = GraphPolicy(iterations=0, inhibition=0.0, growth_per_repeat=0.1)
        assert set(spread_activation(connection, {start.id: 1.0}, ("owner",), policy, at=START)) == {old.id, fresh.id}
        assert old.id not in spread_activation(connection, {start.id: 1.0}, ("owner",), policy, at=later)


def test_a_seed_found_better_lends_more() -> None:
    """Of two neighbours alike in all else, the one of the stronger seed comes first."""
    with open_memory() as connection:
        weak, strong, of_weak, of_strong = (put_record(connection) for _ in range(4))
        _chain(connection, weak, of_weak)
        _chain(connection, strong, of_strong)
        found = spread_activation(connection, {weak.id: 0.3, strong.id: 0.9}, ("owner",))
        assert list(found) == [of_strong.id, of_weak.id]


def test_refinement_keeps_what_there_is_in_all() -> None:
    """Scores move along links; their sum stays, also where a record has no neighbour."""
    scores = {1: 0.7, 2: 0.2, 3: 0.1}
    refined = settle_scores(scores, [(1, 2), (2, 1)], 8)
    assert sum(refined.values()) == pytest.approx(1.0)
    assert refined[3] == pytest.approx(0.1)
    assert settle_scores(scores, [(1, 2)], 0) == scores


def test_stronger_records_quieten_weaker_ones() -> None:
    """The strongest loses nothing, and nothing falls below zero."""
    quiet = inhibit({1: 1.0, 2: 0.5, 3: 0.01}, 0.15, 7)
    assert quiet[1] == 1.0
    assert quiet[2] < 0.5
    assert quiet[3] == 0.0


def test_a_hub_is_read_up_to_a_limit() -> None:
    """A record with a thousand links costs no more than one with fifty: the newest neighbours are read."""
    with open_memory() as connection:
        hub = put_record(connection)
        crowd = [put_record(connection) for _ in range(1000)]
        for record in crowd:
            strengthen_link(connection, record.id, hub.id, "entity", START)
        assert len(graph_store.links_around(connection, hub.id, ("owner",), 48)) == 48
        assert len(spread_activation(connection, {hub.id: 1.0}, ("owner",), _PLAIN)) <= _PLAIN.fan_out


def _chain(connection: Connection, *records: Record) -> None:
    """Sure links from each of the records to the next."""
    policy = GraphPolicy(first_confidence={"related": 1.0})
    for one, two in pairwise(records):
        strengthen_link(connection, one.id, two.id, "related", START, policy=policy)
