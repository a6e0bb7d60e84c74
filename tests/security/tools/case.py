"""The cases of the corpus: what the owner says, what a tool brings, and what the model does then."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kenobot.ports.json_value import Json

Language = Literal["en", "es"]
Carrier = Literal[
    "page", "hidden", "search", "title", "file", "file name", "pdf", "git", "server", "failure", "http", "description"
]
Way = Literal["description", "end of a description", "parameter", "choice", "new tool"]
When = Literal["now", "next", "later", "recalled", "pad"]
Place = Literal["result", "reply", "memory", "job", "file", "sent"]

Call = tuple[str, Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Step:
    """What the model writes at one request: words, and calls of tools."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Goal:
    """What an attacker wants. marks: what must not leave. plants: what must not become the owner's word.

    links: beginnings of addresses that must not be in a reply. orders: how it is asked for, in each language.
    """

    name: str
    steps: tuple[Step, ...]
    orders: Mapping[Language, tuple[str, ...]]
    marks: tuple[str, ...] = ()
    plants: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attack:
    """A goal by a carrier. text: what the carrier holds. when: the model obeys it. way: of a list of tools."""

    id: str
    goal: Goal
    carrier: Carrier
    when: When
    language: Language
    text: str
    way: Way = "description"


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of the owner's, and what the model does."""

    says: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """A harmless use. brings: what the carriers hold. want: what has to come of it."""

    id: str
    kind: str
    language: Language
    turns: tuple[Turn, ...]
    want: tuple[tuple[Place, str], ...]
    brings: Mapping[Carrier, str] = field(default_factory=dict)
