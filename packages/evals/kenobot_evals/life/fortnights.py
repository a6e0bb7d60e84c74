"""Load the fortnights: what forty invented people say to the bot, the facts in it, and questions asked afterwards.

A fact is a list of words that must stand in one memory, in this order or another: `alergi|intoler lactosa @2026-03-10`
has alternatives, each the beginning of a word, and the day that the memory must be due on.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from importlib import resources
from typing import NotRequired, TypedDict
from zoneinfo import ZoneInfo

from kenobot.core import lazy
from kenobot.language.words import fold
from kenobot.ports.errors import ConfigError

PEOPLE = ("irene", "joaquin", "priya", "tom")
"""Whose fortnights rules may be made with."""

KEPT_BACK = ("bruno", "maureen")
"""Whose fortnights judge the rules: not to be looked at while rules are made."""

DIALOGUES = (
    *("develop", "judge", "near-develop", "near-judge"),
    *("ended-develop", "ended-judge", "events-develop", "events-judge"),
    *("misses-develop", "misses-judge"),
)
"""The halves of the short dialogues, of those with what only looks like a change, of those in which an event ends a
state, of those in which what is meant goes by other words, and of those in which nothing ends: `judge` judges."""

OF_CHANGES = ("gonzalo", "nell")
"""People whose plans and habits change a lot, written before the rules for changes were and looked at once since."""

EVERYDAY = ("camila", "jade")
"""People with plain changes of every day, written without a look at the rules; rules are mended with these two."""

EVERYDAY_KEPT_BACK = ("itzel", "callum")
"""Two of the same kind that judge: not to be looked at while rules are made."""

STRANGERS = ("rocio", "wilmer", "dervla", "arthur")
"""Four written by others, who saw no rule, after the rules were made; looked at for how much is worth a note."""

STRANGERS_KEPT_BACK = ("covadonga", "nahuel", "fintan", "odette")
"""Four more of that kind, by another writer, that judged once; rules have been made with them since."""

LEARNED = ("morag", "nerea", "osvaldo", "wes", "beatriz", "jude", "ramon", "sorcha")
"""Eight by two more writers, from whose questions is learned when what was found answers one."""

LEARNED_KEPT_BACK = ("curro", "harriet", "lorraine", "marcela", "dosinda", "harlan", "vicente", "yinka")
"""Eight of that kind, by two others, that judge what was learned: nobody who makes rules looks at them."""

_FILES = {"": "changes.toml", "near": "near_changes.toml", "ended": "ended_states.toml"}
_FILES |= {"events": "events.toml", "misses": "near_misses.toml"}
_ZONE_OF_DIALOGUES = ZoneInfo("Europe/Madrid")
_FIRST_OF_DIALOGUE = datetime(2026, 3, 5, 10, tzinfo=_ZONE_OF_DIALOGUES)
_BETWEEN = timedelta(minutes=30)
UNSEEN = ("eulalia", "brayan", "grainne", "marcus")
"""Four by one more writer: nobody who makes rules or learns weights has looked at them."""

_ALL = (
    *(*PEOPLE, *KEPT_BACK, *OF_CHANGES, *EVERYDAY, *EVERYDAY_KEPT_BACK),
    *(*STRANGERS, *STRANGERS_KEPT_BACK, *LEARNED, *LEARNED_KEPT_BACK, *UNSEEN),
)


class _Dialogue(TypedDict):
    says: list[str]
    was: NotRequired[str]
    now: NotRequired[str]
    keeps: NotRequired[list[str]]


@dataclass(frozen=True)
class Fact:
    """A fact of a fortnight by its words, as the data writes it."""

    words: str

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        found = [word for word in _fold(self.words).split() if not word.startswith("@")]
        return tuple(lazy.regex(rf"(?<!\w)(?:{'|'.join(map(re.escape, word.split('|')))})") for word in found)

    @property
    def due(self) -> str:
        """Return the day that it names, "" for none."""
        return next((word[1:] for word in self.words.split() if word.startswith("@")), "")

    def is_in(self, text: str) -> bool:
        """Return whether a text has all its words."""
        plain = _fold(text)
        return all(pattern.search(plain) for pattern in self._patterns)


def _fold(text: str) -> str:
    """Fold a text, and ñ with it, which writers of facts leave out as they do accents."""
    return fold(text).replace("ñ", "n")


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message of a fortnight.

    ends: earlier facts that hold no longer after it. confided: others must not learn of what it says.
    """

    at: datetime
    text: str
    facts: tuple[Fact, ...]
    ends: tuple[Fact, ...]
    confided: bool


