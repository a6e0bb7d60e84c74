"""Whole conversations, through the real application with a scripted model, a fake channel and a home of their own."""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from kenobot.agent.prompt.runtime_block import BLOCK_OPEN
from kenobot.app.app import App
from kenobot.app.plugin_instances import PluginInstances
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.gateway.access import Roster
from kenobot.ports.identity import is_session_id
from kenobot.ports.provider import Request
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START, ManualClock
from kenobot_testing.fake_channel import FakeChannel
from kenobot_testing.provider import ScriptedProvider
from tests.conformance.adapters.conversation.tags import processors
from tests.conformance.cases import Case, Checked, Compared, NotApplicable, Outcome
from tests.integration.providers.anthropic_standin import TIME
from tests.scratch import scratch

Said = list[list[str]]

_CHANNEL = "http"
_OWNER = "owner"
_CORE = "# Test Bot\nYou are a test bot."
_UNSCRIPTED = "That is all."
_KEPT_FOR_ONE_CHAT = re.compile(r"<(chat-memory|working-memory|chat-context)>(.*?)</\1>", re.DOTALL)
_RELEVANCE = re.compile(r"^_Memory relevance: .*_$", re.MULTILINE)
_ARCHIVE = "memory/archive/"
_HISTORY = "sessions/"
_NOT_THEIRS = frozenset({"facts", "boxes", "artifacts", "entities", "SESSION.md"})


@dataclass(frozen=True, slots=True)
class _Played:
    """What came of a conversation. Files by their path below the home, with their text."""

    replies: list[str]
    requests: list[Request]
    history: dict[str, Said]
    onboarding: frozenset[str]
    before: dict[str, str]
    after: dict[str, str]

    @property
    def changed(self) -> dict[str, str]:
        """Files that are new or say something else; what left the hot tree for the archive is neither."""
        return {
            path: text
            for path, text in self.after.items()
            if self.before.get(path) != text and not path.startswith(_ARCHIVE)
        }

    @property
    def deleted(self) -> list[str]:
        return sorted(self.before.keys() - self.after.keys())


def scenario(case: Case) -> Outcome:
    """Replies, the history, the last prompt and the files of a conversation."""
    turns, expected = case.input["turns"], case.expected
    if case.input.get("env"):
        return NotApplicable("the original's environment variables mean nothing here")
    if not case.quirk and any("response" not in turn for turn in turns):
        return NotApplicable("the answer is the original's mock provider's own text")
    if "# Retrieved Facts" in expected["lastPrompt"].get("system", ""):
        return NotApplicable("ADR 13: records are found, not sections of files; a MEMORY.md that fits is shown whole")
    played = asyncio.run(_play(turns, case.input["setup"]))
    if "internal error text" in case.quirk:
        return _answered(played, turns)
    actual, wanted = _told(played, expected)
    actual["toldElsewhere"], wanted["toldElsewhere"] = _told_elsewhere(played, turns), []
    if case.quirk and "empty reply" not in case.quirk:
        return NotApplicable(f"nobody has written down what is better than: {case.quirk}")
    return Compared(actual, wanted)


def _answered(played: _Played, turns: Sequence[Mapping[str, str]]) -> Outcome:
    """A chat whose id is unfit for a file name is answered like any other, under a name that is fit."""
    return Checked(
        {"replies": played.replies, "sessions": [*played.history]},
        {
            "every message has the model's answer": played.replies
            == [turn.get("response", _UNSCRIPTED) for turn in turns],
            "its session has a name that is safe": all(map(is_session_id, played.history)) and bool(played.history),
        },
    )


# ── playing ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def _play(turns: Sequence[Mapping[str, str]], setup: Mapping[str, str]) -> _Played:
    with scratch() as folder:
        home = _seeded(Home(Path(folder)), setup)
        before = _files(home)
        channel = FakeChannel(_CHANNEL)
        provider = ScriptedProvider([turn.get("response", _UNSCRIPTED) for turn in turns])
        replies: list[str] = []
        async with _running(home, channel, provider) as app:
            for turn in turns:
                seen = len(channel.sent)
                channel.say(turn["user"], f"http-{turn['chat_id']}", _OWNER)
                channel.end_input()
                await channel.run(app.loop)
                await app.wait_drained()
                replies.append("".join(channel.texts[seen:]))
            history, onboarding = await app.database.read(_stored)
        return _Played(replies, provider.requests, history, onboarding, before, _files(home))


def _seeded(home: Home, setup: Mapping[str, str]) -> Home:
    home.prepare()
    for path, text in {"memory/identity/core.md": _CORE, **setup}.items():
        target = home.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return home


@asynccontextmanager
async def _running(home: Home, channel: FakeChannel, provider: ScriptedProvider) -> AsyncIterator[App]:
    given = PluginInstances(
        provider, {_CHANNEL: channel}, {_CHANNEL: Roster.of([_OWNER])}, tuple(processors().values())
    )
    app = App(home, load_settings(home, {"KENOBOT_EXTRACTION__ENABLED": "false"}), ManualClock(), given, Random(0))
    await app.start()
    try:
        yield app
    finally:
        await app.stop()


def _stored(connection: Connection) -> tuple[dict[str, Said], frozenset[str]]:
    """The conversation of each session, and the sessions with an onboarding under way."""
    history: dict[str, Said] = defaultdict(list)
    for session, role, text in connection.execute("SELECT session, role, text FROM message ORDER BY id"):
        history[session].append([role, text])
    keys = [row[0] for row in connection.execute("SELECT key FROM key_value WHERE key LIKE 'bootstrap:%'")]
    return dict(history), frozenset(key.removeprefix("bootstrap:") for key in keys)


