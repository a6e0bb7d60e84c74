"""Two guests, a group, a stranger and the owner plant canaries by every way in; nobody meets another's anywhere.

A canary is one word, `zq`, the place it belongs to, and the way it went in. Places are chats: what the owner says in
the group is the group's. `test_scopes.py` says what each may see; here is looked at everything that anybody may see.
"""

import json
import logging
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kenobot.gateway.access import Roster
from kenobot.ports.errors import Rejected
from kenobot.ports.provider import Request
from kenobot.ports.signals import ALL_SIGNALS, Envelope
from kenobot_testing.provider import ScriptedProvider
from tests.scene import Scene

TAGS = ("memory", "user-update", "working-memory", "chat-context", "chat-memory")
CANARY = re.compile(r"zq([A-Z]+)([a-z]*)")
CODE = re.compile(r"[A-Z2-9]{4}-[A-Z2-9]{4}")
ROSTER = Roster.of(["1"], ["2"], ["-100"])


@dataclass(frozen=True, slots=True)
class Place:
    """A chat, and what its people's canaries are called by. folders: where its memory files may stand."""

    owner: str
    chat: str
    user: str
    folders: tuple[str, ...]
    private: bool = True

    def canary(self, way: str) -> str:
        return f"zq{self.owner}{way.replace('-', '')}"

    @property
    def more(self) -> dict[str, object]:
        return {"chat": self.chat, "user": self.user, "private": self.private, "user_name": self.canary("name")}


def _folders(session: str, *more: str) -> tuple[str, ...]:
    return f"chats/{session}/", f"working/{session}.md", *more


_OWNERS = ("MEMORY.md", "SESSION.md", "20", "identity/preferences.md", "facts/", "boxes/", "entities/", "artifacts/")

OWNER = Place("OWNER", "1", "1", _folders("telegram-1", *_OWNERS))
GUEST = Place("GUEST", "2", "2", _folders("telegram-2", "users/telegram-2/"))
APPROVED = Place("APPROVED", "9", "9", _folders("telegram-9", "users/telegram-9/"))
GROUP = Place("GROUP", "-100", "2", _folders("telegram--100"), private=False)
STRANGER = Place("STRANGER", "13", "13", ())
TALKING = (OWNER, GUEST, APPROVED, GROUP)

FILES = {
    "MEMORY.md": "- zqOWNERfile\n",
    "identity/preferences.md": "- zqOWNERhand\n",
    "users/telegram-2/MEMORY.md": "- zqGUESTfile\n",
    "users/telegram-9/MEMORY.md": "- zqAPPROVEDfile\n",
    "chats/telegram--100/MEMORY.md": "- zqGROUPfile\n",
}


@dataclass
class Story:
    """What happened: prompts by place, what was sent by chat, every signal, the log."""

    scene: Scene
    prompts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    sent: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    signals: list[tuple[int, Envelope]] = field(default_factory=list)
    lives: int = 0
    log: str = ""

    async def say(self, place: Place, text: str, **more: object) -> str:
        """Somebody speaks there; what the model saw and what people got is filed under the place."""
        asked, sent = len(self.scene.requests), len(self.scene.channel.sent)
        answer = await self.scene.say(text, **{**place.more, **more})  # type: ignore[arg-type]
        self.prompts[place.owner] += self.scene.requests[asked:]
        for outbound in self.scene.channel.sent[sent:]:
            self.sent[outbound.chat].append(outbound.part.text)
        return answer

    def hear(self, envelope: Envelope) -> None:
        self.signals.append((self.lives, envelope))


class Parrot(ScriptedProvider):
    """Plants a canary by every tag when told "plant WHO", fails when told to, else names all that it was shown."""

    def __init__(self) -> None:
        super().__init__([self.answer], repeat_last=True)

    @staticmethod
    def answer(request: Request) -> str:
        asked = request.messages[-1].text
        if order := re.search(r"plant (\w+)", asked):
            return f"zq{order[1]}reply" + "".join(
                f"<{tag}>zq{order[1]}{tag.replace('-', '')} is so</{tag}>" for tag in TAGS
            )
        if order := re.search(r"pass on (\w+)", asked):
            return f"<memory>zq{order[1]}quoted is so</memory>I see."
        if "refuse this" in asked:
            raise Rejected("The request was refused.")
        shown = "\n".join([*(block.text for block in request.system), *(message.text for message in request.messages)])
        return " ".join(sorted({match[0] for match in CANARY.finditer(shown)})) or "Nothing."


async def _plant(story: Story) -> None:
    code = CODE.search(await story.say(APPROVED, "zqAPPROVEDknock"))
    assert code is not None
    await story.say(OWNER, f"/pair {code[0]}")
    for place in TALKING:
        await story.say(place, f"{place.canary('said')}: plant {place.owner}")
        await story.say(place, f"{place.canary('forwarded')}: pass on {place.owner}", forwarded=True)
    await story.say(GROUP, "zqGROUPowner: plant GROUP", user="1")
    await story.say(GROUP, "zqGROUPother", user="77")


async def _ask(story: Story) -> None:
    """In every place, in every way that a prompt comes about: notes, new frame, another day, after a failure."""
    for _ in range(2):
        for place in TALKING:
            await story.say(place, "What do you know? Who else is there?")
            await story.say(place, f"refuse this {place.canary('refused')}")
            await story.say(place, "/people")
            await story.say(place, "And what do the others say?", forwarded=True)
        await story.say(GROUP, "What do you know of me?", user="1")
        for private in (True, False):
            chat = STRANGER.chat if private else "-200"
            await story.say(STRANGER, "zqSTRANGERsaid: plant STRANGER", chat=chat, private=private)
        story.scene.clock.advance(days=1)  # type: ignore[attr-defined]


