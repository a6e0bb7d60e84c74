"""The page *cost*: what models used and cost by day, purpose, model and chat, and how much of each budget is left."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from kenobot.core.model_purposes import purpose_words
from kenobot.ledger.limits import Unit, amount_text
from kenobot.storage.model_calls import Grouping
from kenobot_dashboard.bars import plot_bars
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.viewer import View
from kenobot_http.api import operations
from kenobot_http.api.operations import Budget, Cost

router = APIRouter(prefix="/cost")

SPANS: Final = (7, 30, 90, 365)
_GROUPS: Final[tuple[Grouping, ...]] = ("purpose", "model", "chat")


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
async def show_cost(view: View, days: Annotated[Literal["7", "30", "90", "365"], Query()] = "30") -> Response:
    """Show the cost of the last days, today among them."""
    f, span = view.formats, int(days)
    first = f.today - timedelta(days=span - 1)
    by_day = await operations.get_cost(view.caller, by="day", since=first)
    used = {row.name: row for row in by_day.rows}
    is_priced = any(row.usd for row in by_day.rows)
    series = []
    for number in range(span):
        day = (first + timedelta(days=number)).isoformat()
        row = used.get(day)
        amount = 0.0 if row is None else row.usd if is_priced else float(row.tokens)
        series.append((day, amount, _word(f, amount, is_priced=is_priced)))
    groups = {}
    for group in _GROUPS:
        costs = await operations.get_cost(view.caller, by=group, since=first)
        groups[group] = _group(costs.rows, group, f, is_priced=is_priced)
    today = used.get(f.today.isoformat())
    return view.page(
        "cost",
        days=days,
        spans=SPANS,
        plot=plot_bars(series),
        series=[each for each in reversed(series) if each[1]],
        is_priced=is_priced,
        today=today,
        spent=sum(row.usd for row in by_day.rows),
        calls=sum(row.calls for row in by_day.rows),
        tokens=sum(row.tokens for row in by_day.rows),
        unpriced=sum(row.unpriced_tokens for row in by_day.rows),
        groups=groups,
        budgets=[_word_budget(each, f) for each in by_day.budgets],
    )


def _word(f: Formats, amount: float, *, is_priced: bool) -> str:
    return f.money(amount) if is_priced else f.number(amount)


def _group(rows: list[Cost], group: Grouping, f: Formats, *, is_priced: bool) -> list[Group]:
    amounts = [row.usd if is_priced else float(row.tokens) for row in rows]
    whole = sum(amounts) or 1.0
    names = [purpose_words(row.name, f.language) if group == "purpose" else row.name or "–" for row in rows]
    return [Group(name, row, amount / whole) for name, row, amount in zip(names, rows, amounts, strict=True)]


def _word_budget(budget: Budget, f: Formats) -> BudgetLine:
    unit: Unit = "usd" if budget.unit == "usd" else "tokens"
    return BudgetLine(
        period=budget.period,
        purpose=purpose_words(budget.purpose, f.language) if budget.purpose else "",
        used=amount_text(unit, budget.used),
        amount=amount_text(unit, budget.amount),
        share=budget.used / budget.amount if budget.amount else 1.0,
    )
