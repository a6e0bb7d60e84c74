"""Prices are dated data: exact integers, the owner's before the published ones, and none for what is not known."""

import tomllib
from datetime import date
from importlib import resources

import pytest

from kenobot.ledger.limits import amount_text
from kenobot.ledger.prices import PICODOLLARS, Price, PriceList
from kenobot.ports.provider import Usage


def dollars(price: Price | None, usage: Usage) -> float | None:
    return None if price is None else price.cost(usage) / PICODOLLARS


def test_each_kind_of_token_has_its_price() -> None:
    """A million of each, by the published prices of a model."""
    price = PriceList().find("anthropic", "claude-sonnet-4-5")
    assert dollars(price, Usage(10**6, 10**6, 10**6, 10**6)) == 3 + 15 + 0.3 + 3.75


@pytest.mark.parametrize(
    "name", ["claude-haiku-4-5", "claude-haiku-4-5-20251001", "Claude-Haiku-4-5", "claude-haiku-4-5-latest"]
)
def test_a_dated_name_is_the_same_model(name: str) -> None:
    """Services answer with the date of a model in its name."""
    assert PriceList().find("anthropic", name) == PriceList().find("anthropic", "claude-haiku-4-5") is not None


@pytest.mark.parametrize(
    ("provider", "model"),
    [("anthropic", "claude-haiku-9"), ("openai", "gpt-5.5-mini"), ("nobody", "gpt-5.5"), ("openrouter", "")],
)
def test_a_model_that_is_not_listed_has_no_price(provider: str, model: str) -> None:
    """A smaller sister of a listed model is another model."""
    assert PriceList().find(provider, model) is None


@pytest.mark.parametrize("provider", ["offline", "ollama", "llamacpp", "lmstudio", "vllm"])
def test_a_server_of_ones_own_costs_nothing(provider: str) -> None:
    """Whatever model it serves."""
    assert PriceList().find(provider, "any") == Price()


def test_the_owners_price_comes_first() -> None:
    """Of a model, or of all models of a provider; a cached token costs what a read one does unless it is told."""
    own = PriceList({"anthropic:claude-haiku-4-5": Price.of_dollars(input=2.0, output=4.0), "compatible": Price()})
    price = own.find("anthropic", "claude-haiku-4-5-20251001")
    assert price == Price(2 * 10**6, 4 * 10**6, 2 * 10**6, 2 * 10**6)
    assert own.find("compatible", "whatever") == Price()
    assert own.find("anthropic", "claude-sonnet-4-5") == PriceList().find("anthropic", "claude-sonnet-4-5")


def test_every_list_names_its_source_and_date() -> None:
    """A price without its page and day cannot be checked."""
    tables = tomllib.loads(resources.files("kenobot.ledger").joinpath("prices.toml").read_text("utf-8"))
    del tables["free"]
    for name, table in tables.items():
        assert table["source"].startswith("https://"), name
        assert isinstance(table["seen"], date), name
        for model, prices in table["models"].items():
            assert "input" in prices or set(prices) == {"minute"}, model
            assert set(prices) <= {"input", "output", "cache_read", "cache_write", "minute"}, model
            for dollar in prices.values():
                assert dollar * 10**6 == round(dollar * 10**6), f"{model}: finer than a picodollar a token"


def test_an_amount_that_is_not_nothing_does_not_read_as_nothing() -> None:
    """An embedded question costs less than a hundredth of a cent."""
    texts = [amount_text("usd", amount) for amount in (0, 2 * 10**6, 10**8, PICODOLLARS // 4, 12 * PICODOLLARS)]
    assert texts == ["$0.00", "<$0.0001", "$0.0001", "$0.2500", "$12.00"]
