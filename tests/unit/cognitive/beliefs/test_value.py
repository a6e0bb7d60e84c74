"""What a record is worth, in the cases that the seeds and their defects are about."""

from datetime import timedelta

import pytest

from kenobot.cognitive.beliefs.value import (
    decay,
    effective_confidence,
    features,
    has_faded,
    is_salient,
    route_tier,
    salience,
    strength,
)
from kenobot.cognitive.policy.beliefs import ValuePolicy
from kenobot.cognitive.store.feedback import FeedbackCounts
from kenobot.language.calendar import parse_time
from kenobot.language.salience import salience_signs
from kenobot.ports.records import Record
from kenobot.storage.times import stamp
from kenobot_testing.clock import START

_TOLD = stamp(START)
_GUESS = Record(
    1,
    "note",
    "fact",
    "owner",
    "Adrian may like jazz",
    "model",
    "daily",
    "active",
    0.6,
    1,
    _TOLD,
    _TOLD,
    "2026-02-14",
    0,
)
_GUESS = _GUESS._replace(source="extraction", last_seen=_TOLD)
_SAID = _GUESS._replace(text="Adrian likes jazz", trust="owner", source="tag", confidence=0.95)


def test_a_guess_fades_by_half_in_thirty_days_and_slower_when_it_is_stable() -> None:
    """The half-life is thirty days times the stability."""
    later = START + timedelta(days=30)
    assert strength(_GUESS, later) == pytest.approx(0.3)
    assert strength(_GUESS._replace(stability=3.0), START + timedelta(days=90)) == pytest.approx(0.3)


def test_recall_refreshes_the_clock_of_a_belief() -> None:
    """A belief that was used yesterday is as sure as it ever was (Personal AI 8)."""
    later = START + timedelta(days=540)
    used = _GUESS._replace(last_used=stamp(later - timedelta(days=1)), stability=5.0)
    assert strength(used, later) > 0.59
    assert has_faded(_GUESS, later)
    assert not has_faded(used, later)


def test_what_its_owner_said_does_not_fade() -> None:
    """Said once and never again: two years later it is as sure as on the first day (Engram 10)."""
    assert strength(_SAID, START + timedelta(days=730)) == 0.95


def test_a_guest_owns_what_they_said_of_themselves() -> None:
    """In their own scope their word does not fade; elsewhere it does."""
    later = START + timedelta(days=730)
    theirs = _SAID._replace(trust="guest", scope="user:fake-2", confidence=0.7)
    assert strength(theirs, later) == 0.7
    assert strength(theirs._replace(scope="chat:fake-1"), later) < 0.1


def test_what_was_read_out_of_a_talk_is_a_guess_until_it_is_sure() -> None:
    """An inferred fact fades; one that was read three times over stays."""
    later = START + timedelta(days=730)
    assert strength(_SAID._replace(source="extraction", confidence=0.7), later) < 0.1
    assert strength(_SAID._replace(source="extraction", confidence=0.95), later) == 0.95


def test_what_its_owner_disputes_is_no_longer_protected() -> None:
    """An objection takes the protection of being explicit away."""
    later = START + timedelta(days=60)
    assert strength(_SAID._replace(verification="disputed"), later) < strength(_SAID, later) / 2


@pytest.mark.parametrize("stated", ["user_confirmed", "protected", "momentous"])
def test_what_is_confirmed_pinned_or_momentous_does_not_fade(stated: str) -> None:
    """None of these guesses is weaker two years later (Personal AI, prune/default-horizon)."""
    kinds = {
        "user_confirmed": _GUESS._replace(verification="user_confirmed"),
        "protected": _GUESS._replace(policy_class="protected"),
        "momentous": _GUESS._replace(importance=0.95),
    }
    assert strength(kinds[stated], START + timedelta(days=730)) == 0.6


def test_what_was_never_used_is_not_stale_from_birth() -> None:
    """A record of today has hardly decayed, though nobody has used it yet (Engram 9)."""
    assert decay(features(_GUESS, START)) < 0.3


