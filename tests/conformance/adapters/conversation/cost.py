"""What calls of models cost, and when a budget is used up."""

from collections.abc import Mapping
from typing import Any

from kenobot.ledger.limits import Limit
from kenobot.ledger.prices import PICODOLLARS, Price, PriceList
from kenobot.ports.provider import Usage
from kenobot.storage.model_calls import Spending
from tests.conformance.cases import Adapter, Case, Checked, NotApplicable, Outcome, compare

_UNPRICED = NotApplicable("ADR 48: what is no listed model has no price, and counts by its tokens alone")


def _price(model: str) -> Price | None:
    return PriceList().find("anthropic", model)


def model_name(case: Case) -> Outcome:
    """The original gave an unknown model the price of a middling one, and any "opus" that of an old one."""
    model, taken_for = case.input, case.expected
    price = _price(model)
    if price is None:
        return _UNPRICED
    if model.lower() == "claude-opus-4":
        return Checked(price.input, {"the spelling of its letters does not matter": price == _price("claude-opus-4")})
    return Checked(price.input, {"a dated name has the price of the model": price == _price(taken_for)})


def record(case: Case) -> Outcome:
    """Dollars of the tokens read and written."""
    price = _price(case.input["model"])
    if price is None:
        return _UNPRICED
    read, written = Usage(case.input["inputTokens"]), Usage(0, case.input["outputTokens"])
    both = Usage(read.input_tokens, written.output_tokens)
    names = ("inputCost", "outputCost", "totalCost")
    costs = {name: price.cost(usage) / PICODOLLARS for name, usage in zip(names, (read, written, both), strict=True)}
    return compare(case, costs)


def budget(case: Case) -> Outcome:
    """How much of the day's budget some calls used, and whether the limits hold."""
    given: Mapping[str, Any] = case.input
    prices = [(_price(call["model"]), Usage(call["inputTokens"], call["outputTokens"])) for call in given["calls"]]
    spent = Spending(cost=sum(price.cost(usage) for price, usage in prices if price is not None))
    limits = [
        Limit("day", "usd", round(given["dailyBudget"] * PICODOLLARS)),
        Limit("month", "usd", round(given["monthlyBudget"] * PICODOLLARS)),
    ]
    within = all(limit.measure(spent) < limit.amount for limit in limits)
    return compare(case, {"within": within, "dailyPercent": 100 * spent.cost / limits[0].amount})


ADAPTERS: dict[str, Adapter] = {
    "cost.normalize_model": model_name,
    "cost.record": record,
    "cost.budget": budget,
}
