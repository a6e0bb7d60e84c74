"""The fortnights of `kenobot bench life`: their data, how they are lived, and what counts as kept."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kenobot.ports.errors import ConfigError
from kenobot_evals.life import fortnights
from kenobot_evals.life.careful import CarefulModel
from kenobot_evals.life.fortnights import Fact, Fortnight, LifeNote, LifeQuestion, Utterance, load_fortnight
from kenobot_evals.life.live import live
from tests.cases import each

ALL = [
    *(*fortnights.PEOPLE, *fortnights.KEPT_BACK, *fortnights.OF_CHANGES),
    *(*fortnights.EVERYDAY, *fortnights.EVERYDAY_KEPT_BACK, *fortnights.STRANGERS, *fortnights.STRANGERS_KEPT_BACK),
    *(*fortnights.LEARNED, *fortnights.LEARNED_KEPT_BACK, *fortnights.UNSEEN),
]
ZONE = ZoneInfo("Europe/Madrid")
BEGIN = datetime(2026, 3, 2, 9, tzinfo=ZONE)


@each("name", ALL)
def test_a_fortnight_that_ships_holds_together(name: str) -> None:
    """Messages are in order, a fact that ends was said before, and its own words say it."""
    fortnight = load_fortnight(name)
    moments = [utterance.at for utterance in fortnight.utterances]
    assert moments == sorted(moments)
    assert len(moments) >= 40
    assert moments[-1] - moments[0] < timedelta(days=15)
    known: list[Fact] = []
    for utterance in fortnight.utterances:
        assert set(utterance.ends) <= set(known)
        known += utterance.facts
    assert sum(question.answer is None for question in fortnight.questions) >= 5


def _said(text: str, *facts: str, after: int, ends: tuple[str, ...] = ()) -> Utterance:
    return Utterance(BEGIN + timedelta(minutes=after), text, tuple(map(Fact, facts)), tuple(map(Fact, ends)), False)


async def test_a_fortnight_is_lived_and_scored() -> None:
    """What is kept, what is not, and what was ended are told apart, and the questions find what is kept."""
    fortnight = Fortnight(
        "ana",
        "es",
        ZONE,
        (
            _said("Vivo en Lyon", "lyon", after=0),
            _said("Qrst zxcv brrr", "zxcv", after=1),
            _said("Ahora vivo en Madrid", "madrid", after=2, ends=("lyon",)),
        ),
        (LifeQuestion("¿Dónde vivo?", Fact("madrid")), LifeQuestion("¿De qué color es mi coche?", None)),
    )
    score = await live(fortnight, "none")
    assert (score.standing, score.kept, score.stored, score.right) == (2, 1, 2, 2)
    assert (score.changes, score.applied) == (1, 1)
    assert (score.ended, score.rightly_ended) == (1, 1)
    assert (score.answered, score.in_first, score.shown, score.unanswerable) == (1, 1, 1, 1)
    assert score.faults == ["not kept: zxcv (Qrst zxcv brrr)"]


def test_a_fact_is_in_a_text_that_has_its_words() -> None:
    """In any order, from the beginning of a word, one of several, without the day."""
    fact = Fact("alergi|intoler lact @2026-03-10")
    assert fact.is_in("La lactosa: soy intolerante")
    assert not fact.is_in("soy intolerante al gluten")
    assert fact.due == "2026-03-10"


async def test_a_careful_models_notes_are_kept_and_end_what_they_end() -> None:
    """With --model careful facts are what the fortnight's notes say, and their verdicts end memories."""
    told = _said("ich wohne in Lyon", "lyon", after=0), _said("nun in Madrid", "madrid", after=2, ends=("lyon",))
    notes = {
        told[0].at.replace(tzinfo=None): (LifeNote("Ana lives in Lyon"),),
        told[1].at.replace(tzinfo=None): (LifeNote("Ana lives in Madrid", ends="lyon"),),
    }
    score = await live(Fortnight("ana", "en", ZONE, told, (), notes), "none", careful=True)
    assert (score.standing, score.kept, score.changes, score.applied) == (1, 1, 1, 1)
    with pytest.raises(ConfigError, match="no notes of bruno"):
        CarefulModel(load_fortnight("bruno"))


@pytest.mark.parametrize(
    ("part", "count"), [*zip(fortnights.DIALOGUES, (30, 30, 40, 40, 30, 30, 30, 30, 16, 16), strict=True)]
)
def test_what_a_dialogue_ends_and_keeps_is_told_in_it(part: str, count: int) -> None:
    """What the last message ends was told before it, and what must stay is not what ends."""
    dialogues = fortnights.load_dialogues(part)
    assert len(dialogues) == count
    for dialogue in dialogues:
        *earlier, last = dialogue.utterances
        told = [(utterance, fact) for utterance in earlier for fact in utterance.facts]
        assert set(last.ends) <= {fact for _, fact in told}
        assert all(fact.is_in(utterance.text) for utterance, fact in told), dialogue.name
        assert not any(ended.is_in(each.text) for ended in last.ends for each, fact in told if fact not in last.ends)


@pytest.mark.parametrize("name", fortnights.PEOPLE)
def test_careful_notes_are_of_messages(name: str) -> None:
    """Each note that ships is of a message that somebody wrote, and has words."""
    fortnight = load_fortnight(name)
    assert set(fortnight.notes) <= {each.at.replace(tzinfo=None) for each in fortnight.utterances}
    assert all(note.text for notes in fortnight.notes.values() for note in notes)
