"""Nights of decay over a folder of files."""

from collections.abc import Sequence

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.sleep.consolidate import distil, hygiene, weeks
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import tiers
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import change
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import ColumnValue
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from tests.nights import play
from tests.unit.cognitive.mirror.house import House

NIGHT = (weeks.PASS, distil.PASS, hygiene.PASS, tiers.DAILIES)


async def night(house: House, days: float, passes: Sequence[Pass] = NIGHT, policy: Policy = DEFAULT) -> None:
    """Let days go by, then sleep, then let the files follow."""
    house.clock.advance(days * 86_400)
    now = house.clock.now()
    await house.database.write(lambda c: play(c, passes, now, policy=policy))
    await house.mirror.sync_out()


async def put(house: House, record: int, kind: str, values: dict[str, ColumnValue], actor: str = "sleep") -> None:
    """Change a record as somebody else's pass does."""
    act = ChangeContext(house.clock.now(), actor, "a test")

    def work(connection: Connection) -> None:
        known = records.get(connection, record, ALL_SCOPES)
        assert known is not None
        change(connection, known, kind, values, act)

    await house.database.write(work)
