"""Who says what on which day: plausible talk, the same for the same seed."""

import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from bench.scripted_facts import ScriptedFact

_GUESSED = 0.25
_FIRST_HOUR, _LAST_HOUR = 8, 23
_SHARES = {  # of the messages of a day, on average; what is left is chatter
    "later": 0.04,
    "episode": 0.06,
    "habit": 0.08,
    "correction": 0.004,
    "trouble": 0.01,
    "pad": 0.02,
    "ask": 0.04,
}
_ELSEWHERE = 0.25  # of the messages, said in the owner's other chat


@dataclass(frozen=True, slots=True)
class FactProbe:
    """Something that memory should keep. text: the words by which it is known again. question: what leads to it."""

    text: str
    question: str


@dataclass(frozen=True, slots=True)
class ScriptedMessage:
    """A message. remember, chat_memory, working: tags of the reply. scripted_fact: what a model that reads along
    makes of it.

    fact: what it tells that should be kept. in_other_chat: said in the owner's other chat.
    """

    at: datetime
    kind: str
    text: str
    remember: str = ""
    chat_memory: str = ""
    working: str = ""
    scripted_fact: ScriptedFact | None = None
    fact: FactProbe | None = None
    in_other_chat: bool = False


class TalkGenerator:
    """The talk of years, day by day.

    current_facts: the fact that each correction has made true so far, by its attribute.
    """

    def __init__(self, per_day: int, seed: int = 7, text: str | None = None) -> None:
        """Raises KeyError or ValueError when `text`, instead of the talk that ships, makes no sense."""
        if text is None:
            text = Path(__file__).with_name("talk.toml").read_text("utf-8")
        table = tomllib.loads(text)
        self.zone = ZoneInfo(table["zone"])
        self.memory_tokens: int = table["memory_tokens"]
        self.first_day_facts = tuple(FactProbe(row["fact"], row["question"]) for row in table["first"])
        self.guessed_facts = tuple(FactProbe(row["fact"], row["question"]) for row in table["guess"])
        self.later_facts: list[FactProbe] = []
        self.current_facts: dict[str, FactProbe] = {}
        self.outdated_facts: list[FactProbe] = []
        self._table = table
        self._per_day = per_day
        self._random = Random(seed)
        self._number = 1000
        self._turns = {row["attribute"]: 0 for row in table["correction"]}

    def messages_of(self, on: date, *, first: bool = False) -> Iterator[ScriptedMessage]:
        """What is said on a day, in order. first: with what is told on the first one."""
        kinds = [*self._of_the_day()]
        opening = [*self._opening()] if first else []
        minutes = (_LAST_HOUR - _FIRST_HOUR) * 60
        count = len(opening) + len(kinds)
        begin = datetime.combine(on, time(_FIRST_HOUR), self.zone)
        for number in range(count):
            at = begin + timedelta(minutes=minutes * number // count)
            if number < len(opening):
                yield self._first(opening[number], at)
            else:
                yield self._say(kinds[number - len(opening)], at)

    def _opening(self) -> Iterator[Mapping[str, Any]]:
        yield from self._table["first"]
        yield from self._table["guess"]

    def _of_the_day(self) -> Iterator[str]:
        kinds, weights = [*_SHARES], [*_SHARES.values()]
        yield from self._random.choices([*kinds, "chatter"], [*weights, 1 - sum(weights)], k=self._per_day)

    def _first(self, row: Mapping[str, Any], at: datetime) -> ScriptedMessage:
        if "noted" in row:
            return ScriptedMessage(
                at, "guess", row["says"], scripted_fact=ScriptedFact(row["noted"], confidence=_GUESSED, importance=3)
            )
        said, remember = row["says"], row.get("remember", "")
        noted = None if remember or said.startswith("/") else ScriptedFact(said)
        return ScriptedMessage(
            at, "first", said, remember, scripted_fact=noted, fact=FactProbe(row["fact"], row["question"])
        )

    def _say(self, kind: str, at: datetime) -> ScriptedMessage:
        elsewhere = self._random.random() < _ELSEWHERE
        if kind == "ask":
            known = [*self.later_facts, *self.current_facts.values()]
            if known:
                return ScriptedMessage(at, kind, self._random.choice(known).question, in_other_chat=elsewhere)
            kind = "chatter"
        row: Mapping[str, Any] = self._random.choice(self._table[kind])
        if kind == "correction":
            return self._correct(row, at)
        words = self._words()
        fact = FactProbe(_filled(row["fact"], words), _filled(row["question"], words)) if kind == "later" else None
        if fact is not None:
            self.later_facts.append(fact)
        return ScriptedMessage(
            at,
            kind,
            _filled(row["says"], words),
            remember=_filled(row.get("remember", ""), words),
            chat_memory=_filled(row.get("chat_memory", ""), words),
            working=_filled(row.get("working", ""), words),
            fact=fact,
            in_other_chat=elsewhere,
        )

    def _correct(self, row: Mapping[str, Any], at: datetime) -> ScriptedMessage:
        """The next value of something; the one before it is outdated from then on."""
        attribute: str = row["attribute"]
        values: list[str] = row["values"]
        value = values[self._turns[attribute] % len(values)]
        self._turns[attribute] += 1
        told: str = row["remember"].format(value=value)
        if (before := self.current_facts.get(attribute)) is not None:
            self.outdated_facts.append(before)
        fact = self.current_facts[attribute] = FactProbe(told, row["question"])
        self.outdated_facts = [each for each in self.outdated_facts if each.text != told]
        contradicts = (before.text,) if before is not None else ()
        noted = ScriptedFact(told, "correction", attributes=((attribute, value),), contradicts=contradicts)
        return ScriptedMessage(at, "correction", row["says"].format(value=value), told, scripted_fact=noted, fact=fact)

    def _words(self) -> Mapping[str, object]:
        self._number += 1
        drawn = {name: self._random.choice(words) for name, words in self._table["words"].items()}
        return {**drawn, "n": self._number}


def _filled(text: str, words: Mapping[str, object]) -> str:
    return string.Formatter().vformat(text, (), words)
