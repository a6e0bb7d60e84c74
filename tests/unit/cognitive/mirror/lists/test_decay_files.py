"""The files of decay: logs in the archive, weeks, ref files and their pointers, and slots."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kenobot.cognitive.mirror import rebuild
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.sleep import DecayPolicy, SleepPolicy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate import hygiene
from kenobot.language.markdown import memory_md
from kenobot.language.markdown.list_layout import FileBlock, ShownRecord, join_blocks
from kenobot.ports.memory import Candidate
from tests.unit.cognitive.mirror.house import ENTRY, LOG, TODAY, House
from tests.unit.cognitive.mirror.lists.decay_nights import night, put
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse, open_card_house


@pytest.fixture
async def cards(tmp_path: Path) -> AsyncIterator[CardHouse]:
    async with open_card_house(tmp_path, start=datetime(2026, 2, 14, 14, 30, tzinfo=UTC)) as house:
        yield house


# ── logs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_log_leaves_for_the_archive_as_it_was(house: House) -> None:
    """With its owner's own text and order, and with what was promoted since; nothing of it stays in the hot tree."""
    await house.learn("one", trust="owner", flush=True)
    up = await house.learn("two is always right", flush=True)
    house.edit(LOG, ENTRY("one"), "# A good day\n\n" + ENTRY("one"))
    await house.mirror.sync_in()
    await put(house, up, "promoted", {"tier": "core"})
    await house.mirror.sync_out()
    text = "# A good day\n\n" + ENTRY("one") + ENTRY("two is always right")
    assert house.text(LOG) == text
    await night(house, 30)
    assert house.files() == {f"archive/{LOG}", "archive/week-2026-W07.md", "MEMORY.md"}
    assert house.text(f"archive/{LOG}") == text
    assert await house.texts() == ["one", "two is always right", "# 2026-W07\n\n## 2026-02-14\n- one"]


async def test_a_log_of_promoted_facts_alone_leaves_too(house: House) -> None:
    """Nothing changes in memory that day, yet its day is over: the next writing puts it away."""
    up = await house.learn("two is always right", flush=True)
    await put(house, up, "promoted", {"tier": "core"})
    await night(house, 29)
    assert LOG in house.files()
    await night(house, 1)
    assert house.files() == {f"archive/{LOG}", "MEMORY.md"}
    assert house.text(f"archive/{LOG}") == ENTRY("two is always right")


async def test_an_old_log_leaves_on_the_day_on_which_its_last_fact_is_promoted(house: House) -> None:
    """Also when the logs of that day were looked through before."""
    up = await house.learn("two is always right", flush=True)
    house.clock.advance(30 * 86_400)
    await house.mirror.sync_out()
    assert LOG in house.files()
    await put(house, up, "promoted", {"tier": "core"})
    await house.mirror.sync_out()
    assert house.files() == {f"archive/{LOG}", "MEMORY.md"}


async def test_a_log_that_leaves_twice_is_one_log(house: House) -> None:
    """What is told of an old day later joins what is in the archive, with the text its owner wrote meanwhile."""
    await house.learn("one", flush=True)
    await night(house, 30)
    house.write(LOG, "# Afterwards\n\n## 16:00 — late\n\n")
    await house.mirror.sync_in()
    assert house.text(LOG) == "# Afterwards\n\n## 16:00 — late\n\n"
    await night(house, 1)
    assert house.text(f"archive/{LOG}") == "# Afterwards\n\n" + ENTRY("one") + "## 16:00 — late\n\n"
    assert LOG not in house.files()


