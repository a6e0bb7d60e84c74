"""Read the front matter of a SKILL.md: words of somebody else, in YAML of which texts and one level of maps are taken.

Every value is the text that stands there, as the specification's own reader has it. Anchors, tags and deep nesting are
refused before anything is built of them.
"""

import re
from collections.abc import Iterator, Mapping

import yaml

from kenobot.core import lazy
from kenobot.ports.errors import KenobotError
from kenobot.ports.frozen import dataclass

Value = str | Mapping[str, str]

_FENCE = lazy.regex(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_LONGEST = 16_000  # characters of front matter
_MOST_EVENTS = 2_000
_DEEPEST = 3
_PLAIN = lazy.regex(r"([A-Za-z][\w-]*):[ \t]+(\S.*)")


class UnusableSkill(KenobotError):
    """A skill cannot be used."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Values by their names, and the text below. strict: it is YAML without brackets, as the specification wants."""

    values: Mapping[str, Value]
    body: str
    strict: bool = True


def parse_page(text: str) -> FrontMatter:
    """Take a SKILL.md apart. Raises UnusableSkill.

    Values with a colon in them are common and no YAML: such a page is read line by line.
    """
    page = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = _FENCE.match(page)
    if found is None:
        raise UnusableSkill("skills.no_front_matter")
    head, body = found[1], page[found.end() :].strip("\n")
    if len(head) > _LONGEST:
        raise UnusableSkill("skills.long_front_matter", most=_LONGEST)
    try:
        events = list(_check_events(head))
    except (yaml.YAMLError, ValueError, OverflowError):  # the latter two of escapes that are no letters
        return FrontMatter(_parse_lines(head), body, strict=False)
    if not events or not isinstance(events[0], yaml.MappingStartEvent):
        raise UnusableSkill("skills.no_mapping")
    strict = not any(getattr(event, "flow_style", False) for event in events)
    return FrontMatter(_mapping(iter(events[1:])), body, strict)


def _check_events(head: str) -> Iterator[yaml.Event]:
    """Iterate over the events of a YAML text: none is nested deep, and none refers to another."""
    depth = 0
    passed = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)
    for count, event in enumerate(yaml.parse(head, Loader=yaml.SafeLoader)):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise UnusableSkill("skills.anchors")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST or count > _MOST_EVENTS:
            raise UnusableSkill("skills.deep_front_matter")
        if not isinstance(event, passed):
            yield event


def _mapping(events: Iterator[yaml.Event]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            return values
        if not isinstance(key, yaml.ScalarEvent):
            raise UnusableSkill("skills.name_no_text")
        if key.value in values:
            raise UnusableSkill("skills.name_twice", name=key.value[:40])
        values[key.value] = _value(next(events), events)
    return values


def _value(event: yaml.Event, events: Iterator[yaml.Event]) -> Value:
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    if isinstance(event, yaml.MappingStartEvent):
        return {name: value if isinstance(value, str) else "" for name, value in _mapping(events).items()}
    return " ".join(_items(events))


def _items(events: Iterator[yaml.Event]) -> Iterator[str]:
    """Return the texts of a list, as others write `allowed-tools`."""
    depth = 1
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.ScalarEvent):
            yield str(event.value)
        if not depth:
            return


def _parse_lines(head: str) -> Mapping[str, Value]:
    found = (_PLAIN.fullmatch(line.rstrip()) for line in head.split("\n"))
    values: dict[str, Value] = {}
    for match in found:
        if match is not None:
            values.setdefault(match[1], match[2].strip("\"'"))
    return values
