"""What a person's edit of a file does to memory, and what the bot's memories do to a file."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kenobot.cognitive.store import list_file_rows
from kenobot.cognitive.store.change import change
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory_changes import ChangeContext
from tests.recorded import recorded
from tests.unit.cognitive.mirror.house import LOG, House, open_house

CHAT = "chat:telegram-1"


async def test_what_the_bot_learns_stands_in_the_seeds_files(house: House) -> None:
    """Facts, chat memories, context, scratchpad and preferences go where the seeds put them."""
    await house.learn("user likes coffee")
    await house.learn("debugging auth", CHAT, form="episode")
    await house.learn("Type: Work group\nTone: Technical", CHAT, form="profile", slot="context")
    await house.learn("- a\n- b", CHAT, form="scratchpad", slot="working")
    await house.learn("Likes tea", category="preference")
    await house.learn("Timezone: Madrid", core=True)
    await house.learn("Eva likes cats", "user:telegram-7", trust="guest")
    await house.learn("Eva prefers tú", "user:telegram-7", category="preference", trust="guest")
    await house.mirror.sync_out()
    assert {path: house.text(path) for path in house.files()} == {
        LOG: "## 14:30 — user likes coffee\n\n",
        f"chats/telegram-1/{LOG}": "## 14:30 — debugging auth\n\n",
        "chats/telegram-1/context.md": "Type: Work group\nTone: Technical",
        "working/telegram-1.md": "- a\n- b",
        "identity/preferences.md": "# User Preferences\n\n- learned: Likes tea",
        "MEMORY.md": "- Timezone: Madrid\n",
        f"users/telegram-7/{LOG}": "## 14:30 — Eva likes cats\n\n## 14:30 — Eva prefers tú\n\n",
    }


@pytest.mark.parametrize("case", recorded("memory.daily_append"))
async def test_an_entry_is_appended_as_recorded(case: dict[str, dict[str, str]], tmp_path: Path) -> None:
    """The day's log has the recorded name and the recorded text."""
    given = case["input"]
    async with open_house(tmp_path, start=datetime.fromisoformat(given["now"])) as house:
        scope = f"chat:{given['chat']}" if "chat" in given else OWNER_SCOPE
        await house.learn(given["fact"], scope)
        await house.mirror.sync_out()
        assert {path: house.text(path) for path in house.files()} == case["expected"]


async def test_the_log_goes_by_the_owners_clock(tmp_path: Path) -> None:
    """Day and time of an entry are those of the owner's zone."""
    async with open_house(tmp_path, ZoneInfo("Asia/Tokyo"), datetime(2026, 2, 14, 20, 5, tzinfo=UTC)) as house:
        await house.learn("late")
        await house.mirror.sync_out()
        assert house.text("2026-02-15.md") == "## 05:05 — late\n\n"


async def test_an_added_line_is_the_owners_word(house: House) -> None:
    """A bullet that a person adds to MEMORY.md is remembered as theirs, and the file stays as they left it."""
    text = "# Yo\n\n| tabla | x |\n|---|---|\n\n*  vivo en Bilbao\n\n```\n- código\n```\n- 我喜欢茶\n- أحب القهوة 🙂"
    house.write("MEMORY.md", text)
    assert await house.mirror.sync_in() == 3
    records = await house.live()
    assert [record.text for record in records] == ["vivo en Bilbao", "我喜欢茶", "أحب القهوة 🙂"]
    assert {(r.trust, r.tier, r.form, r.confidence) for r in records} == {("owner", "core", "note", 0.95)}
    assert house.text("MEMORY.md") == text
    assert await house.mirror.sync_in() == 0


