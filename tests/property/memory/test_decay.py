"""Sixty days with nights at random: nothing that was told is lost, whatever decay does with it, and files agree."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kenobot.cognitive.mirror.paths import entity_page_of, path_of, role_of
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.policy.sleep import WEEKLY_LOGS, DecayPolicy, SleepPolicy
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.recall import recall
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate import distil, hygiene, promote, weeks
from kenobot.cognitive.sleep.prune import tiers
from kenobot.cognitive.store import list_file_rows
from kenobot.language.calendar import local_day
from kenobot.language.markdown import list_layout
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Candidate, Form
from kenobot.storage.connection import Connection
from tests.nights import play
from tests.property.effort import effort
from tests.scratch import scratch
from tests.unit.cognitive.mirror.house import House, open_house

DAYS = 60
NIGHT = (promote.PASS, weeks.PASS, distil.PASS, hygiene.PASS, tiers.DAILIES)
START = datetime(2026, 1, 28, 12, tzinfo=UTC)
CHAT = "chat:telegram-1"
KINDS = [
    "I learned that {} needs the token in the query, headers always fail",
    "{} costs 40 euros a month",
    "el servidor n8n guarda {} en su disco",
    "fuimos a {} con Eva",
    "{}是我最喜欢的",
    "[x] call {}",
]
POLICIES = {
    "kenobot": replace(DEFAULT, decay=DecayPolicy(lean_core_chars=200, max_lessons=3)),
    "joya": replace(DEFAULT, sleep=WEEKLY_LOGS, decay=DecayPolicy(week_chars=500, lean_core_chars=400)),
    "delete": replace(DEFAULT, sleep=SleepPolicy(expired="delete"), decay=DecayPolicy(lean_core_chars=200)),
}


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody says on a day. late: it is about so many days before."""

    day: int
    kind: int
    scope: str
    trust: Trust
    late: int


told = st.builds(
    Told,
    st.integers(0, DAYS - 1),
    st.integers(0, len(KINDS) - 1),
    st.sampled_from(["owner", "owner", CHAT]),
    st.sampled_from(["owner", "model", "tool"]),
    st.sampled_from([0, 0, 0, 40]),
)


# Sixty days take a second or so: to look for a smaller story that fails would take minutes.
@settings(effort(3, 1), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    facts=st.lists(told, min_size=8, max_size=50),
    nights=st.sets(st.integers(0, DAYS - 1), max_size=DAYS),
    writes=st.sets(st.integers(0, DAYS - 1), max_size=12),
    policy=st.sampled_from(sorted(POLICIES)),
)
def test_sixty_days_lose_nothing(facts: list[Told], nights: set[int], writes: set[int], policy: str) -> None:
    """Each fact is live and found by its words; a night run twice does nothing; files show what memory says."""
    asyncio.run(_live(facts, nights, writes, POLICIES[policy]))


async def _live(facts: list[Told], nights: set[int], writes: set[int], policy: Policy) -> None:
    with scratch() as folder:
        async with open_house(Path(folder), start=START) as house:
            house.mirror._policy = policy
            await house.mirror.start()
            texts: dict[str, str] = {}
            for day in range(DAYS):
                for number, fact in enumerate(facts):
                    if fact.day == day:
                        text = KINDS[fact.kind].format(f"Thing{number}x{number * 7919}")
                        texts[text] = fact.scope
                        await house.database.write(partial(_tell, text=text, fact=fact, house=house))
                house.clock.advance(16 * 3600)
                if day in nights:
                    await _sleep(house, policy)
                if day in writes:
                    await house.mirror.sync_out()
                house.clock.advance(8 * 3600)
            await _sleep(house, policy)
            await _all_is_there(house, texts, Path(folder))
            await _files_agree(house, policy)


def _tell(connection: Connection, text: str, fact: Told, house: House) -> None:
    at = house.clock.now()
    day = local_day(at - timedelta(days=fact.late), house.zone)
    form: Form = "episode" if fact.scope == CHAT else "note"
    decision = admit(connection, Candidate(form, fact.scope, text, trust=fact.trust), AdmitContext(at, day, "model"))
    assert decision.record is not None


async def _sleep(house: House, policy: Policy) -> None:
    now = house.clock.now()
    await house.database.write(lambda c: play(c, NIGHT, now, policy=policy))
    again = await house.database.write(lambda c: play(c, NIGHT, now, policy=policy))
    assert [change for change in again if change.kind != "judged"] == [], "a night run twice does something twice"


async def _all_is_there(house: House, texts: dict[str, str], folder: Path) -> None:
    index = SideIndex(folder / "index.db")
    now = house.clock.now()
    live = {record.text: record for scope in ("owner", CHAT) for record in await house.live(scope)}
    try:
        for text, scope in texts.items():
            said = text if text in live else text.removeprefix("I learned that ")
            assert said in live, f"{text} is lost"
            query = MemoryQuery(said, (scope,), now, force=True)
            pack = await house.database.read(lambda c, query=query: recall(c, index, query))  # type: ignore[misc]
            assert live[said].id in {memory.record.id for memory in pack.memories}, f"{text} is not recalled"
    finally:
        index.close()


async def _files_agree(house: House, policy: Policy) -> None:
    """Every live record stands in its file, every file is noted as it is, and looking again finds no edit."""
    await house.mirror.sync_out()
    shown = {path: house.text(path) for path in house.files()}
    for path, text in shown.items():
        row = await house.database.read(lambda c, path=path: list_file_rows.list_file(c, path))  # type: ignore[misc]
        assert row is not None and row[0] == text, f"the note of {path} is not what it holds"
    for scope in ("owner", CHAT):
        for record in await house.live(scope):
            for home in filter(None, (path_of(record), entity_page_of(record))):
                place = role_of(home)
                assert place is not None
                if place.archived and policy.sleep.expired == "delete":
                    assert home not in shown
                    continue
                said = [
                    list_layout.fact_text(place.kind, chunk) for chunk in list_layout.split(place.kind, shown[home])
                ]
                assert record.text in said, f"{record.text} does not stand in {home}"
    events = await house.count_events()
    assert await house.mirror.sync_in() == 0
    assert await house.count_events() == events
    old = local_day(house.clock.now() - timedelta(days=policy.sleep.daily_days), house.zone)
    logs = [path for path in shown if (place := role_of(path)) and place.kind == "daily" and not place.archived]
    assert all(path.rpartition("/")[2] > f"{old}.md" for path in logs), f"{logs} have not left"
