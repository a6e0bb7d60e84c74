"""A fortnight with somebody who answers whether a message takes the place of a memory."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot_evals.life.asked import play_and_answer
from kenobot_evals.life.fortnights import Fact, Fortnight, Utterance
from kenobot_evals.life.live import LifeScore

ZONE = ZoneInfo("Europe/Madrid")
BEGIN = datetime(2026, 3, 2, 9, tzinfo=ZONE)


def _said(text: str, *facts: str, after: int, ends: tuple[str, ...] = ()) -> Utterance:
    return Utterance(BEGIN + timedelta(hours=after), text, tuple(map(Fact, facts)), tuple(map(Fact, ends)), False)


def _fortnight(ends: tuple[str, ...]) -> Fortnight:
    said = (
        _said("apunta que entro a trabajar a las 7 y media", "entro 7", after=0),
        _said("me cambian el turno del trabajo, desde mañana entro a las 13", "entro 13", after=1, ends=ends),
        _said("qué frío hace hoy", after=2),
    )
    return Fortnight("ana", "es", ZONE, said, ())


async def test_a_true_yes_applies_the_change() -> None:
    """The message ends what the memory holds: the question is right, and memory no longer holds it."""
    score = LifeScore("ana")
    await play_and_answer(_fortnight(("entro 7",)), "none", score)
    assert (score.asked, score.rightly_asked, score.applied_asked, score.messages) == (1, 1, 1, 3)
    assert score.faults == []


async def test_what_still_holds_is_answered_by_no() -> None:
    """The question is wrong, and told among the faults; nothing is ended."""
    score = LifeScore("ana")
    await play_and_answer(_fortnight(()), "none", score)
    assert (score.asked, score.rightly_asked, score.applied_asked, score.messages) == (1, 0, 0, 3)
    assert [fault.partition(":")[0] for fault in score.faults] == ["asked wrongly"]