async def test_an_entry_added_to_an_old_log_belongs_to_that_day(house: House) -> None:
    """The day is the file's, and the time that the person wrote stays."""
    house.write("2025-12-24.md", "# Nochebuena\n## 9:05 - cena con Ana\ny con Luis\n")
    assert await house.mirror.sync_in() == 1
    (record,) = await house.live()
    assert (record.day, record.tier, record.text) == ("2025-12-24", "daily", "cena con Ana\ny con Luis")
    assert house.text("2025-12-24.md") == "# Nochebuena\n## 9:05 - cena con Ana\ny con Luis\n"


async def test_a_line_added_to_a_chats_log_stays_in_that_chat(house: House) -> None:
    """What is written into a chat's files is remembered for that chat only."""
    house.write(f"chats/telegram-1/{LOG}", "## 10:00 — only here\n\n")
    house.write("chats/telegram-2/MEMORY.md", "- only there\n")
    house.write("users/telegram-7/MEMORY.md", "- about Eva\n")
    await house.mirror.sync_in()
    assert await house.texts() == []
    (record,) = await house.live(CHAT)
    assert (record.text, record.form) == ("only here", "episode")
    assert await house.texts("chat:telegram-2") == ["only there"]
    assert await house.texts("user:telegram-7") == ["about Eva"]


async def test_a_changed_line_takes_the_place_of_the_old(house: House) -> None:
    """The old fact stays as history, the new one stands where the person wrote it."""
    old = await house.learn("Ana lives in Paris", flush=True)
    house.edit(LOG, "Paris", "Bilbao")
    assert await house.mirror.sync_in() == 1
    assert await house.texts() == ["Ana lives in Bilbao"]
    assert (await house.record(old)).status == "superseded"
    assert house.text(LOG) == "## 14:30 — Ana lives in Bilbao\n\n"


async def test_a_removed_line_is_forgotten(house: House) -> None:
    """What a person takes out of a file is no longer believed, but can be brought back."""
    old = await house.learn("Ana lives in Paris", core=True)
    await house.learn("Ana likes tea", core=True, flush=True)
    house.edit("MEMORY.md", "- Ana lives in Paris\n", "")
    assert await house.mirror.sync_in() == 1
    assert await house.texts() == ["Ana likes tea"]
    assert (await house.record(old)).status == "forgotten"


async def test_a_line_put_in_other_letters_is_shown_so(house: House) -> None:
    """A correction of spelling alone is taken over too, although the words are the same."""
    old = await house.learn("juan likes tea", core=True, flush=True)
    house.edit("MEMORY.md", "juan", "Juan")
    await house.mirror.sync_in()
    assert await house.texts() == ["Juan likes tea"]
    assert (await house.record(old)).status == "active"
    assert house.text("MEMORY.md") == "- Juan likes tea\n"


async def test_lines_in_another_order_are_the_same_lines(house: House) -> None:
    """Moving lines about changes nothing of what is believed."""
    for text in ("one", "two", "three"):
        await house.learn(text, core=True)
    await house.mirror.sync_out()
    before = await house.live()
    house.write("MEMORY.md", "# Numbers\n- three\n\n## More\n- one\n- two\n")
    assert await house.mirror.sync_in() == 0
    assert await house.live() == before
    await house.learn("four", core=True)
    await house.mirror.sync_out()
    assert house.text("MEMORY.md") == "# Numbers\n- three\n\n## More\n- one\n- two\n- four\n"


async def test_an_edit_and_a_bot_write_in_the_same_minute_both_survive(house: House) -> None:
    """Neither the person's line nor the bot's is lost, whoever comes first."""
    await house.learn("first", flush=True)
    house.edit(LOG, "first\n\n", "first\n\nwords between\n## 15:00 — mine\n")
    await house.learn("the bot's")
    await house.mirror.sync_out()
    assert house.text(LOG) == (
        "## 14:30 — first\n\n## 14:30 — words between\n\n## 15:00 — mine\n\n## 14:30 — the bot's\n\n"
    )
    assert await house.texts() == ["first", "the bot's", "words between", "mine"]


