"""`/status` and `/sleep`: tell how the bot is, and when it tidied its memory; have it tidied now."""

from datetime import timedelta

from kenobot.agent.commands.browse import count_forms
from kenobot.agent.commands.command import (
    CommandAnswer,
    CommandCall,
    CommandContext,
    duration_text,
    time_ago_text,
)
from kenobot.agent.commands.tasks import find_tasks
from kenobot.agent.snapshot import Snapshot, take_snapshot
from kenobot.cognitive.memory import Memory, Nights
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.core.model_purposes import purpose_words
from kenobot.gateway.buttons import Choice
from kenobot.language.calendar import local_day
from kenobot.ledger.limits import amount_text
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.sentences import hide_mark, render
from kenobot.storage import conversation, mail_counts, turn_stats
from kenobot.storage.connection import Connection

_NOW = frozenset({"now", "ahora", "ya"})
_RECENT = timedelta(hours=1)
_PROBLEMS = 3  # that are told
_CHATS = 5  # others that are


def show_status(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """Report, for `/status`, whether all is well, what waits, how much is remembered, and how long an answer took.

    To the owner also what is wrong, what went wrong, and what goes on in other chats; others learn of their own alone.
    """
    language, owner = call.language, OWNER_SCOPE in call.principal.read_scopes
    snapshot = take_snapshot(connection, call.at, context.budgets, local_day(call.at, context.zone)) if owner else None
    here = call.inbound.channel, call.inbound.chat
    mail = mail_counts.count_mail(connection, call.at, here) if snapshot is None else snapshot.mail
    causes = context.causes() if owner else ()
    problems = mail_counts.problems_since(connection, call.at - _RECENT, _PROBLEMS) if owner else []
    well = not (causes or problems or mail.undelivered or mail.waiting)
    lines = [texts.STATUS_WELL(language) if well else texts.STATUS_BUSY(language)]
    lines += [cause.text(language) for cause in causes]
    lines += _list_used_up(snapshot, call.language, local_day(call.at, context.zone)) if snapshot is not None else []
    if mail.waiting:
        lines.append(texts.STATUS_WAITING(language, count=mail.waiting))
    if count := len([each for each in find_tasks(connection, call) if each.is_open]):
        lines.append(texts.STATUS_TASKS(language, count=count))
    if mail.undelivered:
        lines.append(texts.STATUS_UNDELIVERED(language, count=mail.undelivered))
    if owner:
        told = (" ".join(render(hide_mark(problem), language).split()).rstrip(".") for problem in problems)
        lines += [texts.STATUS_PROBLEM(language, problem=problem) for problem in told]
        if mail.dead:
            lines.append(texts.STATUS_DEAD(language, count=mail.dead))
        lines += _other_chats(call, context)
    answered = conversation.last_answer_at(connection, call.inbound.session)
    if answered:
        lines.append(texts.STATUS_ANSWERED(language, age=time_ago_text(answered, call.at, language)))
        lines += _last_times(connection, call)
    forms = count_forms(Memory.records.count_by_form(connection, call.principal.read_scopes), language)
    lines.append(texts.STATUS_MEMORY(language, forms=forms) if forms else texts.MEMORY_NONE(language))
    if owner:
        lines.append(_last_night(connection, call, language))
    return "\n".join(f"- {line}" if number else line for number, line in enumerate(lines))


def _list_used_up(snapshot: Snapshot, language: Language, day: str) -> list[str]:
    """Say of which budgets nothing is left."""
    lines = []
    for limit, spent in snapshot.used_up:
        amounts = {"spent": amount_text(limit.unit, spent), "budget": amount_text(limit.unit, limit.amount)}
        of = f" ({purpose_words(limit.purpose, language)})" if limit.purpose else ""
        lines.append(texts.STATUS_BUDGET(language, when=limit.name(day), purpose=of, **amounts))
    return lines


def _other_chats(call: CommandCall, context: CommandContext) -> list[str]:
    """Say what goes on in other chats."""
    lines = []
    busy = [each for each in context.activity() if each.session != call.inbound.session]
    for each in busy[:_CHATS]:
        if each.since is None:
            line = texts.STATUS_CHAT_WAITS(call.language, chat=each.session, count=each.waiting)
        else:
            span = duration_text(call.at - each.since, call.language)
            line = texts.STATUS_CHAT_THINKS(call.language, chat=each.session, span=span, count=each.waiting)
        lines.append(line)
    return lines


def _last_times(connection: Connection, call: CommandCall) -> list[str]:
    """Say how long the last answer of a model here took, and what of it the model did; nothing where it is unknown."""
    turn = turn_stats.last_turn(connection, call.inbound.session)
    if turn is None or turn.millis is None:
        return []
    spent = {name: turn.phases.get(name, 0) / 1000 for name in ("waiting", "recall", "model", "delivery")}
    figures = {name: f"{seconds:.1f}" for name, seconds in spent.items()}
    return [texts.STATUS_TIMES(call.language, seconds=f"{turn.millis / 1000:.1f}", **figures)]


def sleep(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """`/sleep`: say when memory was tidied last, with the outcome; `/sleep now`: tidy it."""
    if Nights.find_unfinished(connection) is not None:
        return texts.SLEEP_RUNNING(call.language)
    if call.arguments.strip().lower() in _NOW:
        Nights.ask_for(connection)
        return texts.SLEEP_BEGUN(call.language)
    now = Choice(texts.BUTTON_SLEEP(call.language), "sleep", "now")
    return CommandAnswer(_last_night(connection, call, call.language), ((now,),))


def _last_night(connection: Connection, call: CommandCall, language: Language) -> str:
    night = Nights.last_finished(connection)
    if night is None or night.finished is None:
        return texts.SLEEP_NEVER(language)
    age = time_ago_text(night.finished.isoformat(), call.at, language)
    return texts.SLEEP_LAST(language, age=age, count=night.report.get("decisions", 0))
