"""Made-up memories as people tell them, in Spanish and English, any number of them, and what is asked about them.

The first ones are the same whatever the number: a conversation about these asks the same of every size.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from kenobot.cognitive.control.export_format import FORMAT, VERSION
from kenobot.ports.json_value import Json
from kenobot.storage.times import stamp

_FIRST = (
    "Ana Luis Marta Íñigo Carmen Pablo Lucía Jorge Elena Diego Sara Hugo Irene Mateo Nuria Óscar Emma Liam Olivia Noah "
    "Ava Lucas Mia Ethan Zoe Oliver Chloe Jack Ruby Leo Freya Max Iris Theo Nora Adam Ivy Kai Lena Finn"
).split()
_LAST = (
    "Torres Núñez Vidal Ibáñez Soler Rey Prieto Gil Cano Mora León Ferrer Pardo Rojas Duarte Salas Bravo Luna Ortiz "
    "Vega Baker Carter Dixon Ellis Foster Grant Hughes Irwin Jensen Keller Lowe Mason Nolan Osborne Price Quinn Reed "
    "Stone Turner Walsh"
).split()
_PLACES = (
    "Bilbao Lyon Oslo Cádiz Turin Porto Kyoto Quito Dublin Ghent Lima Cork Gijón Bergen Tartu Split Vigo Leeds Utrecht "
    "Braga"
).split()
_THINGS = (
    "cello kayak loom telescope sourdough chess beehive scooter typewriter orchard drone pottery accordion greenhouse "
    "aquarium sidecar printer compost violin skateboard"
).split()
_TELLING: tuple[tuple[str, str], ...] = (
    ("{who} lives in {place}", "Where does {who} live?"),
    ("{who} vive en {place}", "¿Dónde vive {who}?"),
    ("{who} bought a {thing} in {place}", "What did {who} buy?"),
    ("{who} se ha comprado un {thing} en {place}", "¿Qué se ha comprado {who}?"),
    ("the office of {who} is on floor {number} in {place}", "On which floor is the office of {who}?"),
    ("la reunión con {who} es en la sala {number}", "¿En qué sala es la reunión con {who}?"),
    ("{who} repairs every {thing} in {place} for {number} euros", "What does {who} repair?"),
    ("{who} colecciona piezas de {thing} desde hace {number} días", "¿Qué colecciona {who}?"),
)
_YEARS = timedelta(days=730)


@dataclass(frozen=True, slots=True)
class SyntheticMemory:
    """Something that somebody told once, and what is asked about it."""

    text: str
    question: str


def synthetic_memory(number: int) -> SyntheticMemory:
    """The memory of a number, from 0 on; no two have the same words."""
    round_, at = divmod(number, len(_TELLING))
    text, question = _TELLING[at]
    first, last = _FIRST[round_ % len(_FIRST)], _LAST[round_ // len(_FIRST) % len(_LAST)]
    middle = round_ // (len(_FIRST) * len(_LAST))
    who = f"{first} {_LAST[middle - 1]}-{last}" if middle else f"{first} {last}"
    place, thing = _PLACES[(7 * round_ + at) % len(_PLACES)], _THINGS[(3 * round_ + 5 * at) % len(_THINGS)]
    return SyntheticMemory(text.format(who=who, place=place, thing=thing, number=number), question.format(who=who))


def export_lines(count: int, now: datetime) -> Iterator[str]:
    """So many memories of the last two years as an export that `kenobot memory import` reads, the oldest first."""
    head: dict[str, Json] = {"format": FORMAT, "version": VERSION, "exported": stamp(now), "counts": {"record": count}}
    yield json.dumps({"head": head})
    for number in range(count):
        at = now - _YEARS * (1 - number / count) - timedelta(minutes=1)
        row: dict[str, Json] = {
            "id": number + 1,
            "form": "note",
            "scope": "owner",
            "text": synthetic_memory(number).text,
            "source": "tag",
            "trust": "owner",
            "confidence": 0.9,
            "created": stamp(at),
            "day": at.date().isoformat(),
        }
        yield json.dumps({"record": row}, ensure_ascii=False)