def _files(home: Home) -> dict[str, str]:
    """The memory files that the original has, too; cards and the note of what is going on came from others."""
    return {
        path.relative_to(home.path).as_posix(): path.read_text("utf-8")
        for path in home.memory.rglob("*")
        if path.is_file() and not _NOT_THEIRS.intersection(path.relative_to(home.memory).parts)
    }


# ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────────


def _told(played: _Played, expected: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What came out and what should have, in the same form."""
    prompt = expected["lastPrompt"]
    files = {_dated(path): _dated(text) for path, text in expected["filesCreatedOrChanged"].items()}
    states = {path for path, text in files.items() if _is_onboarding(text)}
    wanted_history = {
        Path(path).stem: [[line["role"], line["content"]] for line in map(json.loads, text.splitlines())]
        for path, text in files.items()
        if path.startswith(_HISTORY)
    }
    sections = [*_sections(prompt.get("system", ""))]
    shown = _conversation(played.requests[-1])
    actual: dict[str, Any] = {
        "replies": played.replies,
        "history": played.history,
        "onboarding": sorted(played.onboarding),
        "lackingInPrompt": _lacking(sections, _prompt(played.requests[-1])),
        "shown": shown,
        "files": played.changed,
        "deleted": played.deleted,
    }
    wanted: dict[str, Any] = {
        "replies": _filled([reply["body"]["response"] for reply in expected["replies"]], played.replies),
        "history": {
            session: _filled_lines(lines, played.history.get(session, [])) for session, lines in wanted_history.items()
        },
        "onboarding": sorted(Path(path).stem for path in states),
        "lackingInPrompt": [],
        "shown": _filled_lines([[line["role"], line["content"]] for line in prompt.get("messages", [])], shown),
        "files": {path: text for path, text in files.items() if not path.startswith(_HISTORY) and path not in states},
        "deleted": expected["filesDeleted"],
    }
    return actual, wanted


def _dated(text: str) -> str:
    return text.replace("<TODAY>", START.date().isoformat()).replace("HH:MM", f"{START:%H:%M}")


def _is_onboarding(text: str) -> bool:
    """How far onboarding has come stands in the database, not in the scratchpad."""
    try:
        return "bootstrapState" in json.loads(text)
    except (ValueError, TypeError):
        return False


def _filled(expected: Sequence[str], actual: Sequence[str]) -> list[str]:
    """A reply of tags alone was empty; here it is a sentence, and any will do."""
    said = [*actual, *[""] * len(expected)]
    return [one or other for one, other in zip(expected, said, strict=False)]


def _filled_lines(expected: Said, actual: Said) -> Said:
    texts = _filled([text for _, text in expected], [text for _, text in actual])
    return [[role, text] for (role, _), text in zip(expected, texts, strict=True)]


def _sections(system: str) -> Iterator[str]:
    """The parts of a system prompt; the line about relevance belongs to selective retrieval."""
    for part in _RELEVANCE.sub("", system).split("\n\n---\n\n"):
        for section in re.split(r"^(?=### )", part, flags=re.MULTILINE):
            if section.strip():
                yield _dated(section.strip())


def _prompt(request: Request) -> str:
    """What the prompt says beside the conversation: the system blocks, then the runtime's notes."""
    notes = [
        block.text for message in request.messages for block in message.text_blocks if block.text.startswith(BLOCK_OPEN)
    ]
    return "\n\n".join([*(block.text for block in request.system), *notes])


def _conversation(request: Request) -> Said:
    """Return the words of people and of the assistant, without the runtime's notes and the times behind messages."""
    said: Said = []
    for message in request.messages:
        blocks = [block.text for block in message.text_blocks if not block.text.startswith(BLOCK_OPEN)]
        if message.role == "user" and TIME.fullmatch(blocks[-1]):
            blocks.pop()
        said.append([message.role, "\n\n".join(blocks)])
    return said


def _lacking(sections: Sequence[str], prompt: str) -> list[str]:
    """Those of `sections` that do not stand in the prompt, each after the one before.

    Selective retrieval lists a chat's own notes under `### Recent notes` too; here they have a heading of their own.
    A preference that the prompt's beginning is older than stands in a note (ADR 3): then its line is what counts.
    """
    lacking: list[str] = []
    at = 0
    for section in sections:
        for spelled in (section, section.replace("### Recent notes\n", "### Chat-specific memory\n", 1)):
            start = prompt.find(spelled, at)
            if start >= 0:
                at = start + len(spelled)
                break
        else:
            items = [line for line in section.splitlines() if line.startswith("- ")]
            noted = prompt.partition("### New preferences\n")[2].splitlines()
            if not (section.startswith("## Preferences\n") and items and all(item in noted for item in items)):
                lacking.append(section)
    return lacking


def _told_elsewhere(played: _Played, turns: Sequence[Mapping[str, str]]) -> list[str]:
    """What was kept for one chat alone and stands in the prompt of another."""
    here = turns[-1]["chat_id"]
    prompt = _prompt(played.requests[-1])
    kept = [
        found[2].strip()
        for turn in turns
        if turn["chat_id"] != here
        for found in _KEPT_FOR_ONE_CHAT.finditer(turn.get("response", ""))
    ]
    return [text for text in kept if text and text in prompt]
