"""`kenobot schedule`: reminders and other jobs, beside a running bot or without one."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.job import Job, JobError, JobState, NewJob, Occurrence, Place
from kenobot.agenda.places import owner_place
from kenobot.agenda.recurrence import CRON, to_local, to_utc
from kenobot.agenda.zones import zone_in_force
from kenobot.channels.console import CHAT, Console
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import language, say
from kenobot.cli.table import print_table
from kenobot.core.redaction import escape_controls, one_line
from kenobot.language.when import Choice, Moment, Recurrence
from kenobot.language.when.read import read_when
from kenobot.language.when.strip import strip_when
from kenobot.ports.errors import KenobotError

_OPEN: tuple[JobState, ...] = ("active", "paused", "proposed")
_ALL: tuple[JobState, ...] = (*_OPEN, "done", "cancelled")
_NONE = "There are no reminders: `kenobot schedule add` makes one, and so does “remind me …” in a chat."
_TOLD = 10  # of the last occurrences that `show` lists


def list_(context: CommandContext) -> int:
    states = _ALL if context.args.all else _OPEN
    with context.read() as connection:
        found = jobs.find_jobs(connection, context.scopes, states=states)[: context.args.limit]
    rows = [_row(job) for job in found]
    if rows and not context.args.json:
        print_table(("#", "next", "state", "repeats", "chat", "text"), [_cells(context, job) for job in found])
        return 0
    return options.print_rows(rows, context.args.json, str, _NONE)


def show(context: CommandContext) -> int:
    with context.read() as connection:
        job = _load(connection, context)
        told = job_rows.last_occurrences(connection, job.id, _TOLD)
    row = _row(job) | {"told": [_make_told_row(each) for each in told]}
    return options.print_rows([row], context.args.json, lambda _: _render_whole(context, job, told))


def add(context: CommandContext) -> int:
    """Add a reminder to the owner, told in the chat in which the owner wrote last."""
    context.make_home()
    words = " ".join(context.args.words)
    with _changing(context) as (connection, zone):
        text, meaning = _read(context, words, to_local(context.now, zone))
        new = NewJob(text, _place(connection, context, text), meaning, zone=context.args.zone)
        job = jobs.add_job(connection, new, zone, context.now)
    return _print(context, job)


def snooze(context: CommandContext) -> int:
    with _changing(context) as (connection, zone):
        words, now = " ".join(context.args.words), to_local(context.now, zone)
        meaning = _meaning(words, now)
        if not isinstance(meaning, Moment):
            raise options.NothingFound("schedule.no_single_moment")
        # What is counted from now passes in hours, not by what the clock shows.
        until = context.now + (meaning.at - now) if meaning.exact else to_utc(meaning.at, zone)
        job = jobs.snooze_job(connection, _load(connection, context), until, zone, context.now)
    return _print(context, job)


def change(context: CommandContext) -> int:
    """Pause, resume, cancel, skip, run or undo."""
    with _changing(context) as (connection, zone):
        at = context.now
        changes: Mapping[str, Callable[[sqlite3.Connection, Job], Job]] = {
            "pause": partial(jobs.pause_job, at=at),
            "resume": partial(jobs.resume_job, zone=zone, at=at),
            "cancel": partial(jobs.cancel_job, at=at),
            "skip": partial(jobs.skip_next, zone=zone, at=at),
            "run": partial(jobs.tell_now, at=at),
            "undo": partial(jobs.undo_job, zone=zone, at=at),
        }
        job = changes[context.args.command](connection, _load(connection, context))
    return _print(context, job)


@contextmanager
def _changing(context: CommandContext) -> Iterator[tuple[sqlite3.Connection, ZoneInfo]]:
    """Open a transaction, with the owner's zone as it is now. Raises NothingFound for what cannot be done."""
    try:
        with context.write() as connection:
            yield connection, zone_in_force(connection, context.zone, context.now)
    except JobError as error:
        raise KenobotError(error.words(language())) from error


def _load(connection: sqlite3.Connection, context: CommandContext) -> Job:
    job = jobs.load_job(connection, context.args.number, context.scopes)
    if job is None:
        raise options.NothingFound("schedule.no_reminder", number=context.args.number)
    return job


