"""Read which days a message asks for, planned or past: each message is read so, and few are answered."""

from datetime import date

from kenobot.agenda.past_question import PastQuestion, past_question
from kenobot.language.question.agenda import AgendaQuestion, agenda_question


def read_question(text: str, today: date) -> AgendaQuestion | PastQuestion | None:
    """Return the question for an agenda or a log that a message is; None for any other message."""
    if (past := past_question(text, today)) is not None:
        return past
    asked = agenda_question(text, today)
    if asked is not None and asked.days.last < today:  # "and yesterday?"
        return PastQuestion("done", asked.days)
    return asked


def asks_for_days(text: str, today: date) -> bool:
    """Return whether a text is a question for an agenda or a log, from which nothing is remembered."""
    return read_question(text, today) is not None
