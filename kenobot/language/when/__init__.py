"""Read the moments and recurrences that a text names, in Spanish and English; pure, in the owner's local time."""

from kenobot.language.when.meaning import Choice, Meaning, Moment, Recurrence, When
from kenobot.language.when.read import read_when
from kenobot.language.when.strip import strip_when

__all__ = ["Choice", "Meaning", "Moment", "Recurrence", "When", "read_when", "strip_when"]