def _read(context: CommandContext, words: str, now: datetime) -> tuple[str, Moment | Recurrence]:
    """Return what is to be said, and when: by the options, or by the words. Raises NothingFound."""
    args = context.args
    if args.at is not None:
        return words, Moment(args.at)
    if args.cron or args.rule:
        return words, Recurrence(f"{CRON}{args.cron}" if args.cron else args.rule, args.start or now)
    when = read_when(words, now)
    if when is None:
        raise options.NothingFound("schedule.no_time")
    return strip_when(words, when), _meaning(words, now)


def _meaning(words: str, now: datetime) -> Moment | Recurrence:
    when = read_when(words, now)
    meaning = when.meaning if when is not None else None
    if isinstance(meaning, Choice):
        readings = " / ".join(_describe(each) for each in meaning.options)
        raise options.NothingFound("schedule.ambiguous_time", readings=readings)
    if meaning is None:
        raise options.NothingFound("schedule.unclear_time")
    return meaning


def _describe(meaning: Moment | Recurrence) -> str:
    return f"{meaning.at:%Y-%m-%d %H:%M}" if isinstance(meaning, Moment) else f"{meaning.rule} {meaning.start:%H:%M}"


def _place(connection: sqlite3.Connection, context: CommandContext, text: str) -> Place:
    """Return where the owner is reminded: the chat named, the one in which they wrote last, or the console."""
    wanted = context.loaded.settings.bot.language
    place = owner_place(connection, text, (Console.name, CHAT), None if wanted == "auto" else wanted, language())
    if not context.args.channel:
        if context.args.chat:
            raise options.NothingFound("schedule.chat_without_channel")
        return place
    if context.args.channel not in (*context.loaded.settings.channels.enabled, Console.name):
        raise options.NothingFound("schedule.channel_off", channel=context.args.channel)
    return replace(place, channel=context.args.channel, chat=context.args.chat or CHAT, account="")


def _print(context: CommandContext, job: Job) -> int:
    due = context.local_time(job.next_due) if job.next_due is not None else "-"
    return options.print_row(_row(job), context.args.json, f"#{job.id} {due} {say(job.state)}: {one_line(job.text)}")


def _row(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "text": job.text,
        "next_due": job_rows.stamp(job.next_due) or None,
        "rule": job.rule or None,
        "start": job_rows.stamp_local(job.start_local),
        "zone": job.zone or None,
        "person": job.person,
        "scope": job.scope,
        "channel": job.channel,
        "chat": job.chat,
        "thread": job.thread,
        "language": job.language,
        "missed": job.missed,
        "trust": job.trust,
        "created": job_rows.stamp(job.created),
        "ended": job_rows.stamp(job.ended) or None,
    }


def _make_told_row(told: Occurrence) -> dict[str, Any]:
    return {
        "id": told.id,
        "due": job_rows.stamp(told.due),
        "state": told.state,
        "covers": told.covers,
        "told_at": job_rows.stamp(told.told_at) or None,
    }


def _cells(context: CommandContext, job: Job) -> tuple[object, ...]:
    due = context.local_time(job.next_due) if job.next_due is not None else "-"
    return job.id, due, say(job.state), job.rule or "-", f"{job.channel} {job.chat}", job.text


def _render_whole(context: CommandContext, job: Job, told: list[Occurrence]) -> str:
    row = _row(job)
    row["next"] = context.local_time(job.next_due) if job.next_due is not None else "-"
    row["state"], row["chat"] = say(job.state), f"{job.channel} {job.chat}"
    names = ("id", "state", "next", "repeats", *(() if job.exact else ("start", "zone")), "chat", "person")
    row["repeats"] = job.rule
    head = [f"{say(name) + ':':<10} {one_line(str(row[name]))}" for name in names if row[name]]
    lines = [f"{context.local_time(each.due)}  {say(each.state)}" for each in told]
    return "\n".join([*head, "", escape_controls(job.text), *(["", *lines] if lines else [])])
