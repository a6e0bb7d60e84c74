"""The script of the month, from a TOML file: who says what and when, what a decent model notes of it, what is asked.

A step may tell one fact; its fate says whether in the end it should live. A question names the texts that the prompt's
memory must hold for it, and those that it must never hold.
"""

import tomllib
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from bench.scripted_facts import ScriptedFact
from kenobot_testing.scenario import Expectation, Speaker

ExpectedState = Literal["lives", "superseded", "forgotten", "purged", "private"]
"""`private`: it lives, and belongs to somebody else than the owner, or to a group."""


@dataclass(frozen=True, slots=True)
class MonthStep:
    """Something that happens at a moment. says: what somebody writes; command: an order on the command line.

    remember, chat_memory, update: what the model's reply carries as tags. fact: the words by which the fact that is
    told is known again; scope: where it belongs; question: what leads to it in the exam at the end. restart: the bot is
    stopped and started first. down: from now on no model can be reached; up: it can again. expect: this is a question,
    and its prompt is held against it.
    """

    at: datetime
    kind: str
    who: Speaker | None = None
    says: str = ""
    command: tuple[str, ...] = ()
    reply: str = ""
    remember: str = ""
    chat_memory: str = ""
    update: str = ""
    noted: ScriptedFact | None = None
    fact: str = ""
    fate: ExpectedState = "lives"
    scope: str = "owner"
    question: str = ""
    restart: bool = False
    down: bool = False
    up: bool = False
    expect: Expectation | None = None


@dataclass(frozen=True, slots=True)
class MonthScript:
    """The whole month, in order. owner: user ids; users, chats: who else may talk, and where everybody may."""

    zone: ZoneInfo
    memory_tokens: int
    owners: tuple[str, ...]
    users: tuple[str, ...]
    chats: tuple[str, ...]
    steps: tuple[MonthStep, ...] = field(default_factory=tuple)


def load(text: str | None = None) -> MonthScript:
    """The script that ships, or another one. Raises KeyError, TypeError or ValueError where it makes no sense."""
    if text is None:
        text = Path(__file__).with_name("script.toml").read_text("utf-8")
    table = tomllib.loads(text)
    zone = ZoneInfo(table["zone"])
    people = {key: Speaker(**row) for key, row in table["people"].items()}
    steps = [_step(row, people, zone) for row in table["step"]]
    steps += _everyday(table.get("everyday", {}), people, zone)
    said = Counter(step.says for step in steps if step.says)
    if twice := [text for text, count in said.items() if count > 1]:
        raise ValueError(f"the script says twice: {twice[0]}")
    return MonthScript(
        zone,
        table["memory_tokens"],
        tuple(table["owners"]),
        tuple(table["users"]),
        tuple(table["chats"]),
        tuple(sorted(steps, key=lambda step: step.at)),
    )


def _step(row: dict[str, Any], people: dict[str, Speaker], zone: ZoneInfo) -> MonthStep:
    values = dict(row)
    values["at"] = _moment(values["at"], zone)
    values["who"] = people[values["who"]] if "who" in values else None
    if "noted" in values:
        noted = dict(values["noted"])
        noted["attributes"] = tuple(noted.get("attributes", {}).items())
        for name in ("contradicts", "repeats"):
            noted[name] = tuple(noted.get(name, ()))
        values["noted"] = ScriptedFact(**noted)
    values["command"] = tuple(values.get("command", ()))
    expected: dict[str, Any] = {
        name: tuple(values.pop(name)) for name in ("prompt", "never", "nowhere") if name in values
    }
    values["expect"] = Expectation(**expected) if expected else None
    return MonthStep(**values)


def _everyday(table: dict[str, Any], people: dict[str, Speaker], zone: ZoneInfo) -> list[MonthStep]:
    """The small things of every day, so that memory does not simply fit.

    sentences: pairs of what is said and a question about it, with {n} and {m} filled in.
    """
    if not table:
        return []
    steps: list[MonthStep] = []
    sentences: list[list[str]] = table["sentences"]
    for number in range(table["count"]):
        at = _moment(table["from"], zone) + timedelta(minutes=number * table["minutes"])
        filled = {"n": 100 + number, "m": 10 + (number * 7) % 80}
        text, question = (sentence.format(**filled) for sentence in sentences[number % len(sentences)])
        who = people[table["who"]]
        steps.append(MonthStep(at, table["kind"], who, text, reply="👍", remember=text, fact=text, question=question))
    return steps


def _moment(value: datetime, zone: ZoneInfo) -> datetime:
    return value.replace(tzinfo=zone)
