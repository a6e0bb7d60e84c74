"""The page *cost*: what models used and cost by day, purpose, model and chat, and how much of each budget is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from kenobot.core.model_purposes import purpose_words
from kenobot.ledger.prices import PICODOLLARS
from kenobot.storage.model_calls import Grouping
from kenobot_dashboard.bars import plot_bars
from kenobot_dashboard.fields import DAY, read_day
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.names import Names, read_names
from kenobot_dashboard.viewer import View
from kenobot_http.api import operations
from kenobot_http.api.operations import Budget, Cost

router = APIRouter(prefix="/cost")

SPANS: Final = (7, 30, 90, 365)
_DAY_NAME: Final = len("2026-11-30")
_GROUPS: Final[tuple[Grouping, ...]] = ("purpose", "model", "chat")


@dataclass(frozen=True, slots=True)
class DayLine:
    """Use of a day. label: that in words. is_over: it is more than the budget of a day."""

    day: str
    amount: float
    label: str
    is_over: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The use of one purpose, model or chat. share: of all, 0 to 1."""

    name: str
    row: Cost
    share: float


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """A budget, and how much of it is used. share: 0 to 1, more where it was exceeded."""

    period: str
    purpose: str
    used: str
    amount: str
    share: float


@router.get("")
async def show_cost(
    view: View,
    days: Annotated[Literal["7", "30", "90", "365"], Query()] = "30",
    day: Annotated[str, Query(pattern=DAY)] = "",
) -> Response:
    """Show the cost of the last days, today among them. day: of which the sums are shown, in the place of all."""
    f, span = view.formats, int(days)
    first = f.today - timedelta(days=span - 1)
    by_day = await operations.get_cost(view.caller, by="day", since=first)
    used = {row.name: row for row in by_day.rows}
    is_priced = any(row.usd for row in by_day.rows)
    limit = _find_daily_limit(by_day.budgets, is_priced=is_priced)
    chosen = read_day(day)
    series = []
    for number in range(span):
        name = (first + timedelta(days=number)).isoformat()
        row = used.get(name)
        amount = 0.0 if row is None else row.usd if is_priced else float(row.tokens)
        series.append(DayLine(name, amount, _word(f, amount, is_priced=is_priced), is_over=0 < limit < amount))
    groups = {}
    for group in _GROUPS:
        costs = await operations.get_cost(view.caller, by=group, since=chosen or first, until=chosen)
        names = await read_names(view, [row.name for row in costs.rows]) if group == "chat" else None
        groups[group] = _group(costs.rows, group, f, names, is_priced=is_priced)
    today = used.get(f.today.isoformat())
    return view.page(
        "cost",
        days=days,
        spans=SPANS,
        chosen=chosen,
        plot=plot_bars([(each.day, each.amount, each.label) for each in series]),
        over={each.day for each in series if each.is_over},
        limit=_word(f, limit, is_priced=is_priced) if limit else "",
        series=[each for each in reversed(series) if each.amount],
        is_priced=is_priced,
        today=today,
        spent=sum(row.usd for row in by_day.rows),
        calls=sum(row.calls for row in by_day.rows),
        tokens=sum(row.tokens for row in by_day.rows),
        unpriced=sum(row.unpriced_tokens for row in by_day.rows),
        groups=groups,
        budgets=[_word_budget(each, f) for each in by_day.budgets],
    )


def _find_daily_limit(budgets: Sequence[Budget], *, is_priced: bool) -> float:
    """Return the budget of a day in what the plot shows; 0 where there is none."""
    unit = "usd" if is_priced else "tokens"
    found = (
        each.amount for each in budgets if each.unit == unit and not each.purpose and len(each.period) == _DAY_NAME
    )
    amount = next(found, 0)
    return amount / PICODOLLARS if is_priced else float(amount)


def _word(f: Formats, amount: float, *, is_priced: bool) -> str:
    return f.money(amount) if is_priced else f.number(amount)


def _group(rows: list[Cost], group: Grouping, f: Formats, chats: Names | None, *, is_priced: bool) -> list[Group]:
    amounts = [row.usd if is_priced else float(row.tokens) for row in rows]
    whole = sum(amounts) or 1.0
    names = [purpose_words(row.name, f.language) if group == "purpose" else row.name or "–" for row in rows]
    names = [chats.chat(name) for name in names] if chats is not None else names
    return [Group(name, row, amount / whole) for name, row, amount in zip(names, rows, amounts, strict=True)]


def _word_budget(budget: Budget, f: Formats) -> BudgetLine:
    return BudgetLine(
        period=budget.period,
        purpose=purpose_words(budget.purpose, f.language) if budget.purpose else "",
        used=_word_amount(budget.unit, budget.used, f),
        amount=_word_amount(budget.unit, budget.amount, f),
        share=budget.used / budget.amount if budget.amount else 1.0,
    )


def _word_amount(unit: str, amount: int, f: Formats) -> str:
    return f.money(amount / PICODOLLARS) if unit == "usd" else f"{f.number(amount)} tokens"
