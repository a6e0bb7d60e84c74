"""The limits of a budget: what models may use in a day or a month, in all or for one purpose."""

from collections.abc import Iterator, Sequence
from typing import Literal

from kenobot.core.settings.schema import DAILY_TOKENS, BudgetSettings, PurposeBudget
from kenobot.ledger.prices import PICODOLLARS
from kenobot.ports.frozen import dataclass
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection
from kenobot.storage.model_calls import Spending

Period = Literal["day", "month"]
Unit = Literal["tokens", "usd"]

_CENT = PICODOLLARS // 100


@dataclass(frozen=True, slots=True)
class Limit:
    """Bound of use in a calendar period of the owner's. amount: tokens, or picodollars.

    purpose: of the calls that it holds for; "" for all. announced: the owner is told when it comes near.
    """

    period: Period
    unit: Unit
    amount: int
    purpose: str = ""
    announced: bool = False

    def days(self, day: str) -> tuple[str, str]:
        """Return the first and the last day of the period that `day` lies in."""
        return (day, day) if self.period == "day" else (f"{day[:7]}-01", f"{day[:7]}-31")

    def name(self, day: str) -> str:
        """Return the period that `day` lies in, as a date or a month."""
        return day if self.period == "day" else day[:7]

    def measure(self, spending: Spending) -> int:
        """Return what counts of it here: tokens, or picodollars."""
        return spending.tokens if self.unit == "tokens" else spending.cost

    def sum_spent(self, connection: Connection, day: str) -> int:
        """Return what is used of it in the period that `day` lies in."""
        return self.measure(model_calls.sum_spent_between(connection, *self.days(day), self.purpose))

    def concerns(self, purpose: str) -> bool:
        """Return whether it holds for calls of this purpose."""
        return self.purpose in ("", purpose)


def budget_limits(budget: BudgetSettings) -> tuple[Limit, ...]:
    """Return the limits of a budget, those for everything first."""
    return (*_limits(budget), *(each for name, part in budget.purposes.items() for each in _limits(part, name)))


def job_limits(budget: BudgetSettings) -> tuple[Limit, ...]:
    """Return the limits of jobs whose tokens of a day the owner does not set."""
    own = {name for name, part in budget.purposes.items() if "daily_tokens" in part.model_fields_set}
    return tuple(Limit("day", "tokens", tokens, name) for name, tokens in DAILY_TOKENS.items() if name not in own)


def find_used_up(connection: Connection, limits: Sequence[Limit], day: str) -> list[tuple[Limit, int]]:
    """Find the owner's limits of which nothing is left in the period that `day` lies in, with what was spent."""
    spent = ((limit, limit.sum_spent(connection, day)) for limit in limits if limit.announced)
    return [(limit, used) for limit, used in spent if used >= limit.amount]


def _limits(budget: PurposeBudget, purpose: str = "") -> Iterator[Limit]:
    periods: tuple[tuple[Period, float, int], ...] = (
        ("day", budget.daily_usd, budget.daily_tokens),
        ("month", budget.monthly_usd, budget.monthly_tokens),
    )
    for period, dollars, tokens in periods:
        if dollars:
            yield Limit(period, "usd", round(dollars * PICODOLLARS), purpose, announced=True)
        if tokens:
            yield Limit(period, "tokens", tokens, purpose, announced=True)


def amount_text(unit: Unit, amount: int) -> str:
    """Write an amount for people: dollars to the cent, less than one to a hundredth of a cent; or tokens."""
    if unit == "tokens":
        return f"{amount:,} tokens"
    if 0 < amount < _CENT // 100:
        return "<$0.0001"
    return f"${amount / PICODOLLARS:,.{2 if not amount or amount >= 100 * _CENT else 4}f}"
