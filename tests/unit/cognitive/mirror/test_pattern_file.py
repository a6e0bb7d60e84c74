"""`procedural/patterns.json`: shows every pattern, takes edits in, and is never overwritten when broken."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.mirror import pattern_file
from kenobot.cognitive.mirror.pattern_file import PatternEntry
from kenobot.cognitive.procedural.pattern import candidate_of
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.ports.errors import StoreError
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES, Scopes
from kenobot.storage.state import read_state, write_state
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse, open_card_house

_PATH = "procedural/patterns.json"


@asynccontextmanager
async def _house(folder: Path) -> AsyncIterator[CardHouse]:
    async with open_card_house(folder) as house:
        await house.tree.start()
        yield house


async def _learn(
    house: CardHouse, trigger: str, response: str = "resolved with query params", scope: str = "owner"
) -> int:
    made = candidate_of(
        scope, trigger, response, source="sleep", trust="model", learned_from="consolidation", confidence=0.6
    )
    return await house.tell(made)


def _shown(house: CardHouse) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(house.text(_PATH))
    return found


def _save(house: CardHouse, patterns: object) -> None:
    house.write(_PATH, json.dumps(patterns, ensure_ascii=False))


async def _records(house: CardHouse) -> list[Record]:
    rows = await house.database.read(
        lambda c: c.execute(
            "SELECT id FROM record WHERE form = 'procedure' AND status = 'active' ORDER BY id"
        ).fetchall()
    )
    return [await house.record(row[0]) for row in rows]


async def _used(house: CardHouse, number: int, times: int, confidence: float = 0.6) -> None:
    """A pattern was shown for an answer."""

    def use(connection: Connection) -> None:
        sql = "UPDATE record SET use_count = ?, confidence = ? WHERE id = ?"
        connection.execute(sql, (times, confidence, number))
        events.add_event(connection, house.clock.now(), "model", "recalled", data={"records": [number]})

    await house.database.write(use)


async def test_a_pattern_is_shown_as_the_seed_shows_it(tmp_path: Path) -> None:
    """With these keys, and whose it is where it is not the owner's own; without patterns there is no file."""
    async with _house(tmp_path) as house:
        assert _PATH not in house.files()
        one = await _learn(house, "n8n webhook 401 error")
        two = await _learn(house, "ошибка сервера", "перезапуск", "chat:telegram-1")
        assert _shown(house) == [
            {
                "id": f"pattern-{one}",
                "trigger": "n8n webhook 401 error",
                "response": "resolved with query params",
                "confidence": 0.6,
                "learnedFrom": "consolidation",
                "usageCount": 0,
            },
            {
                "id": f"pattern-{two}",
                "trigger": "ошибка сервера",
                "response": "перезапуск",
                "confidence": 0.6,
                "learnedFrom": "consolidation",
                "usageCount": 0,
                "scope": "chat:telegram-1",
            },
        ]
        assert (house.root / _PATH).stat().st_mode & 0o777 == 0o600


async def test_use_and_confidence_are_written_along(tmp_path: Path) -> None:
    """Though neither makes a prompt anew."""
    async with _house(tmp_path) as house:
        number = await _learn(house, "n8n webhook 401 error")
        await _used(house, number, 3, 0.75)
        await house.tree.sync_out()
        assert (_shown(house)[0]["usageCount"], _shown(house)[0]["confidence"]) == (3, 0.75)


