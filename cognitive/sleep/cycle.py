"""One night: pass after pass asks, plans and is carried out, a little at a time; conversation goes on beside it.

Whatever is decided is on disk before it is acted on: the night with its moment, each answer of a model, each plan.
Killed anywhere and started again, a night therefore goes on where it was, with the same answers and the same plans, and
comes to the same memory as if nothing had happened.
"""

import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.night import NIGHT
from kenobot.cognitive.sleep.plan.change_json import change_from_json, change_to_json
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache
from kenobot.cognitive.sleep.plan.passes import FindNeighbours, ModelQuestion, NightView, Pass, no_neighbours
from kenobot.cognitive.sleep.run_rows import PassResult, SleepRun
from kenobot.cognitive.store import sleep_plans
from kenobot.cognitive.store.sleep_plans import PassProgress
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, StoreError
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

_LONGEST_TROUBLE = 300  # characters
_MISTAKES = frozenset(  # of a pass; any other complaint of SQLite's is about the disk
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE}
)


class PassFailed(KenobotError):
    """A pass is broken: the night goes on without it."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said to a question. settle: puts the price where it belongs, in the transaction that keeps it."""

    text: str
    tokens: int
    settle: Callable[[Connection], None]


class QuestionAnswerer(Protocol):
    """Who is asked. None: nobody can answer any more tonight, or there are no tokens left."""

    async def __call__(self, run: SleepRun, question: ModelQuestion) -> ModelAnswer | None: ...


@dataclass(frozen=True, slots=True)
class NightProgress:
    """How far a night is. result: what came of the pass; None when it begins."""

    run: SleepRun
    sleep_pass: Pass
    number: int
    total: int
    result: PassResult | None = None


async def _nothing() -> None:
    pass


async def _tell_nobody(_step: NightProgress) -> None:
    pass


@dataclass(frozen=True, slots=True)
class SleepCycle:
    """Plays nights. answerer: None leaves everything to rules. no_pauses: nobody talks beside it, so it takes no rests.

    comparison_cache: what the nights before this one found of pairs of records; without it, all are compared.
    neighbour_source: who tells
    which records mean nearly the same, if there is anybody now. after_transaction: is told after each transaction
    that somebody may write and ask beside.
    """

    database: Database
    clock: Clock
    zone: ZoneInfo
    policy: Policy = DEFAULT
    answerer: QuestionAnswerer | None = None
    on_progress: Callable[[NightProgress], Awaitable[None]] = _tell_nobody
    passes: Sequence[Pass] = NIGHT
    no_pauses: bool = False
    comparison_cache: ComparisonCache | None = None
    neighbour_source: Callable[[], FindNeighbours | None] = no_neighbours
    after_transaction: Callable[[], Awaitable[None]] = _nothing

    async def run_night(self, run: SleepRun) -> None:
        """Do what the night still lacks. Raises StoreError when the disk fails; what is done stays done."""
        ours = [one for one in self.passes if one.phase in run.phases]
        done = {passed.name for passed in await self.database.read(partial(run_rows.pass_results, run=run.id))}
        for number, one in enumerate(ours, 1):
            if one.name in done:
                continue
            step = NightProgress(run, one, number, len(ours))
            await self.on_progress(step)
            await self.on_progress(replace(step, result=await self._pass(run, one)))

    async def _pass(self, run: SleepRun, one: Pass) -> PassResult:
        try:
            while not await self._advance(run, one):
                pass
        except StoreError:
            raise
        except Exception as error:
            _log.exception("the sleep pass %s failed; the night goes on without it", one.name)
            await self.database.write(partial(self._give_up, run, one, trouble=_said(error)))
        else:
            touched = await self.database.read(partial(sleep_plans.count_touched_records, run=run.id, name=one.name))
            await self.database.write(partial(_close, run=run, one=one, touched=touched))
        passed = await self.database.read(partial(run_rows.pass_results, run=run.id))
        return next(each for each in passed if each.name == one.name)

    async def _advance(self, run: SleepRun, one: Pass) -> bool:
        """Plan, or carry out some of the plan; whether all of it is carried out."""
        if await self.database.read(partial(sleep_plans.pass_progress, run=run.id, name=one.name)) is None:
            return not await self._plan(run, one)
        policy, began = self.policy.sleep, self.clock.monotonic()
        left = await self.database.write(partial(self._some, run, one))
        if not self.no_pauses:
            await self.after_transaction()
        if left and not self.no_pauses:
            took = max(policy.batch_seconds, self.clock.monotonic() - began)
            await self.clock.sleep(took * policy.rest_factor)
        return not left

    # ── asking and planning ──────────────────────────────────────────────────────────────────────────────────────

    async def _plan(self, run: SleepRun, one: Pass) -> bool:
        """Write down what a pass wants done, after asking what it wants to know; whether it wants anything done."""
        if self.answerer is not None:
            await self._ask(run, one, self.answerer)
        live, plan, left = await self.database.read_long(partial(self._planned, run, one))
        if not plan:
            return False  # most passes in most nights: no need to write that down, carry it out and clear it away
        await self.database.write(partial(sleep_plans.delete_plan, run=run.id, name=one.name))
        for first, piece in sleep_plans.plan_chunks(plan):
            await self.database.write(
                partial(sleep_plans.save_chunk, run=run.id, name=one.name, first=first, plan=piece)
            )
        trouble = "there was more than one night can hold: the rest comes with the next" if left else ""
        course = PassProgress(live, trouble=trouble)
        await self.database.write(partial(sleep_plans.save_progress, run=run.id, name=one.name, progress=course))
        return True

    async def _ask(self, run: SleepRun, one: Pass, ask: QuestionAnswerer) -> None:
        """Ask what has no answer yet; each answer is kept as soon as it is there."""
        known, questions = await self.database.read_long(partial(self._questions, run, one))
        for question in questions:
            if question.key in known:
                continue
            said = await ask(run, question)
            if said is None:
                return
            await self.database.write(partial(_keep, run=run, question=question, said=said))
            known.add(question.key)

    def _questions(self, run: SleepRun, one: Pass, connection: Connection) -> tuple[set[str], Sequence[ModelQuestion]]:
        view = self._view(run, one, connection)
        try:
            return set(view.answers), tuple(one.questions(view))
        except sqlite3.Error as error:
            raise _blamed(error) from error

    def _planned(self, run: SleepRun, one: Pass, connection: Connection) -> tuple[int, list[str], bool]:
        """Live records, the plan as it is kept, and whether there was more of it."""
        plan: list[str] = []
        most = self.policy.sleep.max_changes
        live = sleep_plans.count_live_records(connection)
        try:
            for wanted in one.plan(self._view(run, one, connection)):
                if len(plan) == most:
                    return live, plan, True
                plan.append(change_to_json(wanted))
        except sqlite3.Error as error:
            raise _blamed(error) from error
        return live, plan, False

    def _view(self, run: SleepRun, one: Pass, connection: Connection) -> NightView:
        return NightView(
            connection,
            run.at,
            self.zone,
            sleep_plans.last_success_at(connection, run.id, one.name),
            self.policy,
            run_rows.model_answers(connection, run.id),
            self.answerer is not None,
            find_neighbours=self.neighbour_source(),
            comparison_cache=self.comparison_cache,
        )

    # ── carrying out ─────────────────────────────────────────────────────────────────────────────────────────────

    def _some(self, run: SleepRun, one: Pass, connection: Connection) -> bool:
        """Carry out what fits into a short transaction; whether something is left, or the plan is gone."""
        policy, began = self.policy.sleep, self.clock.monotonic()
        course = sleep_plans.pass_progress(connection, run.id, one.name)
        if course is None:
            return True  # something in it was erased for good meanwhile
        night = PassContext(run.id, one.name, run.at, self.zone, self.policy)
        ahead = sleep_plans.next_steps(connection, run.id, one.name, policy.batch + 1)
        carried = 0
        for number, text in ahead[: policy.batch]:
            course = _carried_out(connection, change_from_json(text), night, course)
            sleep_plans.delete_step(connection, run.id, one.name, number)
            carried += 1
            if not self.no_pauses and self.clock.monotonic() - began > policy.batch_seconds:
                break
        sleep_plans.save_progress(connection, run.id, one.name, course)
        return carried < len(ahead)

    def _give_up(self, run: SleepRun, one: Pass, connection: Connection, trouble: str) -> None:
        """Note a pass that failed, with what it had done before."""
        course = sleep_plans.pass_progress(connection, run.id, one.name) or PassProgress(
            sleep_plans.count_live_records(connection)
        )
        sleep_plans.save_progress(connection, run.id, one.name, replace(course, trouble=trouble))
        _close(connection, run, one, sleep_plans.count_touched_records(connection, run.id, one.name))


