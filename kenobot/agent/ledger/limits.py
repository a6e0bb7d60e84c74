"""The limits of a budget: what models may use in a day or a month, in all or for one purpose."""

from dataclasses import dataclass
from typing import Literal

from kenobot.storage.model_calls import Spending

Period = Literal["day", "month"]
Unit = Literal["tokens", "usd"]


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be used in a calendar period of the owner's. amount: tokens, or picodollars.

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

    def measure(self, spending: Spending) -> int:
        """Return what counts of it here: tokens, or picodollars."""
        return spending.tokens if self.unit == "tokens" else spending.cost

    def concerns(self, purpose: str) -> bool:
        """Return whether it holds for calls of this purpose."""
        return self.purpose in ("", purpose)