def test_a_speculation_that_nobody_ever_uses_passes_the_limit_of_the_archive() -> None:
    """In the original it never did, not after ten years (Engram 9)."""
    idea = _GUESS._replace(confidence=0.35)
    assert decay(features(idea, START + timedelta(days=365))) >= ValuePolicy().archive_from_decay


@pytest.mark.parametrize(
    "told", ["2030-01-01T00:00:00+00:00", "garbage", "", "0000-00-00", "9999-12-31T23:59:59-23:59"]
)
def test_broken_times_and_times_ahead_change_nothing(told: str) -> None:
    """A belief is then as sure as it was told, and never surer (Personal AI 12)."""
    odd = _GUESS._replace(created=told, last_seen=told, last_used=told)
    assert strength(odd, START) == 0.6
    assert 0.0 <= decay(features(odd, START)) <= 1.0


def test_every_way_of_writing_a_time_is_read() -> None:
    """ISO with Z or an offset, and SQLite's own form, which means UTC (Personal AI 16)."""
    forms = ["2026-02-14T14:30:00Z", "2026-02-14T15:30:00+01:00", "2026-02-14 14:30:00", "2026-02-14T14:30:00.000"]
    assert {parse_time(form) for form in forms} == {START}


def test_a_number_that_is_none_does_not_spread() -> None:
    """A confidence or stability that is no number leaves a value between 0 and 1."""
    assert effective_confidence(float("nan"), 10, 1) == 0.0
    assert 0 < effective_confidence(0.6, 10, float("nan")) < 0.6
    assert 0 <= effective_confidence(0.6, 10, 0.0) <= 0.6


def test_yes_warms_and_no_cools() -> None:
    """What the person said of a record moves its value both ways."""
    base, liked, disliked = (
        features(_GUESS, START, opinion) for opinion in (FeedbackCounts(), FeedbackCounts(2), FeedbackCounts(0, 2))
    )
    assert disliked.shares["heat"] < base.shares["heat"] < liked.shares["heat"]
    assert decay(liked) < decay(base) < decay(disliked)


def test_a_record_moves_between_tiers_only_past_the_limits() -> None:
    """What is new stays; what is old and worth little goes; between the limits nothing moves."""
    poor = _GUESS._replace(confidence=0.1, importance=0.1)
    assert route_tier(features(poor, START + timedelta(days=5)), hot=True).hot
    assert not route_tier(features(poor, START + timedelta(days=60)), hot=True).hot
    middling = features(_GUESS, START + timedelta(days=20))
    assert route_tier(middling, hot=True).hot
    assert not route_tier(middling, hot=False).hot
    prized = _SAID._replace(use_count=40, importance=0.9, verification="user_confirmed")
    assert route_tier(features(prized, START), hot=False).hot


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The deploy failed but we solved it", 0.7),
        ("El despliegue falló pero quedó resuelto", 0.7),
        ("Learned: n8n webhooks prefer query params for auth, headers always fail with 401", 1.0),
        ("Aprendí que los webhooks prefieren parámetros y que las cabeceras siempre fallan", 1.0),
        ("En realidad la zona horaria es CST", 1.0),
        ("primera vez aquí", 0.3),
        ("A mi madre le gusta el té", 0.6),
        ("We walked along the river", 0.0),
        ("It looks like rain over 450 houses", 0.0),
    ],
)
def test_what_stands_out_stands_out_in_both_languages(text: str, wanted: float) -> None:
    """The seed's weights, on Spanish words as on English ones, and never more than 1."""
    assert salience(text) == pytest.approx(wanted)
    assert is_salient(text) is (wanted >= 0.5)


def test_the_signs_of_a_text_can_be_told() -> None:
    """So that sleep can say why it put something into MEMORY.md."""
    assert salience_signs("Decidimos usar Postgres porque SQLite falló") == ("error", "lesson")
