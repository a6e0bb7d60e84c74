"""`kenobot status`: how the bot of this home is, as it tells by its socket, and honest where none answers."""

import json
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from kenobot.cli.bot_link import ask
from kenobot.cli.context import CommandContext
from kenobot.cli.language import language, say, translate
from kenobot.cli.stop import lock_holder
from kenobot.cli.table import flat, print_table
from kenobot.core.frames import AskStatus, Refused, Status
from kenobot.core.health import Cause
from kenobot.core.model_purposes import purpose_words
from kenobot.core.stacks import ask_process
from kenobot.core.status_report import ChatRow, StatusReport
from kenobot.storage.turn_stats import PHASES

NOT_RUNNING, NO_ANSWER, DEGRADED = 3, 4, 5
_CODES: Mapping[str, int] = {"healthy": 0, "unhealthy": 1, "degraded": DEGRADED}
_ANSWER_SECONDS = 10.0
_DUMP_SECONDS = 10.0
_AGAIN_SECONDS = 2.0
_SHOWN = 15  # chats
_MARKS = {"healthy": "●", "degraded": "▲", "unhealthy": "✖"}

_START = "Start it with `kenobot run`, or as a service: `kenobot service install`."
_SET_UP = "Nothing is set up there: start with `kenobot setup`."


def status(context: CommandContext) -> int:
    """Print how the bot is. Returns 0 well, 5 degraded, 1 unhealthy, 3 not running, 4 no answer."""
    if not context.args.watch:
        return _once(context)
    while True:
        if sys.stdout.isatty():
            print("\x1b[2J\x1b[H", end="")
        _once(context)
        sys.stdout.flush()
        time.sleep(_AGAIN_SECONDS)


def _once(context: CommandContext) -> int:
    holder = lock_holder(context)
    if holder is None:
        is_set_up = context.home.config_file.exists()
        way = _START if is_set_up else _SET_UP
        told = say("KenoBot is not running in {home}.", home=context.home.path)
        return _absent(context, "not running", NOT_RUNNING, f"{told} {say(way)}")
    answer = ask(context.home, AskStatus(stacks=context.args.stacks), _ANSWER_SECONDS)
    if isinstance(answer, Status):
        return _present(context, answer)
    reason = answer.reason if isinstance(answer, Refused) else ""
    told = say(
        "KenoBot runs in {home} (process {process}), but does not answer.", home=context.home.path, process=holder
    )
    code = _absent(context, "no answer", NO_ANSWER, f"{told} {reason}".strip())
    if context.args.stacks:
        _dump_by_signal(context, holder)
    elif not context.args.json:
        print(say("`kenobot status --stacks` writes down where it stands."), file=sys.stderr)
    return code


def _absent(context: CommandContext, state: Literal["not running", "no answer"], code: int, told: str) -> int:
    if context.args.json:
        print(json.dumps({"state": state}))
    else:
        print(told, file=sys.stderr)
    return code


def _dump_by_signal(context: CommandContext, process: str) -> None:
    """Make a bot that does not answer dump its stacks, and name the file."""
    file: Path | None = None
    if process.isdecimal():
        try:
            file = ask_process(context.home.stacks, int(process), _DUMP_SECONDS)
        except OSError as error:
            print(say("It could not be asked: {reason}.", reason=error), file=sys.stderr)
            return
    if file is None:
        print(
            say("It does not write down where it stands either: it may be starting, or hang in the system."),
            file=sys.stderr,
        )
    else:
        print(say("Where it stands: {file}", file=file))


def _present(context: CommandContext, answer: Status) -> int:
    report = answer.report
    if context.args.json:
        print(json.dumps(report.model_dump() | ({"stacks": answer.stacks} if context.args.stacks else {})))
    else:
        _print(context, report)
        if context.args.stacks:
            print(say("Where it stands: {file}", file=answer.stacks or "-"))
    return _CODES[report.state]


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _print(context: CommandContext, report: StatusReport) -> None:
    now = datetime.fromisoformat(report.now)
    up = _span(_measure_since(report.started, now))
    print(
        say(
            "{mark} {state} since {since} · KenoBot {version}, process {process}, up for {up}",
            mark=_MARKS[report.state],
            state=say(report.state),
            since=context.local_time(report.since),
            version=report.version,
            process=report.process,
            up=up,
        )
        + (f" · {report.memory_mb:.0f} MB" if report.memory_mb is not None else "")
    )
    for row in report.causes:
        cause = Cause.load(row.model_dump())
        if cause is not None:
            print(f"  - {flat(cause.text(language()))} ({context.local_time(row.since)})")
    _print_queues(report)
    _print_parts(context, report, now)
    _print_chats(context, report, now)
    _print_last_turn(report)