@dataclass(frozen=True, slots=True)
class LifeQuestion:
    """A question after the fortnight. answer: words of the line that answers it; None when nothing was said of it."""

    text: str
    answer: Fact | None


@dataclass(frozen=True, slots=True)
class LifeNote:
    """Hold what a careful model notes of a message. due: a day, "" for none. ends: words of the memory that it ends."""

    text: str
    due: str = ""
    ends: str = ""


@dataclass(frozen=True, slots=True)
class Fortnight:
    """Hold what one person says in two weeks, oldest first. notes: a careful model's, by the time of a message."""

    name: str
    language: str
    zone: ZoneInfo
    utterances: tuple[Utterance, ...]
    questions: tuple[LifeQuestion, ...]
    notes: Mapping[datetime, tuple[LifeNote, ...]] = field(default_factory=dict)  # bounded: of one person; turn

    @property
    def standing_facts(self) -> tuple[tuple[int, Fact], ...]:
        """Return the facts that hold in the end, each with the place of its utterance."""
        said = [(place, fact) for place, each in enumerate(self.utterances) for fact in each.facts]
        ended = [(place, fact) for place, each in enumerate(self.utterances) for fact in each.ends]
        return tuple(
            (place, fact) for place, fact in said if not any(fact == other and place < at for at, other in ended)
        )


def load_fortnight(name: str) -> Fortnight:
    """Load the fortnight of one person. Raises ConfigError when there is none of this name."""
    file = resources.files(__package__).joinpath("data", f"{name}.jsonl")
    if name not in _ALL:
        raise ConfigError(f"There is no fortnight of {name}: there are {', '.join(_ALL)}.")
    first, *rows = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    zone = ZoneInfo(first["zone"])
    return Fortnight(
        first["name"],
        first["lang"],
        zone,
        tuple(_utterance(row, zone) for row in rows if "says" in row),
        tuple(LifeQuestion(row["asks"], Fact(row["needs"]) if row["needs"] else None) for row in rows if "asks" in row),
        {
            datetime.fromisoformat(row["at"]): tuple(LifeNote(**note) for note in row["notes"])
            for row in rows
            if "notes" in row
        },
    )


def _utterance(row: Mapping[str, str | list[str] | bool], zone: ZoneInfo) -> Utterance:
    at, text, facts, ends = row["at"], row["says"], row.get("facts", []), row.get("ends", [])
    assert isinstance(at, str)
    assert isinstance(text, str)
    assert isinstance(facts, list)
    assert isinstance(ends, list)
    moment = datetime.fromisoformat(at).replace(tzinfo=zone)
    return Utterance(moment, text, tuple(map(Fact, facts)), tuple(map(Fact, ends)), row.get("confided") is True)


def load_dialogues(part: str) -> list[Fortnight]:
    """Load the short dialogues of one of `DIALOGUES`, each as a fortnight of a few messages."""
    kind, _, half = part.rpartition("-")
    text = resources.files(__package__).joinpath("data", _FILES[kind]).read_text("utf-8")
    return [_dialogue(f"{part}-{at}", row) for at, row in enumerate(tomllib.loads(text)[half], 1)]


def _dialogue(name: str, row: _Dialogue) -> Fortnight:
    """Build a dialogue: its last message ends `was`, of the first that tells it, and says `now`; `keeps` stays."""
    said = row["says"]
    was = tuple(Fact(words) for words in (row.get("was", ""),) if words)
    told: list[list[Fact]] = [[] for _ in said]
    for fact in (*was, *map(Fact, row.get("keeps", ()))):
        told[next((at for at, text in enumerate(said) if fact.is_in(text)), 0)].append(fact)
    told[-1] += [Fact(words) for words in (row.get("now", ""),) if words]
    utterances = [
        Utterance(_FIRST_OF_DIALOGUE + at * _BETWEEN, text, tuple(told[at]), was if at == len(said) - 1 else (), False)
        for at, text in enumerate(said)
    ]
    return Fortnight(name, "en", _ZONE_OF_DIALOGUES, tuple(utterances), ())
