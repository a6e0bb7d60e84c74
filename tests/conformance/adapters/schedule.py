"""Cron lines of schedules, and the words that stop what is under way."""

from kenobot.agenda.recurrence import is_cron_line
from kenobot.agent.stop_words import stop_word
from tests.conformance.cases import Adapter, Case, Checked, Compared, NotApplicable, Outcome


def cron_valid(case: Case) -> Outcome:
    """The original's library takes lines that never come, and those with seconds."""
    valid = is_cron_line(case.input)
    if case.quirk:
        return Checked(valid, {"it is refused": not valid})
    if "L" in case.input and valid:
        return NotApplicable("L is the last day of a month, as cronsim has it")
    return Compared(valid, case.expected)


def is_cancel_command(case: Case) -> Outcome:
    return Compared(bool(stop_word(case.input)), case.expected)


ADAPTERS: dict[str, Adapter] = {
    "agent.is_cancel_command": is_cancel_command,
    "scheduler.cron_valid": cron_valid,
}