async def test_only_what_changed_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pattern of many that was used costs one; what has ended is known no more."""
    read: list[int] = []
    by_ids = store.by_ids

    def counted(connection: Connection, ids: Sequence[int], reach: Scopes) -> dict[int, Record]:
        read.extend(ids)
        return by_ids(connection, ids, reach)

    async with _house(tmp_path) as house:
        numbers = [await _learn(house, f"error {number} of printer {number}") for number in range(8)]
        monkeypatch.setattr(store, "by_ids", counted)
        await _used(house, numbers[2], 3)
        await house.tell(Candidate("note", "owner", "something else"))
        await house.tree.pattern_file.sync_out()
        assert [number for number in read if number in numbers] == [numbers[2]]
        assert [each["usageCount"] for each in _shown(house)] == [0, 0, 3, 0, 0, 0, 0, 0]
        await house.database.write(lambda c: forget(c, numbers[2], ALL_SCOPES, house.occasion("owner")))
        await house.tree.pattern_file.sync_out()
        assert [*house.tree.pattern_file._shown] == numbers[:2] + numbers[3:]


@pytest.mark.parametrize(
    "trigger", ["a", 'añ "quoted" \\ back', "line\nbreak\ttab", "\u2028 ошибка 错误 \x7f \x00", "→"]
)
@pytest.mark.parametrize("scope", ["owner", "chat:telegram-1"])
def test_the_file_is_what_json_makes_of_it(trigger: str, scope: str) -> None:
    """Though it is put together by hand, pattern by pattern."""
    entries = [
        PatternEntry(number, trigger, f"{trigger}!", 0.1 * number, trigger, number, scope) for number in range(3)
    ]
    told = [pattern_file._render_entry(entry) for entry in entries]
    assert (
        pattern_file.join_entries(map(pattern_file.render_entry, entries))
        == json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    )
    assert pattern_file.join_entries([]) == ""


async def test_what_a_person_changes_is_the_owners_word(tmp_path: Path) -> None:
    """Words take the place of words, figures count, and what only the bot has moved meanwhile stays."""
    async with _house(tmp_path) as house:
        number = await _learn(house, "n8n webhook 401 error")
        [pattern] = _shown(house)
        await house.database.write(
            lambda c: c.execute("UPDATE record SET use_count = 5 WHERE id = ?", (number,)).rowcount
        )
        _save(house, [{**pattern, "response": "usa query params", "confidence": 0.9}])
        assert await house.sync() == 1
        [now] = await _records(house)
        assert (now.text, now.trust, now.source) == ("n8n webhook 401 error → usa query params", "owner", "edit")
        assert (now.confidence, now.use_count, now.attribute_map["learnedFrom"]) == (0.9, 5, "consolidation")
        assert (await house.record(number)).status == "superseded"
        assert _shown(house)[0] == {**pattern, "id": f"pattern-{now.id}", "response": "usa query params",
                                    "confidence": 0.9, "usageCount": 5}  # fmt: skip
        assert await house.sync() == 0


async def test_a_figure_alone_changes_no_words(tmp_path: Path) -> None:
    """The record stays the same, and so does its id; low confidence set by hand does not end by itself."""
    async with _house(tmp_path) as house:
        number = await _learn(house, "n8n webhook 401 error")
        [pattern] = _shown(house)
        _save(house, [{**pattern, "confidence": 0.1}])
        assert await house.sync() == 1
        [now] = await _records(house)
        assert (now.id, now.confidence, now.expires) == (number, 0.1, None)


async def test_a_pattern_that_a_person_adds_is_learned(tmp_path: Path) -> None:
    """With as little as its trigger and its response; it gets an id."""
    async with _house(tmp_path) as house:
        first = await _learn(house, "n8n webhook 401 error")
        added = {"trigger": "printer 0x6", "response": "reinstall the driver"}
        _save(
            house, [*_shown(house), added, {**added, "trigger": "Drucker", "scope": "chat:telegram-1", "usageCount": 2}]
        )
        assert await house.sync() == 2
        records = await _records(house)
        assert [(r.id == first, r.scope, r.confidence, r.use_count) for r in records] == [
            (True, "owner", 0.6, 0),
            (False, "owner", 0.95, 0),
            (False, "chat:telegram-1", 0.95, 2),
        ]
        assert [each["id"] for each in _shown(house)] == [f"pattern-{record.id}" for record in records]


async def test_a_pattern_that_a_person_takes_out_is_forgotten(tmp_path: Path) -> None:
    """Reversibly; a file that is gone altogether is written again."""
    async with _house(tmp_path) as house:
        one, two = await _learn(house, "n8n webhook 401 error"), await _learn(house, "printer 0x6")
        _save(house, _shown(house)[1:])
        assert await house.sync() == 1
        assert [(await house.record(number)).status for number in (one, two)] == ["forgotten", "active"]
        (house.root / _PATH).unlink()
        assert await house.sync() == 0
        assert [each["id"] for each in _shown(house)] == [f"pattern-{two}"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"id": "pattern-1", "trig', "it is not whole JSON"),
        ("", "it is not whole JSON"),
        ("{}", "it must be a list of patterns"),
        ("[7]", "pattern 1 must be an object"),
        ('[{"id": "p", "trigger": "t"}]', "pattern 1 must have a trigger and a response"),
        ('[{"trigger": "t", "response": "r", "confidence": 1.5}]', "must have a confidence between 0 and 1"),
        ('[{"trigger": "t", "response": "r", "confidence": "0.5"}]', "must have a confidence between 0 and 1"),
        ('[{"trigger": "t", "response": "r", "usageCount": -1}]', "must have a usageCount that is a whole number"),
        ('[{"trigger": "t", "response": "r", "scope": "../../etc"}]', "must say whose it is"),
        ('[{"trigger": "t", "response": "Bearer abcdefghij0123456789"}]', "looks like a bearer token"),
        ('[{"id": "pattern-1", "trigger": "t", "response": "r"}, {"id": "pattern-1", "trigger": "u", "response": "r"}]',
         "have the same id"),
        ("[" * 100_000, "it is not whole JSON"),
    ],
)  # fmt: skip
async def test_a_broken_file_is_reported_and_never_overwritten(tmp_path: Path, text: str, why: str) -> None:
    """Whatever happens to memory meanwhile; once it is mended, it counts again, and nothing was forgotten."""
    async with _house(tmp_path) as house:
        await _learn(house, "n8n webhook 401 error")
        whole = _shown(house)
        house.write(_PATH, text)
        assert await house.sync() == 0
        [problem] = [problem for problem in house.tree.problems if _PATH in problem]
        assert why in problem
        await _learn(house, "printer 0x6")
        await house.again().start()
        assert house.text(_PATH) == text
        _save(house, whole)
        assert await house.sync() == 0
        assert len(_shown(house)) == 2
        assert not house.tree.problems


@pytest.mark.parametrize("written", [False, True])
async def test_a_crash_around_the_write_is_no_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """Whichever of its two texts the file holds then, and though memory has moved on since."""
    async with _house(tmp_path) as house:
        await _learn(house, "n8n webhook 401 error")
        replace = disk.replace

        async def crash(root: Path, path: str, text: str, expected: disk.FileStamp | None) -> disk.FileStamp | None:
            if path != _PATH:
                return await replace(root, path, text, expected)
            if written:
                await replace(root, path, text, expected)
            raise StoreError("the power is gone")

        monkeypatch.setattr(disk, "replace", crash)
        with pytest.raises(StoreError, match="power"):
            await _learn(house, "printer 0x6")
        monkeypatch.setattr(disk, "replace", replace)
        assert len(_shown(house)) == 1 + written
        await house.database.write(
            lambda c: c.execute("UPDATE record SET use_count = 4 WHERE form = 'procedure'").rowcount
        )
        await house.again().start()
        assert [record.use_count for record in await _records(house)] == [4, 4]
        assert [each["usageCount"] for each in _shown(house)] == [4, 4]


async def test_an_edit_while_the_file_is_written_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who saves at the very moment of the write wins, and memory's own news comes beside it."""
    async with _house(tmp_path) as house:
        await _learn(house, "n8n webhook 401 error")
        mine = [*_shown(house), {"trigger": "printer 0x6", "response": "reinstall the driver"}]
        replace = disk.replace

        async def slow(*given: Any) -> Any:
            monkeypatch.setattr(disk, "replace", replace)
            await asyncio.to_thread(_save, house, mine)
            return await replace(*given)

        monkeypatch.setattr(disk, "replace", slow)
        await _learn(house, "router red light", "swap cables")
        assert {each["trigger"] for each in _shown(house)} == {
            "n8n webhook 401 error",
            "printer 0x6",
            "router red light",
        }


