"""`/status` and `/sleep`: tell how the bot is, and when it tidied its memory; have it tidied now."""

from datetime import timedelta

from kenobot.agent.commands.browse import counted_forms
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, time_ago_text
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.store import records
from kenobot.core import texts
from kenobot.core.i18n import Language, translate_problem
from kenobot.gateway.buttons import Choice
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage import conversation, mail_counts
from kenobot.storage.connection import Connection

_NOW = frozenset({"now", "ahora", "ya"})
_RECENT = timedelta(hours=1)
_PROBLEMS = 3  # that are told


def show_status(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """`/status`: whether all is well, what waits, and how much is remembered; to the owner also what went wrong."""
    language, owner = call.language, OWNER_SCOPE in call.principal.read_scopes
    mail = mail_counts.count_mail(connection, call.at)
    problems = mail_counts.problems_since(connection, call.at - _RECENT, _PROBLEMS)
    well = not (problems or mail.undelivered or mail.waiting)
    lines = [texts.STATUS_WELL(language) if well else texts.STATUS_BUSY(language)]
    if mail.waiting:
        lines.append(texts.STATUS_WAITING(language, count=mail.waiting))
    if mail.undelivered:
        lines.append(texts.STATUS_UNDELIVERED(language, count=mail.undelivered))
    if owner:
        told = (" ".join(translate_problem(problem, language).split()).rstrip(".") for problem in problems)
        lines += [texts.STATUS_PROBLEM(language, problem=problem) for problem in told]
        if mail.dead:
            lines.append(texts.STATUS_DEAD(language, count=mail.dead))
    answered = conversation.last_answer_at(connection, call.inbound.session)
    if answered:
        lines.append(texts.STATUS_ANSWERED(language, age=time_ago_text(answered, call.at, language)))
    forms = counted_forms(records.live_counts_by_form(connection, call.principal.read_scopes), language)
    lines.append(texts.STATUS_MEMORY(language, forms=forms) if forms else texts.MEMORY_NONE(language))
    if owner:
        lines.append(_last_night(connection, call, language))
    return "\n".join(f"- {line}" if number else line for number, line in enumerate(lines))


def sleep(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """`/sleep`: when memory was tidied last, and what came of it; `/sleep now`: have it tidied."""
    if run_rows.last_run(connection, "running") is not None:
        return texts.SLEEP_RUNNING(call.language)
    if call.arguments.strip().lower() in _NOW:
        run_rows.ask_for_night(connection)
        return texts.SLEEP_BEGUN(call.language)
    now = Choice(texts.BUTTON_SLEEP(call.language), "sleep", "now")
    return CommandAnswer(_last_night(connection, call, call.language), ((now,),))


def _last_night(connection: Connection, call: CommandCall, language: Language) -> str:
    night = run_rows.last_run(connection)
    if night is None or night.finished is None:
        return texts.SLEEP_NEVER(language)
    age = time_ago_text(night.finished.isoformat(), call.at, language)
    return texts.SLEEP_LAST(language, age=age, count=night.report.get("decisions", 0))