@pytest.fixture
async def story(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Story]:
    """All of it, then a restart and all questions again."""
    caplog.set_level(logging.DEBUG)
    provider = Parrot()
    told = None
    for life in range(2):
        async with Scene(tmp_path, provider=provider, roster=ROSTER, files=FILES if life == 0 else {}) as scene:
            scene.channel.number = 1000 * life
            told = told or Story(scene)
            told.scene, told.lives = scene, life
            for signal in ALL_SIGNALS.values():
                scene.app.bus.wake_on(signal, told.hear)
            if life == 0:
                await _plant(told)
            await _ask(told)
            await scene.app.audit.flush()
            told.log = caplog.text
            if life == 1:
                yield told


def owners_of(text: str) -> set[str]:
    """Whose canaries stand in a text."""
    return {match[1] for match in CANARY.finditer(text)}


def is_names_only(text: str) -> bool:
    return all(match[2] == "name" for match in CANARY.finditer(text))


async def test_nobody_meets_anothers_canary(story: Story) -> None:
    """Not in a prompt, a reply, a notice, a file or its name, the log, a signal, or a row of another scope."""
    await _check_that_everything_was_planted(story)
    _check_prompts(story)
    _check_replies(story)
    _check_files(story)
    _check_log_and_signals(story)
    await _check_rows(story)


async def _check_that_everything_was_planted(story: Story) -> None:
    """The control: each place does meet its own, by every way in."""
    ways = {"said", "reply", "quoted", "forwarded", "file", *(tag.replace("-", "") for tag in TAGS)}
    for place in TALKING:
        met = {match[2] for prompt in story.prompts[place.owner] for match in CANARY.finditer(prompt)}
        assert met >= ways, (place.owner, ways - met)
        assert any(place.canary("memory") in text for text in story.sent[place.chat])
    assert "zqGROUPname" in "".join(story.prompts["GROUP"])
    assert "zqOWNERhand" in "".join(story.prompts["OWNER"])


def _check_prompts(story: Story) -> None:
    for place in TALKING:
        assert {owner for prompt in story.prompts[place.owner] for owner in owners_of(prompt)} == {place.owner}
    assert story.prompts["STRANGER"] == []


def _check_replies(story: Story) -> None:
    """The owner alone is told the names of those who knock, and nothing else of theirs."""
    for place in TALKING:
        for text in story.sent[place.chat]:
            foreign = owners_of(text) - {place.owner}
            assert not foreign or (place is OWNER and foreign <= {"APPROVED", "STRANGER"} and is_names_only(text)), text
    assert all(not owners_of(text) for text in story.sent[STRANGER.chat])
    assert "-200" not in story.sent
    assert set(story.sent) == {place.chat for place in (*TALKING, STRANGER)}


def _check_files(story: Story) -> None:
    home = story.scene.home
    seen: set[str] = set()
    for path in home.path.rglob("*"):
        assert not CANARY.search(str(path.relative_to(home.path))), path
        if not path.is_file() or path.name.startswith((home.database.name, home.index.name)):
            continue
        found = owners_of(path.read_text("utf-8"))
        if found:
            name = str(path.relative_to(home.memory))
            places = [place for place in TALKING if name.startswith(place.folders)]
            assert len(places) == 1, name
            [place] = places
            assert found == {place.owner}, name
            seen.add(place.owner)
    assert seen == {place.owner for place in TALKING}


def _check_log_and_signals(story: Story) -> None:
    """Nobody's words in the log; in a signal only those of the message that it is about, and only as text."""
    assert not CANARY.search(story.log), CANARY.search(story.log)
    of: dict[tuple[int, str], set[str]] = defaultdict(set)
    for life, envelope in story.signals:
        for key, value in envelope.payload.items():
            found = owners_of(str(value))
            assert not found or key in envelope.signal.text_keys, (envelope.signal.name, key)
            if envelope.trace and not is_names_only(str(value)):
                of[life, envelope.trace] |= found
    assert set(map(len, of.values())) == {1}
    assert len({envelope.signal.name for _, envelope in story.signals}) > 8


async def _check_rows(story: Story) -> None:
    """What is stored under a scope or a session is its own; a stranger's words are stored nowhere."""
    by_session = {f"telegram-{place.chat}": place.owner for place in TALKING}
    rows = await story.scene.rows(
        "SELECT scope, text FROM record UNION ALL SELECT session, text || context FROM message "
        "UNION ALL SELECT session, text FROM prompt_prefix UNION ALL SELECT session, text || sender_name FROM inbox"
    )
    for scope, text in rows:
        _, _, session = str(scope).rpartition(":")
        owner = "OWNER" if scope == "owner" else by_session[session]
        assert owners_of(str(text)) <= {owner}, scope
    tables = [str(row[0]) for row in await story.scene.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        kept = json.dumps(await story.scene.rows(f"SELECT * FROM {table}"), default=repr)
        strangers = {match[2] for match in CANARY.finditer(kept) if match[1] == "STRANGER"}
        assert strangers <= {"name"}, table
        assert not strangers or table in ("pairing", "outbox"), table
        assert table != "signal" or not owners_of(kept)
