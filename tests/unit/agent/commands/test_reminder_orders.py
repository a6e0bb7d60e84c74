"""Orders about reminders in plain words: heard as what they are, and nowhere else."""

from datetime import datetime, timedelta

import pytest

from kenobot.agent.commands.reminder_orders import match_order, read_half, read_typed, read_whole_time
from kenobot.core.i18n import Language
from tests.cost import assert_bounded
from tests.unit.agent.commands.reminder_corpus import ORDERS, OTHERS

_NOW = datetime.fromisoformat("2026-11-29T10:00")  # a Sunday
_LANGUAGES: tuple[Language, ...] = ("en", "es")


def _messages(table: dict[Language, str], language: Language) -> list[str]:
    return table[language].strip().splitlines()


@pytest.mark.parametrize("language", _LANGUAGES)
def test_orders_are_heard(language: Language) -> None:
    """At least 97 of 100 messages that order a reminder do, in their language."""
    messages = _messages(ORDERS, language)
    heard = {text: match_order(text, _NOW) for text in messages}
    missed = [text for text, order in heard.items() if order is None or order.kind not in ("add", "again")]
    assert len(missed) <= 0.03 * len(messages), missed
    assert [text for text, order in heard.items() if order is not None and order.language != language] == []
    assert len(messages) >= 60


@pytest.mark.parametrize("language", _LANGUAGES)
def test_nothing_else_is_heard(language: Language) -> None:
    """Of the look-alikes not one is an order, but for those that depend on the reminders there are."""
    messages = _messages(OTHERS, language)
    found = [(text, match_order(text, _NOW)) for text in messages]
    assert [text for text, order in found if order is not None and order.sure] == []
    assert len(messages) >= 60


@pytest.mark.parametrize(
    ("text", "what", "when"),
    [
        ("recuérdame mañana a las 8 llamar a Luis", "llamar a Luis", "2026-11-30T08:00:00"),
        ("Mañana a las 8, recuérdame que llame a Luis", "llame a Luis", "2026-11-30T08:00:00"),
        ("ponme un recordatorio para mañana a las 9: ITV", "ITV", "2026-11-30T09:00:00"),
        ("recuérdame la cena de mañana a las 21:00", "la cena", "2026-11-30T21:00:00"),
        ("Tomorrow at 9 remind me of the dentist", "the dentist", "2026-11-30T09:00:00"),
        ("Mañana a las 9 recuérdame lo del dentista", "dentista", "2026-11-30T09:00:00"),
        ("despiértame a las 6:30", "Hora de levantarse", "2026-11-30T06:30:00"),
        ("remind me Monday to pay rent", "pay rent", "2026-11-30T00:00:00"),
        ("Remind me tomorrow at 8pm about the bins.", "the bins", "2026-11-30T20:00:00"),
        ("wake me at 7pm", "Time to get up", "2026-11-29T19:00:00"),
        ("set a timer for 10 minutes", "Time is up", "2026-11-29T10:10:00"),
    ],
)
def test_what_and_when_are_told_apart(text: str, what: str, when: str) -> None:
    """The words of the time and those that lead to what is to be said belong to neither."""
    order = match_order(text, _NOW)
    assert order is not None
    assert order.when is not None
    assert (order.what, order.when.meaning.at.isoformat()) == (what, when)  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["recuérdame comprar pan", "remind me to call mum", "don't let me forget the keys"])
def test_an_order_may_have_no_time(text: str) -> None:
    """It is one nevertheless where it names a deed: the time is asked for."""
    order = match_order(text, _NOW)
    assert order is not None
    assert (order.kind, order.when) == ("add", None)


@pytest.mark.parametrize(
    ("text", "kind", "what", "sure"),
    [
        ("cancel the dentist reminder", "cancel", "dentist", True),
        ("cancel the dentist one", "cancel", "dentist", False),
        ("Cancel reminder 1", "cancel", "1", True),
        ("borra el recordatorio número 2", "cancel", "número 2", True),
        ("skip reminder #2 this time", "skip", "#2", True),
        ("mueve el recordatorio 3 a las 9", "move", "3", True),
        ("cancela el del dentista", "cancel", "dentista", False),
        ("ya no me recuerdes la pastilla", "cancel", "la pastilla", False),
        ("bórralo", "cancel", "", False),
        ("move it to Friday", "move", "", False),
        ("pásalo al viernes", "move", "", False),
        ("cambia el del dentista al viernes a las 10", "move", "dentista", False),
        ("skip the next one", "skip", "", False),
        ("sáltate el de la basura esta semana", "skip", "la basura", False),
        ("¿qué recordatorios tengo?", "list", "", True),
        ("show me my reminders", "list", "", True),
        ("snooze 10 min", "again", "", True),
        ("recuérdamelo en una hora", "again", "", True),
        ("done", "done", "", False),
        ("ya está", "done", "", False),
        ("if I talk about Lisbon, remind me to take the passport", "wish", "take the passport", True),
        ("cuando hable de la caldera, recuérdame llamar a Marta", "wish", "llamar a Marta", True),
    ],
)
def test_orders_about_reminders_there_are(text: str, kind: str, what: str, sure: bool) -> None:
    """They name one by its words or as the last; without the word for it they count only where there is such a one."""
    order = match_order(text, _NOW)
    assert order is not None
    assert (order.kind, order.what, order.sure) == (kind, what, sure)


def test_a_long_message_is_no_order() -> None:
    """And costs nothing to look at, however it is made."""
    for text in ("remind me to " + "go " * 50_000, "hey, " * 90 + "remind me", "recuérdame que " + "y mañana " * 300):
        assert_bounded(lambda said: match_order(said, _NOW), text)
    for text in ("cancel the " * 45, "a las 8, " * 55 + "recuérdame", "move it " * 60 + "to 5", "remind me " * 49):
        assert_bounded(lambda said: match_order(said, _NOW), text * 10)


@pytest.mark.parametrize(
    ("text", "what", "minutes"),
    [
        ("move it an hour later", "", 60),
        ("push the dentist one back by 30 minutes", "dentist", 30),
        ("bring it forward half an hour", "", -30),
        ("retrásalo una hora", "", 60),
        ("posponlo 10 minutos", "", 10),
        ("adelanta el del dentista media hora", "dentista", -30),
        ("muévelo una hora antes", "", -60),
    ],
)
def test_one_may_be_moved_by_a_span(text: str, what: str, minutes: int) -> None:
    """Later, or earlier where the words say so."""
    order = match_order(text, _NOW)
    assert order is not None
    assert (order.kind, order.what, order.shift) == ("move", what, timedelta(minutes=minutes))


def test_what_is_typed_behind_a_command_is_an_order() -> None:
    """When and what in either order, with or without the words of an order."""
    for text in ("tomorrow at 8 call Luis", "call Luis tomorrow at 8", "me to call Luis tomorrow at 8"):
        order = read_typed(text, _NOW, "en")
        assert order is not None
        assert order.when is not None
    assert read_typed("  ", _NOW, "en") is None


def test_an_answer_is_a_time_and_nothing_else() -> None:
    """With its preposition or without; half of a day is one by itself."""
    for text in ("tomorrow at 9", "at 9", "a las 9", "al viernes", "in 10 minutes", "10 minutos"):
        assert read_whole_time(text, _NOW) is not None, text
    for text in ("tomorrow I go home", "hello", "", "no"):
        assert read_whole_time(text, _NOW) is None, text
    assert (read_half("in the afternoon"), read_half("por la mañana"), read_half("mañana no")) == ("pm", "am", "")
