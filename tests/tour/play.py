"""Play a first hour, with real terminals, Telegram's emulator and a scripted model, and write down what is seen.

What differs from run to run reads the same in the transcript: the person's folder, numbers of processes, codes.
"""

import asyncio
import os
import re
import sqlite3
import sys
import textwrap
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from kenobot.cli import logs
from kenobot.providers.openai_compatible import PRESETS
from kenobot_evals.page_marks import page_marks, replace_between_marks
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import KEY, OWNER, TOKEN, Telegram
from tests.tour.screen import Screen
from tests.tour.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
HOURS = ROOT / "tests" / "tour" / "hours.toml"
PAGE = ROOT / "docs" / "tour.md"
_WIDTH = 110
_OWN = ("KENOBOT_", "TELEGRAM_", "ANTHROPIC_", "CREDENTIALS_", "LC_", "LANG", "TZ", "NO_COLOR", "PYTHONHASHSEED")
_CHANGE = re.compile(r"(?<=undo )\d+|(?<=/deshacer )\d+")
_ROW = re.compile(r"^ *(?:#|\d+)(?=  )")
_CODE = re.compile(r"\b[A-Z0-9]{4}-[A-Z0-9]{4}\b")
_SHOWN_CODE = "WXYZ-2345"
_PROCESS = re.compile(r"(?<=\(process )\d+|(?<=\(proceso )\d+")
_LOGGED = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+\+00:00 ", re.MULTILINE)
_TRACE = re.compile(r" \[[0-9a-f]{16}\](?=:)")
_ELSEWHERE = "https://elsewhere.invalid/v1"  # a model that runs on this machine is not asked for
_PLACES = {"{token}": TOKEN, "{key}": KEY, "{owner}": OWNER}


class Said(BaseModel):
    """A message on Telegram. by: a name, when another than the owner writes it. answers: how many to wait for."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    text: str
    by: str = ""
    answers: int = 1


class Edit(BaseModel):
    """A change in a file of the home: a line that is another one then, or gone."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    file: str
    old: str
    new: str = ""


class Step(BaseModel):
    """One of: a command, with what is typed into it; messages on Telegram; an edit of a file.

    note: prose before it. at: the time from now on. types: answers to what the command asks. says: lines of a chat.
    serves: the command goes on running; its output is shown when it has ended, after `stop`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    note: str = ""
    at: str = ""
    run: str = ""
    types: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    serves: bool = False
    ends: bool = False
    code: int = 0
    telegram: tuple[Said, ...] = ()
    edit: Edit | None = None


class Hour(BaseModel):
    """A scripted first hour. model: what the model answers, by what is said."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    title: str
    intro: str
    locale: str
    model: tuple[dict[str, Any], ...] = ()
    steps: tuple[Step, ...]


def hours() -> Mapping[str, Hour]:
    """The scripted hours by name."""
    found = [Hour.model_validate(hour) for hour in tomllib.loads(HOURS.read_text("utf-8"))["hour"]]
    return {hour.name: hour for hour in found}


async def play(hour: Hour, folder: Path) -> str:
    """Play an hour in an empty folder; its transcript, as Markdown."""
    person = folder / "laura"
    person.mkdir()
    async with Telegram() as telegram, StandIn([*hour.model], key=KEY) as model:
        player = _Player(hour, person, telegram, model)
        async with player.closing():
            parts = [part for step in hour.steps for part in await player.perform(step)]
    return "\n\n".join([hour.intro.strip(), *parts])


