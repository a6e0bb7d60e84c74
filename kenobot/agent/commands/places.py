"""Find where somebody says that they are, and the time zone of that place."""

from datetime import date, datetime
from functools import cache

from kenobot.agent.commands.reminder_orders import match_stay, read_whole_time
from kenobot.language.lexicon import load_tables
from kenobot.language.sentences import split_sentences
from kenobot.language.when import Moment
from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Stay:
    """A stay at a place: its name as it was said, its zone, and the last day, None for an open end."""

    place: str
    zone: str
    until: date | None


@cache
def _zones() -> dict[str, str]:
    """Map the names of places to their zones."""
    tables = load_tables(__package__ or "", "places.toml")
    return {name: zone for zone, names in tables.items() for name in names.split(",")}


def find_stay(text: str, now: datetime) -> Stay | None:
    """Return the stay that a sentence of a message tells of; None for none at a known place. now: local time."""
    for sentence in split_sentences(text):
        said = match_stay(sentence)
        zone = _zones().get(said.plain) if said is not None else None
        if said is None or zone is None:
            continue
        when = read_whole_time(said.until, now) if said.until else None
        meaning = when.meaning if when is not None else None
        if said.until and not isinstance(meaning, Moment):
            continue
        return Stay(said.place, zone, meaning.at.date() if isinstance(meaning, Moment) else None)
    return None
