"""What people say in a play, what the model answers, and what memory is asked afterwards.

Every home has a secret word, said in nearly every message and repeated in every answer: where it is found outside its
home, something of one home came into another.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.crash.world import Model, tag_in
from tests.hosting.chaos.story import Story
from tests.integration.providers.anthropic_standin import Entry

SECRET = re.compile(rb"kanari(\d{4})x", re.IGNORECASE)
_THINGS = "key ladder lantern compass kettle anchor violin globe saddle hammer telescope umbrella".split()
_PLACES = "attic cellar garage pantry stable workshop lighthouse chapel orchard boathouse bakery mill".split()
_ASIDES = ("Qué tal va todo?", "What a morning.", "Hoy llueve en la montaña.", "The train was late again.")
_TOLD = re.compile(r"the (\w+) of (\w+) is in the (\w+)", re.IGNORECASE)
_NAMES = "Ana Bruno Carla Diego Elena Fabio Greta Hugo Irene Jonas Karin Luis Marta Nico Olga Pablo".split()


def secret_of(home: int) -> str:
    """Return the secret word of a home."""
    return f"kanari{home:04d}x"


def find_secrets(content: bytes) -> set[int]:
    """Find of which homes the secret words are in some bytes."""
    return {int(number) for number in SECRET.findall(content)}


@dataclass(frozen=True, slots=True)
class Line:
    """Something that a person says: in which home and chat, to the bot of which token."""

    tag: str
    home: int
    chat: str
    token: str
    is_posted: bool
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """A chat with a bot: where something can be said. number: within its home."""

    home: int
    number: int
    chat: str
    token: str
    is_posted: bool


def write_lines(story: Story, places: Sequence[Place]) -> list[Line]:
    """Write what people say, in order: in some homes at a time, each chat again and again."""
    rng = Random(f"{story.seed} talk")
    by_home: dict[int, list[Place]] = {}
    for place in places:
        by_home.setdefault(place.home, []).append(place)
    homes = sorted(by_home)
    rng.shuffle(homes)
    lines: list[Line] = []
    told = Counter[str]()
    done = 0
    for at in range(0, len(homes), story.together):
        wave = homes[at : at + story.together]
        done += len(wave)
        there = [place for home in wave for place in by_home[home]]
        while len(lines) < story.messages * done // len(homes):
            place = rng.choice(there)
            tag = f"m{len(lines):05d}"
            text = f"{tag} {_say(place, told[place.chat], rng)}"
            told[place.chat] += 1
            lines.append(Line(tag, place.home, place.chat, place.token, place.is_posted, text))
    return lines


def _say(place: Place, count: int, rng: Random) -> str:
    """Say something; every other time where a thing is, each thing once in a chat."""
    secret = secret_of(place.home)
    if count % 2:
        return f"{rng.choice(_ASIDES)} {secret}"
    thing, name = _THINGS[count // 2 % len(_THINGS)], _NAMES[(place.number + count // 2 // len(_THINGS)) % len(_NAMES)]
    return f"The {thing} of {name} is in the {rng.choice(_PLACES)}, {secret}"


def write_questions(lines: Iterable[Line], most: int) -> dict[int, list[tuple[str, str]]]:
    """Write so many questions for each home, as chat and text: after things that were told, and some that were not."""
    told: dict[int, list[tuple[str, str]]] = {}
    chats: dict[int, dict[str, None]] = {}
    for line in lines:
        chats.setdefault(line.home, {})[line.chat] = None
        if found := _TOLD.search(line.text):
            thing, name, _ = found.groups()
            told.setdefault(line.home, []).append((line.chat, f"Where is the {thing} of {name}?"))
    asked: dict[int, list[tuple[str, str]]] = {}
    for home, there in chats.items():
        known = told.get(home, [])[: most - len(there)]
        others = [(chat, f"Where did I put the {thing}?") for thing in _THINGS for chat in there]
        asked[home] = [*known, *others][:most]
    return asked


@dataclass
class Watched:
    """What a model has seen. leaks: prompts of one home with the secret of another. prompts: that had their own."""

    leaks: list[str] = field(default_factory=list)
    prompts: int = 0


class HomesModel(Model):
    """Answers by tag and number, repeats the secret, and has memory keep what was told.

    home_of: the home in which a tag was said. watched: what prompts had in them.
    """

    def __init__(self, home_of: Callable[[str], int]) -> None:
        super().__init__()
        self.home_of = home_of
        self.watched = Watched()

    def _entry(self, said: str) -> Entry:
        tag, prompt = tag_in(said), self.requests[-1]
        if tag is not None:
            own = self.home_of(tag)
            found = find_secrets(json.dumps(prompt).encode())
            self.watched.prompts += own in found
            if others := found - {own}:
                self.watched.leaks.append(f"the prompt for {tag} of home {own} has words of homes {sorted(others)}")
        entry = super()._entry(said)
        if tag is not None and (secret := SECRET.search(said.encode())):
            entry["reply"] += f" {secret[0].decode()}"
            if told := _TOLD.search(said):
                entry["reply"] += f" <memory>{told[0]}, {secret[0].decode()}</memory>"
        return entry
