"""Memory files: what is learned is written to them, and what stands in them is read back."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TypeVar

from kenobot.cognitive.recall.prompt.full_load import FullLoader
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.language.markdown import list_layout
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from tests.conformance.cases import Case, Checked, NotApplicable, Outcome, compare
from tests.scratch import scratch
from tests.unit.cognitive.mirror.house import House, open_house

T = TypeVar("T")

_ROOMY = 100_000


def daily_append(case: Case) -> Outcome:
    async def learn(house: House) -> dict[str, str]:
        if "chat" in case.input:
            await house.learn(case.input["fact"], chat_scope(case.input["chat"]), form="episode", flush=True)
        else:
            await house.learn(case.input["fact"], flush=True)
        return {path: house.text(path) for path in house.files()}

    return compare(case, _in_a_house(learn, datetime.fromisoformat(case.input["now"])))


def preferences(case: Case) -> Outcome:
    async def learn(house: House) -> str:
        for update in case.input["updates"]:
            await house.learn(update, category="preference", flush=True)
        return house.text("identity/preferences.md") if case.input["updates"] else ""

    return compare(case, _in_a_house(learn))


def recent_days(case: Case) -> Outcome:
    """The owner's logs in a full load on the evening of the newest one."""
    files = case.input["files"]
    newest = max(PurePosixPath(name).stem for name in files if name[:1].isdigit())

    async def remember(house: House) -> str:
        for name, text in files.items():
            house.write(name, text)
        await house.mirror.start()
        query = MemoryQuery("", (OWNER_SCOPE,), house.clock.now(), house.zone, "telegram-1", prefix_tokens=_ROOMY)
        pack = await house.database.read(lambda connection: FullLoader().load(connection, query))
        return pack["recent"]

    shown = _in_a_house(remember, datetime.fromisoformat(f"{newest}T20:00:00+00:00"))
    return Checked(
        shown, {"those days come first, and older ones while there is room": shown.startswith(case.expected)}
    )


def entries(case: Case) -> Outcome:
    """The chunks of a daily log in which a fact stands."""
    chunks = list_layout.split("daily", case.input or "")
    found = [chunk.strip() for chunk in chunks if list_layout.fact_text("daily", chunk) is not None]
    if "header counts" in case.quirk:
        facts = [entry for entry in case.expected if not entry.startswith("### ")]
        return Checked(found, {"a date is no entry, and the others are": found == facts})
    if not found and case.expected and not any(entry.startswith("## ") for entry in case.expected):
        return NotApplicable("ADR 6: prose between the entries of a log is its writer's own and no entry")
    return compare(case, found)


def _in_a_house(work: Callable[[House], Awaitable[T]], start: datetime | None = None) -> T:
    async def run() -> T:
        with scratch() as folder:
            async with open_house(Path(folder), start=start) as house:
                return await work(house)

    return asyncio.run(run())
