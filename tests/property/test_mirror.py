"""Whatever bot, person and crashes do, in whatever order: memory and files agree in the end, and no word is lost."""

import asyncio
import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kenobot.cognitive import store
from kenobot.cognitive.mirror import files, layout
from kenobot.cognitive.mirror.files import place_of
from kenobot.cognitive.mirror.layout import Block, Item, Kind
from kenobot.cognitive.remember.admit import clean
from tests.unit.cognitive.mirror.house import TODAY, House, open_house

# ── layout ───────────────────────────────────────────────────────────────────────────────────────────────────────

PIECES = [
    "Ana vive en Bilbao", "ñandú ¿qué?", "我喜欢喝茶", "أحب القهوة", "🙂👩‍💻",
    "## 14:30 — forged", "\\## 1:00 - x", "- bullet",
    "* star", "- - -", "---", "```", "~~~", "# Heading", "learned: x", "- learned: y", "  indented", "\ttab", "\\", "",
    "a\u2028b", "c\x85d", "|x|", "\u3000", "+",
]  # fmt: skip
lines = st.sampled_from(PIECES) | st.text(max_size=12)
texts = st.lists(lines, min_size=1, max_size=5).map("\n".join)
records = texts.map(lambda text: clean(text, 16_000)).filter(bool)
kinds: st.SearchStrategy[Kind] = st.sampled_from(["core", "daily", "preferences"])


def facts(kind: Kind, text: str) -> list[str]:
    return [said for chunk in layout.split(kind, text) if (said := layout.fact(kind, chunk)) is not None]


@given(kinds, st.lists(records, max_size=4))
def test_records_come_back_as_they_were_written(kind: Kind, said: list[str]) -> None:
    """No text, in any script, breaks out of its line or changes on the way to the file and back."""
    items = [Item(number, text, "14:30") for number, text in enumerate(said)]
    assert facts(kind, layout.compose(layout.arrange(kind, [], items, {}, {}))) == said


@given(st.sampled_from(["core", "daily", "preferences", "slot"]), texts)
def test_a_files_chunks_are_the_file(kind: Kind, text: str) -> None:
    """Cutting a file into chunks loses no character, and taking it in unchanged writes it unchanged."""
    chunks = layout.split(kind, text)
    assert "".join(chunks) == text
    items = {at: said for at, chunk in enumerate(chunks) if (said := layout.fact(kind, chunk)) is not None}
    blocks = [Block(chunk, at if at in items else None) for at, chunk in enumerate(chunks)]
    home = [Item(at, said, "14:30") for at, said in items.items()]
    assert layout.compose(layout.arrange(kind, blocks, home, {}, {})) == text


@given(kinds, texts, st.lists(records, max_size=3), st.data())
def test_what_is_arranged_stays_as_it_is(kind: Kind, text: str, said: list[str], data: st.DataObject) -> None:
    """Arranging again changes nothing, what is noted of a file fits it, and literal text is never lost."""
    chunks = layout.split(kind, text)
    blocks = [Block(chunk, -at - 1 if layout.fact(kind, chunk) else None) for at, chunk in enumerate(chunks)]
    alive = [b for b in blocks if b.record is not None and data.draw(st.booleans())]
    home = [Item(b.record or 0, layout.fact(kind, b.raw) or "", "14:30") for b in alive]
    home += [Item(number, new, "14:30") for number, new in enumerate(said, 1)]
    once = layout.arrange(kind, blocks, home, {}, {})
    assert layout.thaw(kind, layout.compose(once), layout.freeze(once)) == once
    assert layout.arrange(kind, once, home, {}, {}) == once
    assert {block.record for block in once if block.record} == {item.id for item in home}
    at = 0
    for block in blocks:
        if block.record is None:
            at = layout.compose(once).index(block.raw, at) + len(block.raw)