async def test_a_lost_database_gets_its_figures_back_from_the_file(tmp_path: Path) -> None:
    """Without a note of what was written, what the file says of a known pattern counts, and nothing is forgotten."""
    async with _house(tmp_path) as house:
        one, two = await _learn(house, "n8n webhook 401 error"), await _learn(house, "printer 0x6")
        kept = [{**_shown(house)[0], "usageCount": 9}]
        await house.database.write(lambda c: write_state(c, "mirror:patterns", "[]"))
        _save(house, kept)
        await house.again().start()
        assert [(r.id, r.use_count) for r in await _records(house)] == [(one, 9), (two, 0)]


async def test_what_is_forgotten_elsewhere_leaves_the_file(tmp_path: Path) -> None:
    """The last one takes the file with it, and nothing of its words is noted."""
    async with _house(tmp_path) as house:
        number = await _learn(house, "n8n webhook 401 error")
        await house.forget(number)
        await house.tree.sync_out()
        assert _PATH not in house.files()
        noted = await house.database.read(lambda c: read_state(c, "mirror:patterns"))
        assert noted is not None
        assert "webhook" not in noted


async def test_a_card_that_a_person_rewrites_is_still_a_pattern(tmp_path: Path) -> None:
    """The file shows what the card says, though the attributes did not follow."""
    async with _house(tmp_path) as house:
        number = await _learn(house, "n8n webhook 401 error")
        path = house.cards()[number]
        house.edit(path, "resolved with query params\n", "use query params, never headers\n")
        await house.sync()
        await house.sync()
        assert [(each["trigger"], each["response"]) for each in _shown(house)] == [
            ("n8n webhook 401 error", "use query params, never headers")
        ]
