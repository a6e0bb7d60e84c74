"""`/cost`: tell the owner what models have cost today and this month, and how much of the budget is used."""

from kenobot.agent.commands.command import CommandCall, CommandContext
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.core.model_purposes import purpose_words
from kenobot.language.calendar import local_day
from kenobot.ledger.limits import amount_text
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection
from kenobot.storage.model_calls import Spending


def show_cost(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """Sum up, for `/cost`, what was spent today and this month, by purpose, and the budgets."""
    day, language = local_day(call.at, context.zone), call.language
    first = f"{day[:7]}-01"
    month = model_calls.sum_spent_between(connection, first, day)
    if not month.calls and not month.tokens:  # an older release counted tokens alone
        return texts.COST_NONE(language)
    today = model_calls.sum_spent_between(connection, day, day)
    purposes = model_calls.spending_by(connection, "purpose", first, day)
    lines = [
        texts.COST_TODAY(language, spent=_render_spent(today, language)),
        texts.COST_MONTH(language, spent=_render_spent(month, language)),
        *(f"- {purpose_words(name, language)}: {_render_spent(spent, language)}" for name, spent in purposes),
    ]
    for limit in context.budgets:
        used = limit.sum_spent(connection, day)
        amounts = {"spent": amount_text(limit.unit, used), "budget": amount_text(limit.unit, limit.amount)}
        of = f" ({purpose_words(limit.purpose, language)})" if limit.purpose else ""
        lines.append(texts.COST_BUDGET(language, when=limit.name(day), purpose=of, **amounts))
    return "\n".join(lines)


def _render_spent(spending: Spending, language: Language) -> str:
    """Write what was spent: dollars and tokens, and how many of these have no known price."""
    text = texts.COST_SPENT(
        language,
        cost=amount_text("usd", spending.cost),
        calls=spending.calls,
        tokens=amount_text("tokens", spending.tokens),
    )
    if not spending.unpriced_tokens:
        return text
    return f"{text} {texts.COST_UNPRICED(language, tokens=amount_text('tokens', spending.unpriced_tokens))}"
