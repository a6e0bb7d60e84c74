"""Run a night: pass after pass, in short transactions, while conversations go on beside it.

Everything is saved before it is acted on: the night's moment, each answer of the model, each plan. Killed anywhere and
started again, a night resumes with the same answers and plans, and ends in the same memory.
"""

import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord, change_from_json, change_to_json
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache
from kenobot.cognitive.sleep.plan.passes import FindNeighbours, ModelQuestion, NightView, Pass
from kenobot.cognitive.store import events, sleep_plans
from kenobot.cognitive.store.sleep_plans import PassProgress
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, StoreError, describe
from kenobot.ports.frozen import dataclass
from kenobot.ports.nights import NightProgress, PassResult, SleepRun
from kenobot.ports.sentences import Sentence, change_values
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_LONGEST_ERROR = 300  # characters
_MISTAKES = frozenset(  # of a pass; any other error of SQLite is the disk's
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE}
)


class PassFailed(KenobotError):
    """A pass is broken: the night goes on without it."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer. settle: books the tokens, in the transaction that saves the answer."""

    text: str
    tokens: int
    settle: Callable[[Connection], None]


QuestionAnswerer = Callable[[SleepRun, ModelQuestion], Awaitable[ModelAnswer | None]]
"""Asks a model. None: no more answers tonight, or no tokens left."""


async def _ignore(*_: object) -> None:
    """Do nothing: for no listener."""


@dataclass(frozen=True, slots=True)
class SleepCycle:
    """Runs nights.

    answerer: None leaves everything to rules.
    no_pauses: no conversation goes on beside it, so it takes no rests.
    after_transaction: awaited when others may write.
    """

    database: Database
    clock: Clock
    zone: ZoneInfo
    passes: Sequence[Pass]
    policy: Policy = DEFAULT
    answerer: QuestionAnswerer | None = None
    on_progress: Callable[[NightProgress], Awaitable[None]] = _ignore
    no_pauses: bool = False
    comparison_cache: ComparisonCache | None = None
    neighbour_source: Callable[[], FindNeighbours | None] = lambda: None
    after_transaction: Callable[[], Awaitable[None]] = _ignore

    async def run_night(self, run: SleepRun) -> None:
        """Run the passes that a night still lacks. Raises StoreError when the disk fails; what is done stays done."""
        passes = [one for one in self.passes if one.phase in run.phases]
        finished = {result.name for result in await self.database.read(partial(run_rows.pass_results, run=run.id))}
        for number, one in enumerate(passes, 1):
            if one.name not in finished:
                step = NightProgress(run, one.name, one.phase, number, len(passes))
                await self.on_progress(step)
                await self.on_progress(replace(step, result=await self._pass(run, one)))

    async def _pass(self, run: SleepRun, one: Pass) -> PassResult:
        trouble = ""
        try:
            while not await self._advance(run, one):
                pass
        except StoreError:
            raise
        except Exception as error:
            _log.exception("the sleep pass %s failed; the night goes on without it", one.name)
            trouble = _describe(error)
        changed = await self.database.read(partial(sleep_plans.count_touched_records, run=run.id, name=one.name))
        return await self.database.write(partial(_finish, run=run, one=one, changed=changed, trouble=trouble))

    async def _advance(self, run: SleepRun, one: Pass) -> bool:
        """Plan, or carry out some of the plan; whether all of it is carried out."""
        if await self.database.read(partial(sleep_plans.pass_progress, run=run.id, name=one.name)) is None:
            return not await self._plan(run, one)
        policy, began = self.policy.sleep, self.clock.monotonic()
        left = await self.database.write(partial(self._carry_out, run, one))
        if not self.no_pauses:
            await self.after_transaction()
            if left:
                elapsed = max(policy.batch_seconds, self.clock.monotonic() - began)
                await self.clock.sleep(elapsed * policy.rest_factor)
        return not left

    # ── asking and planning ──────────────────────────────────────────────────────────────────────────────────────

    async def _plan(self, run: SleepRun, one: Pass) -> bool:
        """Ask the questions of a pass and save its plan; whether it plans anything, or has to plan anew.

        What is purged meanwhile may stand in the questions, and in the plan: then neither is saved.
        """
        event = await self.database.read(events.last_event)
        if self.answerer is not None and not await self._ask(run, one, self.answerer, event):
            return True
        live, plan, has_more = await self._read(run, one, partial(self._changes, one))
        if not plan:
            return False  # most passes in most nights: no need to save that, carry it out and clear it away
        await self.database.write(partial(sleep_plans.delete_plan, run=run.id, name=one.name))
        for first, chunk in sleep_plans.plan_chunks(plan):
            save = partial(sleep_plans.save_chunk, run=run.id, name=one.name, first=first, plan=chunk)
            if not await self.database.write(partial(_save_unless_purged, event=event, save=save)):
                return True
        trouble = Sentence("reasons.night_full") if has_more else ""
        progress = PassProgress(live, trouble=trouble)
        save = partial(sleep_plans.save_progress, run=run.id, name=one.name, progress=progress)
        await self.database.write(partial(_save_unless_purged, event=event, save=save))
        return True

    async def _ask(self, run: SleepRun, one: Pass, ask: QuestionAnswerer, event: int) -> bool:
        """Ask what has no answer yet, and save each answer at once; False when something was purged after `event`."""
        answered, questions = await self._read(run, one, lambda view: (set(view.answers), tuple(one.questions(view))))
        for question in questions:
            if question.key in answered:
                continue
            answer = await ask(run, question)
            if answer is None:
                return True
            save = partial(_save_answer, run=run, question=question, answer=answer, event=event)
            if not await self.database.write(save):
                return False
            answered.add(question.key)
        return True

    def _changes(self, one: Pass, view: NightView) -> tuple[int, list[str], bool]:
        """Return live records, the plan as JSON, and whether there is more of it."""
        most = self.policy.sleep.max_changes
        plan = [change_to_json(change) for change in islice(one.plan(view), most + 1)]
        return sleep_plans.count_live_records(view.connection), plan[:most], len(plan) > most

    async def _read(self, run: SleepRun, one: Pass, work: Callable[[NightView], _T]) -> _T:
        """Let a pass read memory. Raises PassFailed where the pass is broken, and not the disk."""

        def read(connection: Connection) -> _T:
            since = sleep_plans.last_success_at(connection, run.id, one.name)
            answers = run_rows.model_answers(connection, run.id)
            view = NightView(
                *(connection, run.at, self.zone, since, self.policy, answers),
                model_available=self.answerer is not None,
                find_neighbours=self.neighbour_source(),
                comparison_cache=self.comparison_cache,
            )
            try:
                return work(view)
            except sqlite3.Error as error:
                raise _blame(error) from error

        return await self.database.read_long(read)

    # ── carrying out ─────────────────────────────────────────────────────────────────────────────────────────────

    def _carry_out(self, run: SleepRun, one: Pass, connection: Connection) -> bool:
        """Carry out what fits into a short transaction; whether something is left, or the plan is gone."""
        policy, began = self.policy.sleep, self.clock.monotonic()
        progress = sleep_plans.pass_progress(connection, run.id, one.name)
        if progress is None:
            return True  # something in it was erased for good meanwhile
        context = PassContext(run.id, one.name, run.at, self.zone, self.policy)
        steps = sleep_plans.next_steps(connection, run.id, one.name, policy.batch + 1)
        carried = 0
        for number, text in steps[: policy.batch]:
            progress = _apply(connection, change_from_json(text), context, progress)
            sleep_plans.delete_step(connection, run.id, one.name, number)
            carried += 1
            if not self.no_pauses and self.clock.monotonic() - began > policy.batch_seconds:
                break
        sleep_plans.save_progress(connection, run.id, one.name, progress)
        return carried < len(steps)


