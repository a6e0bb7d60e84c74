"""Moments and recurrences that a text names, in Spanish and English; pure, in the owner's local time.

`read.read_when` reads them and `strip.strip_when` cuts them out; a program that only counts with them imports neither.
"""

from kenobot.language.when.meaning import Choice, Meaning, Moment, Recurrence, When

__all__ = ["Choice", "Meaning", "Moment", "Recurrence", "When"]
