"""`kenobot cost`: what models used and cost, by purpose, model, day or chat, and how much of the budget is left."""

import json
from collections.abc import Sequence
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import display_width, flat, line_width, print_table
from kenobot.language.calendar import local_day
from kenobot.ledger.limits import Unit, amount_text, budget_limits
from kenobot.ledger.prices import PICODOLLARS
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection
from kenobot.storage.model_calls import Spending

_BAR, _NARROWEST = 40, 8  # columns
_EIGHTHS = " ▏▎▍▌▋▊▉█"

Rows = Sequence[tuple[str, Spending]]


def cost(context: CommandContext) -> int:
    args = context.args
    today = local_day(context.now, context.zone)
    since = context.moment(args.since)
    first = local_day(since, context.zone) if since else f"{today[:7]}-01"
    with context.read() as connection:
        rows = model_calls.spending_by(connection, args.by, first, today)
        under_way = model_calls.count_under_way(connection)
        budgets = [] if args.json else _budgets(context, connection, today)
    if not rows and not under_way:
        return options.print_failure(say("No model was asked since {first}.", first=first))
    if args.json:
        for name, spent in rows:
            print(json.dumps({args.by: name, **_figures(spent)}))
        return 0
    if not rows:
        print(say("No model was asked since {day}.", day=first))
    elif args.plot:
        _print_bars(rows)
    else:
        _print_sums(args.by, rows)
    print("\n" + say("from {first} to {last}, in your time zone", first=first, last=today))
    if under_way:
        print(say("messages that are being answered, whose calls are not counted yet: {count}", count=under_way))
    for line in budgets:
        print(line)
    return 0


def _figures(spent: Spending) -> dict[str, Any]:
    figures = spent._asdict()
    picodollars = figures.pop("cost")
    return {**figures, "tokens": spent.tokens, "usd": picodollars / PICODOLLARS, "picodollars": picodollars}


def _print_sums(by: str, rows: Rows) -> None:
    total = Spending(*(sum(column) for column in zip(*(spent for _, spent in rows), strict=True)))
    heads = (by, "calls", "tokens read", "from the cache", "into the cache", "tokens written", "cost")
    print_table(heads, [_cells(name or "-", spent) for name, spent in (*rows, (say("in all"), total))])
    if total.unpriced_tokens:
        print(say("* {tokens} have no known price: set it in budget.prices", tokens=_tokens(total.unpriced_tokens)))
    if total.unsettled:
        print(say("calls that were cut off, and count as they were reserved: {count}", count=total.unsettled))


def _cells(name: str, spent: Spending) -> tuple[object, ...]:
    tokens = (spent.input_tokens, spent.cache_read_tokens, spent.cache_write_tokens, spent.output_tokens)
    return (name, spent.calls, *tokens, amount_text("usd", spent.cost) + ("*" if spent.unpriced_tokens else ""))


def _tokens(count: int) -> str:
    return amount_text("tokens", count)


def _print_bars(rows: Rows) -> None:
    """Print a bar for each row: its share of the largest, in dollars, or in tokens where nothing has a price."""
    unit: Unit = "usd" if any(spent.cost for _, spent in rows) else "tokens"
    amounts = [spent.cost if unit == "usd" else spent.tokens for _, spent in rows]
    names = [flat(name or "-") for name, _ in rows]
    texts = [amount_text(unit, amount) for amount in amounts]
    label, value = max(map(display_width, names)), max(map(len, texts))
    room = line_width()
    width = _BAR if room is None else max(_NARROWEST, min(_BAR, room - label - value - 4))
    for name, text, amount in zip(names, texts, amounts, strict=True):
        eighths = -(-8 * width * amount // max(*amounts, 1))  # a little is never nothing
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        print(f"{name}{' ' * (label - display_width(name))}  {text:>{value}}  {bar}")


def _budgets(context: CommandContext, connection: Connection, today: str) -> list[str]:
    """Word how much of each budget is used."""
    lines = []
    for limit in budget_limits(context.loaded.settings.budget):
        used = limit.sum_spent(connection, today)
        told = say(
            "budget of {when}{purpose}: {share} % used, {spent} of {budget}",
            when=limit.name(today),
            purpose=f" ({limit.purpose})" if limit.purpose else "",
            share=100 * used // limit.amount,
            spent=amount_text(limit.unit, used),
            budget=amount_text(limit.unit, limit.amount),
        )
        lines.append(told)
    return lines