class _Player:
    def __init__(self, hour: Hour, person: Path, telegram: Telegram, model: StandIn) -> None:
        self._hour = hour
        self._person = person
        self._telegram = telegram
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(_OWN)},
            "HOME": str(person),
            "TZ": "Europe/Madrid",
            "TERM": "xterm-256color",
            "LC_ALL": hour.locale,
            "KENOBOT_MEMORY__EMBEDDER": "none",
            "KENOBOT_CHANNELS__TELEGRAM__BASE_URL": telegram.base_url,
            "KENOBOT_CHANNELS__TELEGRAM__FRAGMENT_SECONDS": "0",
            "KENOBOT_PROVIDERS__ANTHROPIC__BASE_URL": model.url,
            **{f"KENOBOT_PROVIDERS__{name.upper()}__BASE_URL": _ELSEWHERE for name in PRESETS},
        }
        self._now = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
        self._code = ""
        self._names = {OWNER: "Laura"}
        self._served: list[tuple[str, Terminal]] = []

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[None]:
        """Leave no process behind."""
        try:
            yield
        finally:
            for _, terminal in self._served:
                await terminal.close()

    async def perform(self, step: Step) -> Sequence[str]:
        """Perform a step; its parts of the page."""
        if step.at:
            self._now = datetime.fromisoformat(step.at)
        self._now += timedelta(minutes=1)
        parts = [step.note.strip()] if step.note else []
        if step.run:
            parts += await self._command(step)
        if step.telegram:
            parts.append(await self._messages(step.telegram))
        if step.edit:
            parts.append(await self._edited(step.edit))
        return parts

    async def _command(self, step: Step) -> Sequence[str]:
        words = [self._filled(word) for word in _split(step.run)]
        command = [sys.executable, "-m", "tests.tour.product", self._now.isoformat(), *words[1:]]
        terminal = await Terminal.start(command, self._environ, str(ROOT))
        shown = [f"$ {step.run}"]
        self._served.append((shown[0], terminal))
        if step.serves:
            await terminal.sees(lambda screen: any("ready:" in line for line in screen.lines))
            return []
        for text in step.types:
            await terminal.asks()
            terminal.type(self._filled(text))
        if step.says:
            await self._converse(terminal, step.says)
        code = await terminal.ends()
        self._served.pop()
        if "memory log" in step.run:
            terminal.screen.change(self._logged)
        screen = self._cleaned(terminal.screen)
        assert code == step.code, f"{step.run}: {code}\n{screen}"
        parts = [_fenced("console", f"{shown[0]}\n{screen}")]
        if step.ends:
            first, served = self._served.pop()
            assert await served.ends() == 0
            parts.insert(0, _fenced("console", f"{first}\n{self._cleaned(served.screen)}"))
        return parts

    async def _converse(self, terminal: Terminal, says: Sequence[str]) -> None:
        """Say each line once the one before is answered; then leave."""
        for count, text in enumerate([*says, "/exit"]):
            await terminal.sees(partial(_is_answered, count))
            terminal.type(text)

    async def _messages(self, messages: Sequence[Said]) -> str:
        lines: list[str] = []
        for said in messages:
            before = len(self._telegram.sent)
            number = OWNER if not said.by else str(700_000_000 + sum(map(ord, said.by)))
            text, name = self._filled(said.text), said.by or "Laura"
            self._names[number] = name
            lines.append(_wrapped(self._plain(f"{name}: {text}")))
            sender = {"id": int(number), "is_bot": False, "first_name": name}
            await self._telegram.say(text, number, number, **{"from": sender, "date": int(self._now.timestamp())})
            await self._telegram.replies(before + said.answers, 120)
            for sent in self._telegram.sent[before:]:
                self._code = (_CODE.findall(sent.text) or [self._code])[0]
                to = "KenoBot" if sent.chat == number else f"KenoBot → {self._names[sent.chat]}"
                lines.append(_wrapped(self._plain(f"{to}: {sent.text}")))
            lines.append("")
        return _fenced("text", "\n".join(lines).rstrip())

    async def _edited(self, edit: Edit) -> str:
        path = self._person / ".kenobot" / edit.file
        async with asyncio.timeout(60):  # a memory file is written behind the reply
            while not path.exists() or edit.old not in path.read_text("utf-8"):
                await asyncio.sleep(0.05)
        text = path.read_text("utf-8")
        assert text.count(edit.old) == 1, text
        path.write_text(text.replace(edit.old, edit.new), "utf-8")
        lines = [f"- {line}" for line in edit.old.splitlines()] + [f"+ {line}" for line in edit.new.splitlines()]
        return _fenced("diff", "\n".join([f"  ~/.kenobot/{path.relative_to(self._person / '.kenobot')}", *lines]))

    def _place_of_change(self, number: int) -> int:
        """Return which of the changes that people are shown an event is; others come when the work behind is done."""
        database = self._person / ".kenobot" / "kenobot.db"
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            sql = f"SELECT count(*) FROM event WHERE id <= ? AND type NOT IN {logs.BEHIND}"
            [(place,)] = connection.execute(sql, (number,))
        return int(place)

    def _logged(self, line: str) -> str:
        """A row of `kenobot memory log` with the place of its change."""
        row = _ROW.match(line)
        if row is None:
            return line
        place = row[0].strip()
        return f"{self._place_of_change(int(place)) if place != '#' else place:>2}{line[row.end() :]}"

    def _filled(self, text: str) -> str:
        for place, value in {**_PLACES, "{code}": self._code}.items():
            text = text.replace(place, value)
        return text

    def _cleaned(self, screen: Screen) -> str:
        lines = [_wrapped(self._plain(line)) for line in screen.lines if line != "> /exit"]
        return "\n".join(lines).strip("\n")

    def _plain(self, text: str) -> str:
        text = _CHANGE.sub(lambda match: str(self._place_of_change(int(match[0]))), text)
        text = text.replace(str(self._person), "/home/laura")
        text = text.replace(self._telegram.base_url.removesuffix("/bot"), "https://api.telegram.org")
        text = _TRACE.sub("", text)
        text = _LOGGED.sub(f"{self._now:%Y-%m-%dT%H:%M:%S}.000+00:00 ", text)
        return _PROCESS.sub("4242", _CODE.sub(_SHOWN_CODE, text))


def _is_answered(count: int, screen: Screen) -> bool:
    """Return whether a chat has answered so often, and waits for the next line."""
    return screen.current == "> " and sum(line.startswith("KenoBot:") for line in screen.lines) >= count


def _split(command: str) -> list[str]:
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]


def _wrapped(line: str) -> str:
    """Break a long line between words, as a person's window would."""
    pieces = (
        textwrap.wrap(part, _WIDTH, drop_whitespace=True, break_long_words=False, break_on_hyphens=False) or [""]
        if len(part) > _WIDTH
        else [part]
        for part in line.split("\n")
    )
    return "\n".join(piece for several in pieces for piece in several)


def _fenced(kind: str, text: str) -> str:
    return f"```{kind}\n{text}\n```"


def part_of_page(page: Path, name: str) -> str:
    """The transcript of an hour as it stands in the page."""
    begin, end = page_marks(name)
    return page.read_text("utf-8").partition(f"{begin}\n")[2].partition(f"\n{end}")[0]


def replace_part(page: Path, name: str, text: str) -> None:
    """Put a transcript into its place in the page."""
    replace_between_marks(name, str(page), text)


def play_alone(name: str, folder: Path) -> str:
    """Play one hour from its beginning."""
    return asyncio.run(play(hours()[name], folder))