async def test_a_line_that_is_known_already_points_to_what_is_known(house: House) -> None:
    """Writing a line twice makes no second fact and no surer one; both lines stay."""
    known = await house.learn("likes tea", core=True, flush=True)
    before = await house.record(known)
    house.write("MEMORY.md", "- likes tea\n- Likes tea.\n")
    await house.mirror.sync_in()
    assert await house.live() == [before]
    assert house.text("MEMORY.md") == "- likes tea\n- Likes tea.\n"
    house.write("MEMORY.md", "- Likes tea.\n")
    await house.mirror.sync_in()
    assert [record.id for record in await house.live()] == [known]


async def test_what_a_person_copies_into_memory_md_belongs_there(house: House) -> None:
    """A note of the day that the owner writes into MEMORY.md is long-term memory from then on, and one fact."""
    known = await house.learn("likes tea", flush=True)
    house.write("MEMORY.md", "- likes tea\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    (record,) = await house.live()
    assert (record.id, record.tier, record.trust) == (known, "core", "owner")
    assert house.text("MEMORY.md") == "- likes tea\n"
    assert house.text(LOG) == "## 14:30 — likes tea\n\n"
    house.write(LOG, "")
    await house.mirror.sync_in()
    assert await house.texts() == ["likes tea"]


async def test_a_line_moved_into_memory_md_stays_one_fact(house: House) -> None:
    """Cut from the log and pasted into MEMORY.md, a fact keeps its history."""
    known = await house.learn("likes tea")
    await house.learn("stays", flush=True)
    house.edit(LOG, "## 14:30 — likes tea\n\n", "")
    house.write("MEMORY.md", "- likes tea\n")
    await house.mirror.sync_in()
    assert [(r.id, r.tier) for r in await house.live() if r.text == "likes tea"] == [(known, "core")]


async def test_a_copy_that_the_owner_made_stands_for_itself(house: House) -> None:
    """A line of the log that is rewritten does not take the copy in MEMORY.md with it, nor does a deleted one."""
    known = await house.learn("Ana lives in Paris", flush=True)
    house.write("MEMORY.md", "- Ana lives in Paris\n")
    await house.mirror.sync_in()
    house.edit(LOG, "Paris", "Bilbao")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert house.text("MEMORY.md") == "- Ana lives in Paris\n"
    assert house.text(LOG) == "## 14:30 — Ana lives in Bilbao\n\n"
    assert [(r.text, r.tier) for r in await house.live()] == [
        ("Ana lives in Paris", "core"), ("Ana lives in Bilbao", "daily"),
    ]  # fmt: skip
    assert (await house.record(known)).status == "active"


async def test_a_fact_taken_out_of_memory_md_goes_back_to_the_log_that_still_shows_it(house: House) -> None:
    """What its owner put into two files is remembered until it has gone from both, and does not come back to one."""
    known = await house.learn("likes tea", flush=True)
    house.write("MEMORY.md", "- likes tea\n")
    await house.mirror.sync_in()
    house.write("MEMORY.md", "# Me\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert [(r.id, r.tier) for r in await house.live()] == [(known, "daily")]
    assert (house.text("MEMORY.md"), house.text(LOG)) == ("# Me\n", "## 14:30 — likes tea\n\n")
    house.write(LOG, "")
    await house.mirror.sync_in()
    assert await house.texts() == []


async def test_a_fact_that_sleep_promoted_can_be_corrected_in_the_log(house: House) -> None:
    """What memory shows in two files by itself is one fact, changed in both by an edit of either."""
    known = await house.learn("likes tea", flush=True)
    act = ChangeContext(house.clock.now(), "sleep", "a night")
    record = await house.record(known)
    await house.database.write(lambda c: change(c, record, "promoted", {"tier": "core"}, act))
    await house.mirror.sync_out()
    house.edit(LOG, "tea", "coffee")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert "- likes coffee\n" in house.text("MEMORY.md")
    assert house.text(LOG) == "## 14:30 — likes coffee\n\n"
    assert [(record.text, record.tier) for record in await house.live()] == [("likes coffee", "core")]


# ── several files in one save ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("flush", [False, True])
async def test_a_line_that_was_cut_into_memory_md_is_not_replaced_by_the_next_one(house: House, flush: bool) -> None:
    """Cut one line of the log into MEMORY.md and correct the next: both live, and MEMORY.md stays as it was left."""
    boiler = await house.learn("The boiler was repaired by Luis")
    tickets = await house.learn("The tickets for Rome are booked todya", flush=True)
    house.write(LOG, "## 14:30 — The tickets for Rome are booked today\n\n")
    house.write("MEMORY.md", "# Me\n- The boiler was repaired by Luis\n")
    await (house.mirror.sync_out() if flush else house.mirror.sync_in())
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    live = {record.text: record for record in await house.live()}
    assert set(live) == {"The boiler was repaired by Luis", "The tickets for Rome are booked today"}
    assert (live["The boiler was repaired by Luis"].id, (await house.record(boiler)).tier) == (boiler, "core")
    assert (await house.record(tickets)).status == "superseded"
    assert house.text("MEMORY.md") == "# Me\n- The boiler was repaired by Luis\n"
    assert house.text(LOG) == "## 14:30 — The tickets for Rome are booked today\n\n"


async def test_a_copy_that_moves_on_leaves_the_line_in_memory_md_alone(house: House) -> None:
    """It stands in MEMORY.md and in a log; cut from there into another log, it still belongs in MEMORY.md."""
    boiler = await house.learn("The boiler was repaired by Luis", flush=True)
    house.write("MEMORY.md", "- The boiler was repaired by Luis\n")
    for _ in range(2):
        await house.mirror.sync_in()
        await house.mirror.sync_out()
    house.write(LOG, "")
    house.write("2026-02-12.md", "## 9:05 — The boiler was repaired by Luis\n\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert (await house.record(boiler)).tier == "core"
    assert house.text("MEMORY.md") == "- The boiler was repaired by Luis\n"
    assert house.text("2026-02-12.md") == "## 9:05 — The boiler was repaired by Luis\n\n"


async def test_a_line_written_over_with_one_that_stands_elsewhere_leaves_that_one_where_it_is(house: House) -> None:
    """What it said before is over; the other goes on standing in its own file too."""
    house.write("ref-home.md", "- The boiler is serviced 1 times a year\n")
    house.write("archive/2025-11-03.md", "## 9:05 — The boiler is serviced 2 times a year\n\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    house.write("archive/2025-11-03.md", "## 9:05 — The boiler is serviced 1 times a year\n\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert await house.texts() == ["The boiler is serviced 1 times a year"]
    assert "- The boiler is serviced 1 times a year\n" in house.text("ref-home.md")
    assert house.text("archive/2025-11-03.md") == "## 9:05 — The boiler is serviced 1 times a year\n\n"


async def test_a_line_that_was_deleted_is_forgotten_and_not_replaced_by_the_next_one(house: House) -> None:
    """The history of the corrected line is its own."""
    boiler = await house.learn("The boiler was repaired by Luis", core=True)
    tickets = await house.learn("The tickets for Rome are booked todya", core=True, flush=True)
    house.write("MEMORY.md", "- The tickets for Rome are booked today\n")
    await house.mirror.sync_in()
    assert [(await house.record(n)).status for n in (boiler, tickets)] == ["forgotten", "superseded"]


@pytest.mark.parametrize(
    ("source", "target"),
    [(LOG, "2026-02-12.md"), ("MEMORY.md", LOG), (LOG, "ref-home.md"), ("MEMORY.md", "ref-home.md"),
     ("2026-02-12.md", "archive/2025-02-12.md"), ("ref-home.md", LOG), ("identity/preferences.md", "MEMORY.md"),
     (LOG, "identity/preferences.md"), ("identity/preferences.md", LOG)],
)  # fmt: skip
async def test_a_line_cut_from_any_file_into_any_other_moves_there(house: House, source: str, target: str) -> None:
    """One record, in its new place, and no longer in the old one; looking again changes nothing."""

    def line(path: str, text: str) -> str:
        if path[-13:-3].count("-") == 2 and "pref" not in path:
            return f"## 14:30 — {text}\n\n"
        return f"- learned: {text}\n" if "pref" in path else f"- {text}\n"

    house.write(source, line(source, "The boiler was repaired by Luis") + line(source, "Ana plays chess"))
    house.write(target, line(target, "Rex is a dog"))
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    numbers = {record.text: record.id for record in await house.live()}
    house.write(source, line(source, "Ana plays chess"))
    house.write(target, line(target, "Rex is a dog") + line(target, "The boiler was repaired by Luis"))
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert {record.text: record.id for record in await house.live()} == numbers
    assert house.text(source).partition("\n## Reference")[0] == line(source, "Ana plays chess")
    assert house.text(target) == line(target, "Rex is a dog") + line(target, "The boiler was repaired by Luis")
    events = await house.count_events()
    assert await house.mirror.sync_in() == 0 and await house.count_events() == events


async def test_a_line_deleted_takes_no_longer_one_with_it(house: House) -> None:
    """What repeats it within other words still stands in its file, so it lives."""
    house.write("MEMORY.md", "- the gym closes at ten on Mondays\n- the gym closes at ten\n")
    await house.mirror.sync_in()
    assert len(await house.texts()) == 2
    house.write("MEMORY.md", "- the gym closes at ten on Mondays\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert await house.texts() == ["the gym closes at ten on Mondays"]
    assert house.text("MEMORY.md") == "- the gym closes at ten on Mondays\n"


@pytest.mark.parametrize(("one", "other"), [(LOG, "archive/2025-11-03.md"), ("archive/2025-11-03.md", LOG)])
async def test_a_copy_between_a_log_and_an_archived_one_stays(house: House, one: str, other: str) -> None:
    """It stays where it was put, whichever of the two days it belongs to."""
    house.write(one, "## 9:05 — likes tea\n\n")
    await house.mirror.sync_in()
    house.write(other, "## 9:05 — likes tea\n\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert await house.texts() == ["likes tea"]
    assert house.text(one) == house.text(other) == "## 9:05 — likes tea\n\n"


async def test_two_lines_of_one_save_do_not_end_each_other(house: House) -> None:
    """What its owner wrote in one go stands, even where one line speaks against another."""
    house.write("MEMORY.md", "- Ana lives in Paris\n- Ana lives in Bilbao\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert await house.texts() == ["Ana lives in Paris", "Ana lives in Bilbao"]
    assert house.text("MEMORY.md") == "- Ana lives in Paris\n- Ana lives in Bilbao\n"


async def test_a_secret_stays_in_the_persons_file_and_out_of_memory(house: House) -> None:
    """What memory refuses is the person's own text: kept where it is, not in the database, and asked once only."""
    house.write("MEMORY.md", "- fine\n- my password is hunter22x\n")
    await house.mirror.sync_in()
    assert await house.texts() == ["fine"]
    events = await house.count_events()
    house.edit("MEMORY.md", "fine", "fine indeed")
    await house.learn("from the bot", core=True)
    await house.mirror.sync_in()
    assert house.text("MEMORY.md") == "- fine indeed\n- my password is hunter22x\n- from the bot\n"
    assert await house.count_events() == events + 4


async def test_a_secret_written_over_a_fact_takes_the_fact_with_it(house: House) -> None:
    """The old words are gone from the file, so they are no longer believed."""
    await house.learn("the key is under the mat", core=True, flush=True)
    house.write("MEMORY.md", "- password: hunter22x\n")
    await house.mirror.sync_in()
    assert await house.texts() == []
    assert house.text("MEMORY.md") == "- password: hunter22x\n"


async def test_an_emptied_file_forgets_and_stays_empty(house: House) -> None:
    """A file that is there but empty was emptied by somebody."""
    await house.learn("gone", flush=True)
    house.write(LOG, "")
    assert await house.mirror.sync_in() == 1
    assert await house.texts() == []
    assert house.text(LOG) == ""


async def test_a_missing_file_is_written_again(house: House) -> None:
    """Losing the tree loses nothing, not even the person's own headings."""
    await house.learn("kept", core=True, flush=True)
    house.edit("MEMORY.md", "- kept", "# Mine\n- kept")
    await house.mirror.sync_in()
    (house.root / "MEMORY.md").unlink()
    assert await house.mirror.sync_in() == 0
    assert house.text("MEMORY.md") == "# Mine\n- kept\n"
    assert await house.texts() == ["kept"]


async def test_a_file_that_the_bot_emptied_goes(house: House) -> None:
    """When nothing is left of a file but what the bot wrote, and that is forgotten, the file is removed."""
    record = await house.learn("gone", CHAT, form="scratchpad", slot="working", flush=True)
    await house.forget(record)
    await house.mirror.sync_out()
    assert house.files() == set()


async def test_a_scratchpad_is_replaced_whole(house: House) -> None:
    """The bot's new text replaces the old; the person's edit replaces the bot's; an editor's line break is no edit."""
    path = "working/telegram-1.md"
    record = await house.learn("version 1", CHAT, form="scratchpad", slot="working", flush=True)
    assert await house.learn("version 2", CHAT, form="scratchpad", slot="working", flush=True) == record
    assert house.text(path) == "version 2"
    house.write(path, "version 2\n")
    await house.mirror.sync_in()
    assert (house.text(path), await house.texts(CHAT)) == ("version 2\n", ["version 2"])
    house.write(path, "my version\n")
    assert await house.mirror.sync_in() == 1
    assert (house.text(path), await house.texts(CHAT)) == ("my version\n", ["my version"])
    house.write(path, "")
    await house.mirror.sync_in()
    assert await house.texts(CHAT) == []
    await house.learn("version 3", CHAT, form="scratchpad", slot="working", flush=True)
    assert house.text(path) == "version 3"


async def test_preferences_are_appended_after_the_persons_text(house: House) -> None:
    """Not a byte of what stands in preferences.md changes, and a deleted line does not come back."""
    house.write("identity/preferences.md", "# Preferences\r\nLanguage: es\n- no emojis")
    await house.learn("Likes tea", category="preference", flush=True)
    text = "# Preferences\r\nLanguage: es\n- no emojis\n- learned: Likes tea"
    assert house.text("identity/preferences.md") == text
    house.edit("identity/preferences.md", "\n- learned: Likes tea", "")
    assert await house.mirror.sync_in() == 1
    assert await house.texts() == []
    await house.learn("Likes cake", category="preference", flush=True)
    assert house.text("identity/preferences.md") == text.replace("tea", "cake")


async def test_a_text_too_long_for_memory_stays_whole_in_the_file(house: House) -> None:
    """Memory keeps the beginning; the person's file keeps all."""
    text = f"- {'long words ' * 2_000}\n- next\n"
    house.write("MEMORY.md", text)
    await house.mirror.sync_in()
    assert len((await house.texts())[0]) <= 16_000
    assert house.text("MEMORY.md") == text
    assert await house.mirror.sync_in() == 0


async def test_a_superseded_fact_is_replaced_where_it_stood(house: House) -> None:
    """The bot's correction keeps the line's place among the person's headings."""
    old = await house.learn("lives in Paris", core=True, flush=True)
    house.write("MEMORY.md", "# Home\n- lives in Paris\n# Rest\n")
    await house.mirror.sync_in()
    await house.learn("lives in Bilbao", core=True, replaces=old, flush=True)
    assert house.text("MEMORY.md") == "# Home\n- lives in Bilbao\n# Rest\n"


async def test_a_line_that_the_bot_forgot_while_a_person_edited_another_goes(house: House) -> None:
    """Both changes hold: the bot's forgetting and the person's edit."""
    one = await house.learn("one", core=True)
    await house.learn("two", core=True, flush=True)
    await house.forget(one)
    house.edit("MEMORY.md", "two", "two and a half")
    await house.mirror.sync_in()
    assert house.text("MEMORY.md") == "- two and a half\n"
    assert await house.texts() == ["two and a half"]


async def test_a_line_rewritten_after_the_bot_forgot_it_is_news(house: House) -> None:
    """The person's new words are believed, the old record is not brought back."""
    one = await house.learn("one", core=True, flush=True)
    await house.forget(one)
    house.edit("MEMORY.md", "one", "one, as I said")
    await house.mirror.sync_in()
    assert await house.texts() == ["one, as I said"]
    assert (await house.record(one)).status == "forgotten"


async def test_a_record_of_another_scope_is_shown_nowhere_else(house: House) -> None:
    """Even when what was noted of a file names it, another chat's record does not stand there."""
    strange = await house.learn("another chat's", CHAT)
    mine = await house.learn("mine", flush=True)
    text = "## 14:30 — mine\n\n## 1:00 — x\n\n"
    house.write(LOG, text)
    await house.database.write(lambda c: list_file_rows.save_list_file(c, LOG, text, [mine, strange]))
    await house.restart().start()
    await house.learn("more", flush=True)
    assert house.text(LOG) == "## 14:30 — mine\n\n## 14:30 — more\n\n"
    assert await house.texts(CHAT) == ["another chat's"]


@pytest.mark.parametrize(
    ("below", "texts"),
    [
        ("The spare tyre is in the attic.\n", ["The spare tyre is in the attic."]),
        (
            "- The ladder is at Tom's\n* la llave está en el cajón\n",
            ["The ladder is at Tom's", "la llave está en el cajón"],
        ),
        ("## The hedge trimmer is broken\n", ["The hedge trimmer is broken"]),
        ("1. call Ana\n2. buy tape\n", ["call Ana", "buy tape"]),
        ("One\n\nTwo lines\nof one\n\n---\n", ["One", "Two lines\nof one"]),
    ],
)
async def test_text_below_an_entry_is_a_memory_of_its_own(house: House, below: str, texts: list[str]) -> None:
    """A paragraph, a bullet, a heading; the entry stays as it was, and what is taken out again is forgotten."""
    await house.learn("My barber is Ivo\n\nand his shop is closed on Mondays", flush=True)
    before = house.text(LOG)
    house.write(LOG, before + below)
    await house.learn("the bot's")
    await house.mirror.sync_in("telegram-1")
    await house.mirror.sync_out()
    mine = "My barber is Ivo\n\nand his shop is closed on Mondays"
    assert sorted(await house.texts()) == sorted([mine, "the bot's", *texts])
    entry = f"## 14:30 — {texts[0]}\n\n"
    assert entry in house.text(LOG)
    house.edit(LOG, entry, "")
    await house.mirror.sync_in("telegram-1")
    assert sorted(await house.texts()) == sorted([mine, "the bot's", *texts[1:]])


async def test_a_numbered_list_in_memory_md_is_read(house: House) -> None:
    """Each of its lines is a memory, and stays as it was written."""
    await house.learn("first", flush=True)
    house.write("MEMORY.md", "# Mine\n\n1. The spare key is at Bob's\n2) la caldera es del 2019\n")
    await house.mirror.sync_in("telegram-1")
    await house.mirror.sync_out()
    assert {"The spare key is at Bob's", "la caldera es del 2019"} <= {*await house.texts()}
    assert "1. The spare key is at Bob's\n2) la caldera es del 2019\n" in house.text("MEMORY.md")
