"""A KenoBot without a model in which a talk is held; its harms are what memory lost or changed of what was told."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from kenobot.ports.plugin import PluginContext
from kenobot.providers.offline import plugin
from kenobot.storage.connection import Connection
from kenobot_testing.clock import EagerClock
from tests.property.memory.true_talks import Line, has_words_of, is_in, plain
from tests.scene import Scene
from tests.scratch import scratch

_LIVE = """
SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode')
AND json_extract(attributes, '$.resolved') IS NULL
"""
_YES = {"en": "yes", "es": "sí"}


@dataclass(slots=True)
class Counts:
    """Of many talks: messages, statements told and kept, explicit forms and those followed, questions and yeses."""

    talks: int = 0
    messages: int = 0
    told: int = 0
    kept: int = 0
    asked: int = 0
    yes: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    followed: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        forms = ", ".join(f"{form} {self.followed[form]} of {many}" for form, many in sorted(self.forms.items()))
        return (
            f"{self.talks} talks, {self.messages} messages; {self.kept} of {self.told} statements kept; "
            f"{self.asked} questions, {self.yes} answered with yes; explicit forms followed: {forms}"
        )


@dataclass(slots=True)
class TalkHouse:
    """A home in which one talk is held. held: what must stay live, by its plain words, and what told it.

    known: all that was ever live. said: the messages. harms: a line each.
    """

    scene: Scene
    rng: Random
    counts: Counts
    held: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)
    harms: list[str] = field(default_factory=list)

    async def hold(self, lines: Iterable[Line], *, night: bool) -> None:
        """Say it all; see after each message and after a night that nothing is lost."""
        answers = self.rng.random() < 0.5  # whether this person answers questions
        for line in lines:
            question = await self._say(line.text)
            ends = [line.ends] if line.ends else []
            if question is not None and (line.form == "forget" or answers):
                self.counts.asked += 1
                ends += await self._answer(line, question)
            await self._compare(line, ends)
        if night:
            await self.scene.app.scheduler.run_all_now()
            await self.scene.app.background.sleep_worker.wait_idle()
            self._check(await self._live(), "the night")

    async def _say(self, text: str) -> list[str] | None:
        """Say something; returns the memories that the bot then asks about, None where it asks nothing."""
        self.counts.messages += 1
        self.said.append(text)
        newest = await self.scene.app.database.read(_newest_question)
        await self.scene.say(text)
        question = await self.scene.app.database.read(_newest_question)
        return await self.scene.app.database.read(_asked_about) if question != newest else None

    async def _answer(self, line: Line, asked_about: Sequence[str]) -> list[str]:
        """Say yes or no; returns what may end by that."""
        if line.form == "forget":
            is_over = [*map(plain, asked_about)] == [plain(line.ends)]
        else:
            is_over = len(asked_about) == 1 and self.rng.random() < 0.3
        await self.scene.say(_YES[line.tongue] if is_over else "no")
        self.counts.yes += is_over
        return [*asked_about] if is_over else []

    async def _compare(self, line: Line, ends: Sequence[str]) -> None:
        live = await self._live()
        if line.form:
            self.counts.forms[line.form] += 1
            self.counts.followed[line.form] += not any(is_in(line.ends, text) for text in live)
        self._release(ends, live)
        self._check(live, line.text)
        for told in line.told:
            self.counts.told += 1
            self.counts.kept += any(is_in(told, text) for text in live)
        kept = [told for told in line.told if any(is_in(told, each) for each in live)]
        for text in (*kept, *live):
            if plain(text) in self.known:
                continue
            self.known.add(plain(text))
            self._check_words(text)
            if not line.again:
                self.held[plain(text)] = line.text

    def _release(self, ends: Sequence[str], live: Sequence[str]) -> None:
        """Let go of what the person themselves ended, and of what said nothing else."""
        for ended in ends:
            gone = [text for text in self.held if is_in(ended, text) or is_in(text, ended)]
            for text in gone:
                if not any(is_in(text, each) for each in live):
                    del self.held[text]

    def _check(self, live: Sequence[str], by: str) -> None:
        for text, told in [*self.held.items()]:
            if not any(is_in(text, each) for each in live):
                self.harms.append(f"“{text}” (told by “{told}”) is lost by “{by}”; live is {[*live]}")
                del self.held[text]

    def _check_words(self, text: str) -> None:
        """What is kept is the words of one message, in their order."""
        if not any(has_words_of(text, said) for said in self.said):
            self.harms.append(f"“{text}” was never said so: {self.said[-3:]}")

    async def _live(self) -> list[str]:
        """The texts of what is live; a promise that counts as kept is not."""
        return [str(text) for (text,) in await self.scene.rows(_LIVE)]


async def hold_talk(lines: Sequence[Line], seed: int, counts: Counts, *, night: bool = False) -> list[str]:
    """Hold a talk in a home of its own; returns its harms."""
    with scratch() as folder:
        home, clock = Path(folder), EagerClock()
        offline = plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))
        async with Scene(home, provider=offline, clock=clock, extraction=True) as scene:
            house = TalkHouse(scene, Random(seed), counts)
            await house.hold(lines, night=night)
    counts.talks += 1
    return house.harms


async def shorten(lines: Sequence[Line], seed: int, *, night: bool = False) -> list[Line]:
    """Leave out what a talk's harm does not need."""
    left = [*lines]
    for line in [*lines]:
        without = [each for each in left if each is not line]
        if await hold_talk(without, seed, Counts(), night=night):
            left = without
    return left


def _newest_question(connection: Connection) -> int:
    return int(connection.execute("SELECT ifnull(max(id), 0) FROM approval").fetchone()[0])


def _asked_about(connection: Connection) -> list[str]:
    """The memories that the newest question is about."""
    [payload] = connection.execute("SELECT payload FROM approval ORDER BY id DESC LIMIT 1").fetchone()
    asked = json.loads(payload)
    numbers = [asked["old"]] if "old" in asked else asked.get("records", [])
    rows = [connection.execute("SELECT text FROM record WHERE id = ?", (number,)).fetchone() for number in numbers]
    return [str(text) for (text,) in rows]