async def test_an_archived_log_is_its_owners_to_edit(house: House) -> None:
    """A changed line supersedes, a new one is known of that day, a missing one is forgotten: all in the archive."""
    await house.learn("one")
    await house.learn("two")
    await night(house, 30)
    path = f"archive/{LOG}"
    house.write(path, ENTRY("one and a half") + "## 15:00 — mine\n\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    live = [record for record in await house.live() if record.form == "note"]
    assert [(record.text, record.tier, record.day) for record in live] == [
        ("one and a half", "archive", TODAY), ("mine", "archive", TODAY),
    ]  # fmt: skip
    assert house.text(path) == ENTRY("one and a half") + "## 15:00 — mine\n\n"


async def test_a_chats_log_has_its_own_place_in_the_archive(house: House) -> None:
    """By chat, so that no scope's words stand with another's."""
    await house.learn("one", "chat:telegram-1", form="episode")
    await night(house, 30)
    assert f"archive/chats/telegram-1/{LOG}" in house.files()
    assert f"archive/{LOG}" not in house.files()


async def test_an_imported_fact_stands_in_the_log_of_its_day(house: House) -> None:
    """What another bot knew of a day is part of that day."""
    candidate = Candidate("note", "owner", "met Eva", source="import", trust="model")
    occasion = AdmitContext(house.clock.now(), "2026-02-10", "import", said_at=datetime(2026, 2, 10, 9, 5, tzinfo=UTC))
    await house.database.write(lambda c: admit(c, candidate, occasion))
    await house.mirror.sync_out()
    assert house.text("2026-02-10.md") == "## 09:05 — met Eva\n\n"


async def test_where_expired_files_are_deleted_memory_stays(tmp_path: Path) -> None:
    """`expired = "delete"` is about files: no archive is written, and what stood in it is remembered."""
    policy = replace(DEFAULT, sleep=SleepPolicy(expired="delete"))
    async with open_card_house(tmp_path, start=datetime(2026, 2, 14, 14, 30, tzinfo=UTC), policy=policy) as house:
        house.mirror = house.tree.list_files
        await house.learn("one", flush=True)
        house.write("2026-01-01-move.md", "- the van is rented\n")
        house.edit(LOG, ENTRY("one"), "# mine\n\n" + ENTRY("one"))
        await house.mirror.sync_in()
        await night(house, 40, policy=policy)
        assert house.files() == set()
        assert {"one", "the van is rented"} <= set(await house.texts())


# ── weeks and slots ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_weeks_file_shows_its_summary_and_leaves_when_it_is_cold(house: House) -> None:
    """In the tree while it is warm, in the archive afterwards; an edit of it is its owner's word."""
    await house.learn("the plumber comes on Mondays", trust="owner")
    await night(house, 4)
    assert house.text("week-2026-W07.md") == "# 2026-W07\n\n## 2026-02-14\n- the plumber comes on Mondays"
    house.write("week-2026-W07.md", "All was well.")
    await house.mirror.sync_in()
    await night(house, 1)
    assert house.text("week-2026-W07.md") == "All was well."
    await night(house, 20)
    assert "week-2026-W07.md" not in house.files()
    assert house.text("archive/week-2026-W07.md") == "All was well."


@pytest.mark.parametrize(
    ("path", "form", "slot", "scope"),
    [
        ("profile.md", "profile", "person", "owner"),
        ("IDENTITY.md", "profile", "identity", "owner"),
        ("chats/telegram-1/SESSION.md", "summary", "session", "chat:telegram-1"),
    ],
)
async def test_what_fills_a_slot_has_its_file(house: House, path: str, form: str, slot: str, scope: str) -> None:
    """The bot's text is shown, and a person's takes its place."""
    await house.learn("the bot's", scope, form=form, slot=slot, flush=True)  # type: ignore[arg-type]
    assert house.text(path) == "the bot's"
    house.write(path, "mine")
    await house.mirror.sync_in()
    assert await house.texts(scope) == ["mine"]
    assert house.text(path) == "mine"


# ── MEMORY.md ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_sleep_promotes_stands_below_its_night(house: House) -> None:
    """As the seed shows it: after its owner's own lines, the nights in order, and nothing when it is gone."""
    house.write("MEMORY.md", "# User Profile\n- Adrian prefers Spanish\n- Timezone: America/Mexico_City\n")
    await house.mirror.sync_in()
    one = await house.learn("n8n webhooks prefer query params for auth, headers always fail with 401")
    two = await house.learn("the gym closes at ten")
    house.clock.advance(13 * 3600)
    await put(house, one, "promoted", {"tier": "core"})
    house.clock.advance(86_400)
    await put(house, two, "distilled", {"tier": "core"})
    await house.learn("pinned by hand", core=True)
    await house.mirror.sync_out()
    assert house.text("MEMORY.md") == (
        "# User Profile\n- Adrian prefers Spanish\n- Timezone: America/Mexico_City\n- pinned by hand\n\n"
        "## Consolidated — 2026-02-15\n- n8n webhooks prefer query params for auth, headers always fail with 401\n\n"
        "## Consolidated — 2026-02-16\n- the gym closes at ten\n"
    )
    await house.forget(one)
    await house.mirror.sync_out()
    assert "2026-02-15" not in house.text("MEMORY.md")
    events = await house.count_events()
    assert await house.mirror.sync_in() == 0 and await house.count_events() == events


async def test_the_night_is_the_owners_day(tmp_path: Path) -> None:
    """Four in the morning in UTC is still the day before in Mexico."""
    async with open_card_house(
        tmp_path, ZoneInfo("America/Mexico_City"), start=datetime(2026, 2, 15, 4, tzinfo=UTC)
    ) as house:
        one = await house.learn("the gym closes at ten")
        await put(house, one, "promoted", {"tier": "core"})
        await house.mirror.sync_out()
        assert house.text("MEMORY.md") == "## Consolidated — 2026-02-14\n- the gym closes at ten\n"


async def test_a_ref_file_and_its_pointer_keep_together(house: House) -> None:
    """MEMORY.md gets one line a file, with its count; the line goes with the file, and comes back if deleted."""
    numbers = [await house.learn(f"to set limit {n} of n8n edit line {n * 7919}", core=True) for n in range(12)]
    await house.learn("likes tea", core=True, category="preference")
    lean = replace(DEFAULT, decay=DecayPolicy(lean_core_chars=100))
    await night(house, 20, (hygiene.PASS,), lean)
    assert house.text("MEMORY.md") == "- likes tea\n\n## Reference\n- [n8n](ref-n8n.md): 12 facts\n"
    assert house.text("ref-n8n.md").startswith("# n8n\n\n- to set limit 0 of n8n edit line 0\n")
    house.write("MEMORY.md", "- likes tea\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert house.text("MEMORY.md") == "- likes tea\n\n## Reference\n- [n8n](ref-n8n.md): 12 facts\n"
    for number in numbers[1:]:
        await house.forget(number)
    await house.mirror.sync_out()
    assert "- [n8n](ref-n8n.md): 1 fact\n" in house.text("MEMORY.md")
    await house.forget(numbers[0])
    await house.mirror.sync_out()
    assert house.text("MEMORY.md") == "- likes tea\n"
    assert "ref-n8n.md" not in house.files()


async def test_a_ref_file_is_its_owners_to_edit(house: House) -> None:
    """A new file makes new facts and a pointer, a changed line stays in the file, a line moved there moves."""
    known = await house.learn("the router is in the hall", core=True, flush=True)
    house.write("ref-casa.md", "# casa\n\n- the boiler is a Vaillant\n- the router is in the hall\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert (await house.record(known)).tier == "ref:casa"
    assert house.text("MEMORY.md") == "## Reference\n- [casa](ref-casa.md): 2 facts\n"
    house.edit("ref-casa.md", "Vaillant", "Junkers")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert {(record.text, record.tier) for record in await house.live()} == {
        ("the boiler is a Junkers", "ref:casa"), ("the router is in the hall", "ref:casa"),
    }  # fmt: skip


async def test_a_pointer_to_nothing_goes(house: House) -> None:
    """No stale pointers; text that only looks like one and is a fact stays a fact."""
    house.write("MEMORY.md", "# Mine\n- [gone](ref-gone.md): 3 facts\n- likes tea\n")
    await house.mirror.sync_in()
    await house.learn("[n8n](ref-n8n.md) is where it stands", core=True, flush=True)
    assert house.text("MEMORY.md") == "# Mine\n- likes tea\n- \\[n8n](ref-n8n.md) is where it stands\n"
    await house.mirror.sync_in()
    assert await house.texts() == ["likes tea", "[n8n](ref-n8n.md) is where it stands"]


async def test_a_ticked_item_leaves_memory_md(house: House) -> None:
    """Its owner ticks it off in the file; the next night the file lists what is open."""
    house.write("MEMORY.md", "## Pending\n- [ ] call the notary\n- [ ] pay the rent\n")
    await house.mirror.sync_in()
    house.edit("MEMORY.md", "[ ] call", "[x] call")
    await house.mirror.sync_in()
    await night(house, 0.5)
    assert house.text("MEMORY.md") == "## Pending\n- [ ] pay the rent\n"
    assert "[x] call the notary" in await house.texts()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## Consolidated — 2026-02-15\n\n## Consolidated — 2026-02-16\n\n", "- new\n"),
        ("# Me\n\n## Consolidated — 2026-02-15\n", "# Me\n- new\n"),
        ("## Consolidated — 2026-02-15\nmy words\n", "- new\n\n## Consolidated — 2026-02-15\nmy words\n"),
        ("## Pending\n\n## Reference\n", "## Pending\n- new\n\n## Reference\n"),
    ],
)
def test_empty_headings_of_ours_do_not_pile_up(before: str, after: str) -> None:
    """A person's headings stay, and so do their words below ours."""
    assert (
        join_blocks(memory_md.arrange_memory_md([FileBlock(before)], [ShownRecord(1, "new")], {}, {}, {}, {})) == after
    )


# ── all of it again ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_tree_of_decay_is_read_back(cards: CardHouse) -> None:
    """Rebuilt from its files alone, memory has the same records in the same tiers, and nothing is an edit."""
    await cards.tree.start()
    for number in range(12):
        await cards.learn(f"to set limit {number} of n8n edit line {number * 7919}", core=True)
    await cards.learn("the plumber comes on Mondays")
    await cards.learn("an evening with Eva", "chat:telegram-1", form="episode")
    up = await cards.learn("the gym closes at ten")
    await put(cards, up, "promoted", {"tier": "core"})
    cards.mirror = cards.tree.list_files
    lean = replace(DEFAULT, decay=DecayPolicy(lean_core_chars=100))
    await night(cards, 31, policy=lean)
    await cards.learn("the boiler was mended", flush=True)
    await night(cards, 5, policy=lean)
    await cards.tree.sync_out()
    before = {record.id: (record.text, record.tier, record.day, record.status) for record in await cards.everything()}
    files = {path: cards.text(path) for path in cards.files() if not re.search(r"\b(facts|boxes)/", path)}
    assert {"archive/2026-02-14.md", "archive/week-2026-W07.md", "week-2026-W12.md", "ref-n8n.md"} <= files.keys()
    now = cards.clock.now()
    await cards.database.write(lambda c: rebuild.rebuild(c, cards.root, now, replace_all=True))
    await cards.again().start()
    assert {r.id: (r.text, r.tier, r.day, r.status) for r in await cards.everything()} == before
    assert {path: cards.text(path) for path in files} == files
    assert await cards.sync() == 0