def _carried_out(connection: Connection, wanted: Change, night: PassContext, course: PassProgress) -> PassProgress:
    """Carry out one change. One that fails costs itself; a failing disk costs the transaction."""
    try:
        if _was_taken_back(connection, wanted, night.pass_name) or apply_change(connection, wanted, night) is None:
            return replace(course, skipped=course.skipped + 1)
    except sqlite3.Error as error:
        if not _is_mistake(error):
            raise
        _log.exception("a change of the sleep pass %s failed", night.pass_name)
        return replace(course, skipped=course.skipped + 1, trouble=_said(error))
    except MemoryError:
        raise
    except Exception as error:
        _log.exception("a change of the sleep pass %s failed", night.pass_name)
        return replace(course, skipped=course.skipped + 1, trouble=_said(error))
    return replace(course, done=course.done + 1)


def _was_taken_back(connection: Connection, wanted: Change, name: str) -> bool:
    """Whether the owner has taken the same decision back: it is not made again."""
    edited = next((part.record for part in wanted.parts if isinstance(part, UpdateRecord)), None)
    record = edited if wanted.record is None else wanted.record
    return record is not None and sleep_plans.was_undone(connection, record, name, wanted.kind)


def _close(connection: Connection, run: SleepRun, one: Pass, touched: int) -> None:
    """Note a pass as finished; its plan is no longer needed."""
    course = sleep_plans.pass_progress(connection, run.id, one.name) or PassProgress(
        sleep_plans.count_live_records(connection)
    )
    passed = PassResult(one.name, one.phase, course.live, touched, course.done, course.skipped, course.trouble)
    run_rows.save_pass_result(connection, run.id, passed)
    sleep_plans.delete_plan(connection, run.id, one.name)


def _keep(connection: Connection, run: SleepRun, question: ModelQuestion, said: ModelAnswer) -> None:
    run_rows.save_model_answer(connection, run.id, question.key, said.text)
    sleep_plans.add_tokens(connection, run.id, said.tokens)
    said.settle(connection)


def _is_mistake(error: sqlite3.Error) -> bool:
    """Whether it is the pass that is wrong, and not the disk."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF in _MISTAKES


def _blamed(error: sqlite3.Error) -> Exception:
    """What planning failed of: a plan may not write, and then it is told that the database is read-only."""
    wrote = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY
    return PassFailed(f"{type(error).__name__}: {error}") if wrote or _is_mistake(error) else error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_TROUBLE]
