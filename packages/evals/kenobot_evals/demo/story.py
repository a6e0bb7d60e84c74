"""The story, from a TOML file: who says what and when, what a model answers, and what has to be so afterwards."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib import resources
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.core.i18n import Language
from kenobot_testing.scenario import Expectation, Speaker

LocalizedText = Mapping[Language, str]
"""A sentence for the reader, in each language."""

_FIRST = "{first}"
_ALL = "all"


@dataclass(frozen=True, slots=True)
class DemoStep:
    """A moment of the story. says: what somebody writes, and `reply` what the model makes of it, with its tags.

    night: the bot has slept since the step before, and may have now. off: until now it was switched off.
    """

    at: datetime
    title: LocalizedText
    tells: LocalizedText
    who: Speaker | None = None
    says: str = ""
    reply: str = ""
    night: bool = False
    off: bool = False
    expect: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Act:
    """The whole story, for one wording of what the model notes first."""

    name: str
    title: LocalizedText
    tells: LocalizedText
    steps: tuple[DemoStep, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """start: when the bot is started. schedule_interval: how often its schedule is followed.

    files: its memory folder, by then.
    """

    zone: ZoneInfo
    start: datetime
    schedule_interval: timedelta
    config: str
    owners: tuple[str, ...]
    users: tuple[str, ...]
    files: Mapping[str, str]
    acts: tuple[Act, ...]


def load(text: str | None = None) -> Story:
    """Return the story that ships, or another one. Raises KeyError, TypeError or ValueError where it makes no sense."""
    if text is None:
        text = resources.files("kenobot_evals.demo").joinpath("story.toml").read_text("utf-8")
    table = tomllib.loads(text)
    zone = ZoneInfo(table["zone"])
    people = {key: Speaker(**row) for key, row in table["people"].items()}
    return Story(
        zone=zone,
        start=table["start"].replace(tzinfo=zone),
        schedule_interval=timedelta(hours=table["look_hours"]),
        config=table["config"],
        owners=tuple(table["owners"]),
        users=tuple(table["users"]),
        files={name: held.lstrip("\n") for name, held in table["files"].items()},
        acts=tuple(_act(row, table["step"], people, zone) for row in table["wording"]),
    )


def _act(wording: Mapping[str, Any], rows: list[dict[str, Any]], people: Mapping[str, Speaker], zone: ZoneInfo) -> Act:
    steps = tuple(_step(row, wording, people, zone) for row in rows)
    if any(later.at <= earlier.at for earlier, later in pairwise(steps)):
        raise ValueError("the steps of the story are not in order")
    return Act(wording["name"], wording["title"], wording["tells"], steps)


def _step(row: dict[str, Any], wording: Mapping[str, Any], people: Mapping[str, Speaker], zone: ZoneInfo) -> DemoStep:
    told: dict[str, dict[str, Any]] = row.get("expect", {})
    values = {name: value for name, value in row.items() if name != "expect"}
    step = DemoStep(**values, expect=tuple(_expect(told[name]) for name in (_ALL, wording["name"]) if name in told))
    return replace(
        step,
        at=row["at"].replace(tzinfo=zone),
        who=people[row["who"]] if "who" in row else None,
        reply=step.reply.replace(_FIRST, wording["reply"].strip("\n")),
    )


def _expect(row: dict[str, Any]) -> Expectation:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return Expectation(**values)