def _print_queues(report: StatusReport) -> None:
    queues = report.queues
    print(
        "\n"
        + say(
            "messages to answer: {waiting}{oldest}; parts to deliver: {undelivered}{age}; given up: {dead}",
            waiting=queues.waiting,
            oldest=_render_oldest(queues.oldest_waiting),
            undelivered=queues.undelivered,
            age=_render_oldest(queues.oldest_undelivered),
            dead=queues.dead,
        )
    )


def _print_parts(context: CommandContext, report: StatusReport, now: datetime) -> None:
    work = report.background
    working = ", ".join(say(name) for name in work.working) or say("nothing under way")
    print(say("background: {working}", working=working), end="")
    print(say("; last night {at}", at=_local(context, work.last_night)), end="")
    print(say("; next {at}", at=_local(context, work.next_night)), end="")
    print(say("; last backup {at}", at=_local(context, work.last_backup)))
    for channel in report.channels:
        heard = "" if channel.silent_seconds is None else say(", heard {span} ago", span=_span(channel.silent_seconds))
        reason = f": {flat(translate(channel.reason))}" if channel.reason else ""
        print(say("channel {name}: {state}", name=flat(channel.name), state=say(channel.state)) + heard + reason)
    for provider in report.providers:
        failures = say(", {count} calls without an answer", count=provider.unanswered) if provider.unanswered else ""
        print(say("model {name}: {state}", name=flat(provider.name), state=say(provider.state)) + failures)
    for budget in report.used_up:
        of = f" ({purpose_words(budget.purpose, language())})" if budget.purpose else ""
        told = say(
            "the budget for models of {when}{purpose} is used up: {spent} of {budget}",
            when=budget.when,
            purpose=of,
            spent=budget.spent,
            budget=budget.budget,
        )
        print(told)


def _print_chats(context: CommandContext, report: StatusReport, now: datetime) -> None:
    if not report.chats:
        return
    print()
    rows = [
        (chat.session, _doing(chat, now), chat.waiting, _local(context, chat.last_answer))
        for chat in report.chats[:_SHOWN]
    ]
    print_table(("chat", "state", "waiting", "last answer"), rows)
    if len(report.chats) > _SHOWN:
        print(say("… and {count} more: --json", count=len(report.chats) - _SHOWN))


def _doing(chat: ChatRow, now: datetime) -> str:
    if chat.state == "thinking" and chat.since:
        return say("thinking for {span}", span=_span(_measure_since(chat.since, now)))
    return say(chat.state)


def _print_last_turn(report: StatusReport) -> None:
    turn = report.last_turn
    if turn is None:
        return
    spent = [(name, turn.phases[name]) for name in PHASES if turn.phases.get(name)]
    whole = "-" if turn.millis is None else f"{turn.millis} ms"
    where = ", ".join(f"{say(name)} {millis}" for name, millis in spent)
    print(
        "\n" + say("last answer in {chat}: {whole} ({where})", chat=flat(turn.session), whole=whole, where=where or "-")
    )


def _local(context: CommandContext, at: str) -> str:
    return context.local_time(at) if at else "-"


def _measure_since(at: str, now: datetime) -> float:
    return max(0.0, (now - datetime.fromisoformat(at)).total_seconds())


def _render_oldest(seconds: float) -> str:
    return say(" (the oldest for {span})", span=_span(seconds)) if seconds else ""


def _span(seconds: float) -> str:
    """Word a span of time in its two largest units: 12 s, 3 min, 4 h 5 min, 6 d 7 h."""
    minutes, hours, days = int(seconds) // 60, int(seconds) // 3600, int(seconds) // 86_400
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{int(seconds)} s"
