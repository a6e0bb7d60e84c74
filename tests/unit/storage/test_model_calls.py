"""The rows of the ledger: a row a call, the sums of its day beside it, both exact."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from kenobot.storage import model_calls
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.model_calls import CallRow, Spending
from kenobot_testing.clock import START
from tests.memory_rows import open_memory
from tests.samples import scalar

DAY = "2026-02-14"


def row(purpose: str = "reply", day: str = DAY, cost: int | None = 7, *, settled: bool = True) -> CallRow:
    at = START.isoformat()
    return CallRow(at, day, purpose, "anthropic", "claude", "telegram:1", 3, settled, 100, 20, 1000, 0, cost)


async def test_a_reservation_gives_way_to_what_was_used(database: Database) -> None:
    """Its day's sums hold one call either way, under the model that answered; a call that used nothing leaves none."""
    number = await database.write(lambda c: model_calls.add_call(c, row(cost=900, settled=False)))
    assert await database.read(lambda c: model_calls.sum_spent_between(c, DAY, DAY)) == Spending(
        1, 1, 100, 20, 1000, 0, 900, 0
    )
    used = row(cost=None)._replace(model="claude-2026", output_tokens=5)
    await database.write(lambda c: model_calls.replace_call(c, number, used))
    assert await database.read(lambda c: model_calls.spending_by(c, "model", DAY, DAY)) == [
        ("anthropic:claude-2026", Spending(1, 0, 100, 5, 1000, 0, 0, 1105))
    ]
    await database.write(lambda c: model_calls.replace_call(c, number, None))
    assert await database.read(lambda c: model_calls.sum_spent_between(c, DAY, DAY)) == Spending()
    assert await scalar(database, "SELECT count(*) FROM model_day") == 0


async def test_sums_are_grouped_as_asked(database: Database) -> None:
    """By purpose the dearest comes first, by day the earliest."""

    def write(connection: Connection) -> None:
        model_calls.add_call(connection, row("reply", cost=5))
        model_calls.add_call(connection, row("sleep", "2026-02-15", cost=50))
        model_calls.add_call(connection, row("reply", "2026-03-01", cost=500))

    await database.write(write)
    by = {
        group: await database.read(lambda c, group=group: model_calls.spending_by(c, group, DAY, "2026-02-28"))  # type: ignore[misc]
        for group in ("purpose", "day", "chat")
    }
    assert [(name, spent.cost) for name, spent in by["purpose"]] == [("sleep", 50), ("reply", 5)]
    assert [(name, spent.cost) for name, spent in by["day"]] == [(DAY, 5), ("2026-02-15", 50)]
    assert [(name, spent.cost) for name, spent in by["chat"]] == [("telegram:1", 55)]


async def test_calls_are_dropped_after_a_month_and_their_sums_stay(database: Database) -> None:
    """What was spent is known as long as the home is there."""
    await database.write(lambda c: model_calls.add_call(c, row()))
    await model_calls.prune(database, START + timedelta(days=31))
    assert await scalar(database, "SELECT count(*) FROM model_call") == 0
    assert (await database.read(lambda c: model_calls.sum_spent_between(c, DAY, DAY))).cost == 7


figures = st.tuples(*[st.integers(0, 10**6)] * 4, st.none() | st.integers(0, 10**15))


@given(st.lists(st.tuples(figures, figures | st.none(), st.booleans()), max_size=12))
def test_sums_are_those_of_the_calls(calls: list[tuple[tuple[int, ...], tuple[int, ...] | None, bool]]) -> None:
    """Whatever is reserved, settled or released, the sums of a day are the sums of its calls, to the picodollar."""
    with open_memory() as connection:
        for reserved, used, settles in calls:
            number = model_calls.add_call(connection, _with(reserved, settled=False))
            if settles:
                model_calls.replace_call(connection, number, None if used is None else _with(used, settled=True))
        sums = model_calls.sum_spent_between(connection, DAY, DAY)
        tokens = "coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0)"
        assert (sums.calls, sums.unsettled, sums.tokens, sums.cost) == connection.execute(
            f"SELECT count(*), coalesce(sum(NOT settled), 0), {tokens}, coalesce(sum(cost), 0) FROM model_call"
        ).fetchone()
        unpriced = connection.execute(f"SELECT {tokens} FROM model_call WHERE cost IS NULL").fetchone()
        assert (sums.unpriced_tokens,) == unpriced


def _with(numbers: tuple[int | None, ...], *, settled: bool) -> CallRow:
    input_tokens, output, read, write, cost = numbers
    assert input_tokens is not None and output is not None and read is not None and write is not None
    return row(cost=cost, settled=settled)._replace(
        input_tokens=input_tokens, output_tokens=output, cache_read_tokens=read, cache_write_tokens=write
    )