def _apply(connection: Connection, change: Change, context: PassContext, progress: PassProgress) -> PassProgress:
    """Apply one change. One that fails costs itself; a failing disk costs the transaction."""
    try:
        undone = _was_undone(connection, change, context.pass_name)
        if undone or apply_change(connection, change, context) is None:
            return replace(progress, skipped=progress.skipped + 1)
    except Exception as error:
        if isinstance(error, MemoryError) or (isinstance(error, sqlite3.Error) and not _is_mistake(error)):
            raise
        _log.exception("a change of the sleep pass %s failed", context.pass_name)
        return replace(progress, skipped=progress.skipped + 1, trouble=_describe(error))
    return replace(progress, done=progress.done + 1)


def _was_undone(connection: Connection, change: Change, name: str) -> bool:
    """Return whether the owner has undone the same decision: it is not made again."""
    updated = next((part.record for part in change.parts if isinstance(part, UpdateRecord)), None)
    record = updated if change.record is None else change.record
    return record is not None and sleep_plans.was_undone(connection, record, name, change.kind)


def _finish(connection: Connection, run: SleepRun, one: Pass, changed: int, trouble: str) -> PassResult:
    """Save a pass as finished, with what it did before it failed; its plan is no longer needed."""
    progress = sleep_plans.pass_progress(connection, run.id, one.name)
    if progress is None:
        progress = PassProgress(sleep_plans.count_live_records(connection))
    counts = (progress.live, changed, progress.done, progress.skipped)
    result = PassResult(one.name, one.phase, *counts, trouble or progress.trouble)
    run_rows.save_pass_result(connection, run.id, result)
    sleep_plans.delete_plan(connection, run.id, one.name)
    return result


def _save_answer(
    connection: Connection, run: SleepRun, question: ModelQuestion, answer: ModelAnswer, event: int
) -> bool:
    """Save an answer and its cost; the cost alone, and False, when something was purged after `event`."""
    sleep_plans.add_tokens(connection, run.id, answer.tokens)
    answer.settle(connection)
    save = partial(run_rows.save_model_answer, run=run.id, key=question.key, text=answer.text)
    return _save_unless_purged(connection, event, save)


def _save_unless_purged(connection: Connection, event: int, save: Callable[[Connection], None]) -> bool:
    """Save what a pass worked out, inside a transaction; False when something was purged after `event`."""
    if events.has_purge(connection, event):
        return False
    save(connection)
    return True


def _is_mistake(error: sqlite3.Error) -> bool:
    """Return whether the pass is wrong, and not the disk."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF in _MISTAKES


def _blame(error: sqlite3.Error) -> Exception:
    """Return the error of a pass or of the disk: a plan that writes is told that the database is read-only."""
    wrote = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY
    return (
        PassFailed("sleep.pass_broken", kind=type(error).__name__, reason=error)
        if wrote or _is_mistake(error)
        else error
    )


def _describe(error: Exception) -> str:
    return change_values(describe(error), lambda text: text[:_LONGEST_ERROR])
