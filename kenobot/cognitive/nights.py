"""The nights of memory: their passes, how they went, when the next one is due, and how one is taken back."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.store import proposals, sleep_plans
from kenobot.core.settings.schema import SleepSettings
from kenobot.ports.nights import PHASES, Phase, SleepRun
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.cognitive.sleep.plan.passes import Pass
    from kenobot.ports.memory_changes import DecisionContext, Proposal
    from kenobot.ports.nights import NightReport, NightUndo

_BATCH = 20  # decisions that are undone in one transaction


class Nights:
    """See nights, and take them back; inside a transaction of the caller."""

    NEWEST = 2**62
    """A number behind every decision."""

    @staticmethod
    def passes(of: str = "") -> "tuple[Pass, ...]":
        """Return the passes of a night, or of the command that carries out some: merge, synthesize, prune."""
        from kenobot.cognitive.sleep import night
        from kenobot.cognitive.sleep.consolidate import entities, profile, synthesize
        from kenobot.cognitive.sleep.consolidate.pairs import pair_review

        return {
            "": night.NIGHT,
            "merge": (pair_review.DUPLICATES, pair_review.CONTRADICTIONS, entities.PASS),
            "synthesize": (synthesize.PASS, profile.PASS),
            "prune": night.MEMORY_PRUNER,
        }[of]

    @staticmethod
    def phases(passes: "Sequence[Pass]") -> tuple[Phase, ...]:
        """Return the phases of passes, in the order of a night."""
        return tuple(phase for phase in PHASES if phase in {one.phase for one in passes})

    @staticmethod
    def find(connection: Connection, number: int | None = None) -> SleepRun | None:
        """Return the night of a number, or the newest one."""
        numbers = [number] if number is not None else sleep_plans.newest_nights(connection, 1)
        return run_rows.get_run(connection, numbers[0]) if numbers else None

    @staticmethod
    def list_newest(connection: Connection, limit: int) -> list[SleepRun]:
        """Return the newest nights, the newest first."""
        found = (run_rows.get_run(connection, number) for number in sleep_plans.newest_nights(connection, limit))
        return [run for run in found if run is not None]

    last_finished = staticmethod(run_rows.last_run)
    """Return the last night that came to its end."""

    @staticmethod
    def find_unfinished(connection: Connection) -> SleepRun | None:
        """Return the night that is under way, or was cut short."""
        return run_rows.last_run(connection, "running")

    last_full_at = staticmethod(sleep_plans.last_full_night_at)
    """Return when the last night of all passes began."""

    first_event_at = staticmethod(sleep_plans.first_event_at)
    """Return when the first thing happened to memory."""

    @staticmethod
    def next_time(settings: SleepSettings, last: datetime | None, now: datetime, timezone: str) -> datetime | None:
        """Return the first moment from now on at which sleep will be due; None where it is disabled."""
        from kenobot.cognitive.sleep.due import next_sleep_time

        return next_sleep_time(settings, Policy.of(settings).sleep, last, now, timezone)

    ask_for = staticmethod(run_rows.ask_for_night)
    """Request a night of a running bot."""

    @staticmethod
    def report(connection: Connection, run: SleepRun, policy: Policy, *, in_full: bool = False) -> "NightReport":
        """Report the changes of a night, pass by pass. in_full: with whole texts."""
        from kenobot.cognitive.sleep.night import NIGHT
        from kenobot.cognitive.sleep.report import build_report

        return build_report(connection, run, NIGHT, policy.sleep, in_full=in_full)

    @staticmethod
    def as_json(report: "NightReport") -> dict[str, Any]:
        """Write a report for programs."""
        from kenobot.cognitive.sleep.report import as_json

        return {**as_json(report)}

    @staticmethod
    def count(connection: Connection, run: SleepRun, policy: Policy) -> dict[str, Any]:
        """Count the passes, decisions and tokens of a night, and name the passes that were large or in trouble."""
        from kenobot.cognitive.sleep.report import is_large

        results = run_rows.pass_results(connection, run.id)
        return {
            "passes": len(results),
            "decisions": sum(each.done for each in results),
            "changed": sum(each.changed_records for each in results),
            "tokens": sleep_plans.tokens_used(connection, run.id),
            "large": [each.name for each in results if is_large(each, policy.sleep)],
            "trouble": {each.name: each.trouble for each in results if each.trouble},
        }

    @staticmethod
    def count_unread(connection: Connection, most: int) -> int:
        """Count the turns that wait to be read for memories, at most `most` of a chat."""
        from kenobot.cognitive.remember.extract import buffer

        sessions = buffer.sessions_with_pending(connection)
        return sum(len(buffer.pending_turns(connection, session, most)) for session in sessions)

    @staticmethod
    def undo_some(connection: Connection, outcome: "NightUndo", before: int, occasion: AdmitContext) -> int:
        """Take back the next decisions of a night, and note them in `outcome`; return where to go on, 0 at the end.

        before: what this returned last, and `Nights.NEWEST` at first.
        """
        from kenobot.cognitive.sleep.apply_change import undo_decisions

        before = undo_decisions(connection, outcome, before, _BATCH, occasion)
        if not before:
            sleep_plans.mark_night_undone(connection, outcome.run, occasion.at)
        return before


class Proposals:
    """See the changes that nights propose to the owner, and carry out the decisions."""

    list_proposals = staticmethod(proposals.list_proposals)
    """List the proposals in these states, the newest last."""

    count_pending = staticmethod(proposals.count_pending)
    """Count the proposals that wait for a decision."""

    get = staticmethod(proposals.get)
    """Return a proposal by its number."""

    @staticmethod
    def approve(connection: Connection, number: int, context: "DecisionContext") -> "Proposal":
        """Carry out a proposal. Raises CannotDecide."""
        from kenobot.cognitive.sleep.proposals import approve

        return approve(connection, number, context)

    @staticmethod
    def reject(connection: Connection, number: int, context: "DecisionContext") -> "Proposal":
        """Turn a proposal down. Raises CannotDecide."""
        from kenobot.cognitive.sleep.proposals import reject

        return reject(connection, number, context)

    @staticmethod
    def undo(connection: Connection, number: int, context: "DecisionContext") -> "Proposal":
        """Take back what an approved proposal did. Raises CannotDecide."""
        from kenobot.cognitive.sleep.proposals import undo_approval

        return undo_approval(connection, number, context)

    log_broken_rules = staticmethod(proposals.log_broken_rules)
    """Note the rules that an answer broke, of which nights learn."""