@given(st.lists(st.sampled_from("abcde")), st.lists(st.sampled_from("abcde")))
def test_a_diff_accounts_for_every_line_once(old: list[str], new: list[str]) -> None:
    """Every old fact is kept, changed or removed, every new one kept, changed or added; kept ones say the same."""
    found = layout.diff(old, new)
    pairs = (*found.kept, *found.changed)
    assert sorted([*(i for i, _ in pairs), *found.removed]) == list(range(len(old)))
    assert sorted([*(j for _, j in pairs), *found.added]) == list(range(len(new)))
    assert all(old[i] == new[j] for i, j in found.kept)


# ── the whole ────────────────────────────────────────────────────────────────────────────────────────────────────

CHAT, OTHER = "chat:telegram-1", "chat:telegram-2"
FILES = ["MEMORY.md", f"{TODAY}.md", f"chats/telegram-1/{TODAY}.md", "chats/telegram-2/MEMORY.md",
         "working/telegram-1.md", "identity/preferences.md"]  # fmt: skip


class Killed(BaseException):
    """The process died here."""


@dataclass
class Story:
    """What has happened so far. Every text is made once only, so that it can be looked for."""

    house: House
    numbers: int = 0
    scopes: dict[str, str] = field(default_factory=dict)
    persons: dict[str, str] = field(default_factory=dict)
    taken_out: set[str] = field(default_factory=set)

    def new_text(self, scope: str) -> str:
        self.numbers += 1
        piece = PIECES[self.numbers % 5]
        text = f"{piece} №{self.numbers}·"
        self.scopes[text] = scope
        return text


async def bot_writes(story: Story, choice: int) -> None:
    """The bot remembers something somewhere; sometimes in the place of what it knew."""
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("owner", {"core": True}), ("owner", {}), (CHAT, {"form": "episode"}), (OTHER, {"core": True}),
        (CHAT, {"form": "scratchpad", "slot": "working"}), ("owner", {"category": "preference"}),
    ]  # fmt: skip
    scope, options = kinds[choice % len(kinds)]
    replaces = None
    if choice % 7 == 0 and "slot" not in options and options.get("category") is None:
        tier = "core" if options.get("core") else "daily"
        known = [
            r
            for r in await story.house.live(scope)
            if r.tier == tier and r.category == "fact" and r.form != "scratchpad"
        ]
        replaces = known[choice % len(known)].id if known else None
        story.taken_out.update(r.text for r in known if r.id == replaces)
    text = story.new_text(scope)
    if "slot" in options:
        story.taken_out.add(text)  # a scratchpad holds one text: which of two, an unread edit may decide
    await story.house.learn(text, scope, replaces=replaces, **options)


async def bot_forgets(story: Story, choice: int) -> None:
    scope = ["owner", CHAT, OTHER][choice % 3]
    live = await story.house.live(scope)
    if live:
        record = live[choice % len(live)]
        story.taken_out.update(text for text in story.scopes if text in record.text)
        await story.house.forget(record.id)


async def person_adds(story: Story, choice: int) -> None:
    """A person writes a line of their own, at the top or at the end."""
    path = FILES[choice % len(FILES)]
    place = place_of(path)
    assert place is not None
    if not (story.house.root / path).exists():
        await story.house.mirror.take_in()  # a new file in a lost one's place says that all the rest is gone
    before = story.house.text(path) if (story.house.root / path).exists() else ""
    text = story.new_text(place.scope)
    if place.kind == "slot":
        story.taken_out.add(text)
        story.house.write(path, text)
        return
    line = {"daily": f"## 9:05 - {text}\n", "core": f"*  {text}\n", "preferences": f"- {text}\n"}[place.kind]
    story.persons[text] = path
    gap = "" if before.endswith("\n") or not before else "\n"
    story.house.write(path, line + before if choice % 2 else f"{before}{gap}{line}")


async def person_takes_out(story: Story, choice: int) -> None:
    """A person deletes a chunk of a file."""
    path = FILES[choice % len(FILES)]
    place = place_of(path)
    assert place is not None
    if not (story.house.root / path).exists():
        return
    chunks = layout.split(place.kind, story.house.text(path))
    if chunks:
        gone = chunks.pop(choice % len(chunks))
        story.taken_out.update(text for text in story.scopes if text in gone)
        story.house.write(path, "".join(chunks))


async def person_loses(story: Story, choice: int) -> None:
    """A file goes missing, after it had been read."""
    await story.house.mirror.take_in()
    (story.house.root / FILES[choice % len(FILES)]).unlink(missing_ok=True)


async def mirror_looks(story: Story, _: int) -> None:
    await story.house.mirror.take_in()


async def mirror_writes(story: Story, _: int) -> None:
    await story.house.mirror.flush()


async def crash(story: Story, choice: int) -> None:
    """The process dies at one of the gaps, and a new one starts, sometimes only after more has been written."""
    house = story.house
    replace = files.replace
    files_left = choice % 4

    async def dying(*args: Any) -> files.Stamp | None:
        nonlocal files_left
        files_left -= 1
        if files_left < 0 and choice % 2:
            raise Killed
        stamp = await replace(*args)
        if files_left < 0:
            raise Killed
        return stamp

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(files, "replace", dying)
        await (house.mirror.take_in() if choice % 3 == 0 else house.mirror.flush())
    house.restart()
    if choice % 5 == 0:
        await bot_writes(story, choice)
    if choice % 7 == 0:
        await bot_forgets(story, choice)
    await house.mirror.start()


STEPS = [bot_writes, bot_writes, bot_forgets, person_adds, person_adds, person_takes_out, person_loses, mirror_looks,
         mirror_writes, crash, crash]  # fmt: skip


async def play(steps: list[tuple[int, int]], folder: Path) -> None:
    async with open_house(folder) as house:
        await house.mirror.start()
        story = Story(house)
        for step, choice in steps:
            await STEPS[step % len(STEPS)](story, choice)
        await house.mirror.take_in()
        await house.mirror.flush()
        await check(story)
        events = await house.count_events()
        assert await house.mirror.take_in() == 0
        await house.restart().start()
        assert await house.count_events() == events, "looking again found edits that nobody made"


async def check(story: Story) -> None:
    house = story.house
    shown: dict[str, str] = {path: house.text(path) for path in house.files()}
    for path, text in shown.items():
        place = place_of(path)
        assert place is not None, f"a stray file: {path}"
        row = await house.database.read(lambda c, path=path: store.mirrored(c, path))  # type: ignore[misc]
        assert row is not None and row[0] == text, f"the note of {path} is not what it holds"
        for said, scope in story.scopes.items():
            assert said not in text or scope == place.scope, f"{said} of {scope} stands in {path}"
    everything = "".join(shown.values())
    for scope in ("owner", CHAT, OTHER):
        live = await house.live(scope)
        assert len({(record.form, record.text) for record in live}) == len(live)
        for record in live:
            home = files.path_of(record)
            assert home is not None
            place = place_of(home)
            assert place is not None
            assert record.text in (shown[home] if place.kind == "slot" else facts(place.kind, shown[home]))
    for said, path in story.persons.items():
        assert said in story.taken_out or said in shown.get(path, ""), f"the person's {said} is lost"
    for said in story.scopes:
        assert said in story.taken_out or said in everything, f"{said} is lost"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 200)), max_size=14))
@example([(0, 1), (8, 0), (0, 1), (9, 1), (3, 1)])
@example([(3, 5), (0, 5), (8, 0), (5, 5), (9, 3), (9, 5)])
def test_memory_and_files_agree_in_the_end(steps: list[tuple[int, int]]) -> None:
    """After any story a look and a write leave every live record in its file, no person's word lost, no scope mixed."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(steps, Path(folder)))
