"""What the month came to: for each kind of fact how many live, are answered with, are hidden, and whatever leaked."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

from bench.month.script import MonthScript, MonthStep
from bench.report import Report
from kenobot.ports.json_value import Json
from kenobot.ports.provider import Request
from kenobot_testing.prompt_parts import runtime_blocks
from kenobot_testing.scenario import Expectation

_COUNTS = ("told", "meant_to_live", "live", "asked", "answered", "meant_to_hide", "hidden", "leaks")

RecallText = Callable[[str, str], Awaitable[tuple[str, str]]]
"""The memories and the talk that a question finds within a scope."""


@dataclass(slots=True)
class FactKindScore:
    """One kind of fact. live, hidden: as they should be; answered: questions whose memory held what they needed."""

    kind: str
    told: int = 0
    meant_to_live: int = 0
    live: int = 0
    asked: int = 0
    answered: int = 0
    meant_to_hide: int = 0
    hidden: int = 0
    leaks: int = 0


@dataclass(slots=True)
class MonthResult:
    """The whole month. failures: one plain sentence each; none when all is as it should be."""

    rows: dict[str, FactKindScore] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    restarts: int = 0
    extractions: int = 0

    @property
    def passed(self) -> bool:
        return not self.failures

    def row(self, kind: str) -> FactKindScore:
        return self.rows.setdefault(kind, FactKindScore(kind))

    @property
    def total(self) -> FactKindScore:
        total = FactKindScore("all")
        for row in self.rows.values():
            for name in _COUNTS:
                setattr(total, name, getattr(total, name) + getattr(row, name))
        return total


def check_question(verdict: MonthResult, step: MonthStep, request: Request | None) -> None:
    """Look at the prompt that a question led to."""
    row = verdict.row(step.kind)
    row.asked += 1
    when = f"{step.at:%d %B %H:%M}, {step.kind}, “{step.says}”"
    if request is None:
        verdict.failures.append(f"{when}: it was never put to the model")
        return
    memory = "\n".join([*(block.text for block in request.system), *runtime_blocks(request.messages)])
    conversation = "\n".join(message.text for message in request.messages).replace(step.says, "")
    expect = step.expect or Expectation()
    missing, shown = expect.find_missing(memory), expect.find_shown(memory, conversation)
    if not missing:
        row.answered += 1
    verdict.failures += (f"{when}: memory does not hold “{text}”" for text in missing)
    row.leaks += len(shown)
    verdict.failures += (f"{when}: it shows “{text}”" for text in shown)


async def check_recall(verdict: MonthResult, script: MonthScript, recalled: RecallText) -> None:
    """The exam at the end: each fact is looked for by its question, or by its own words, in every scope there is.

    Talk that is quoted is no memory, but shows what should be hidden.
    """
    scopes = {step.scope for step in script.steps if step.fact}
    for step in script.steps:
        if not step.fact:
            continue
        row, question = verdict.row(step.kind), step.question or step.fact
        for scope in sorted(scopes):
            memories, talk = await recalled(question, scope)
            found = step.fact in memories
            lives = step.fate in ("lives", "private") and scope == step.scope
            if lives:
                row.asked += 1
                row.answered += found
                if not found:
                    verdict.failures.append(f"{step.kind}: “{question}” does not lead to “{step.fact}”")
            elif found or step.fact in talk:
                row.leaks += 1
                verdict.failures.append(f"{step.kind}: in {scope}, “{question}” leads to “{step.fact}”")


def check_records(
    verdict: MonthResult, script: MonthScript, records: Iterable[tuple[str, str, str]], summaries: Iterable[str] = ()
) -> None:
    """Look at memory itself when the month is over: each fact that should live does, in its scope and nowhere else.

    records: scope, status and text. summaries: of what was said; what was forgotten or erased stands in none.
    """
    held, told = list(records), "\n".join(summaries)
    for step in script.steps:
        if not step.fact:
            continue
        row = verdict.row(step.kind)
        row.told += 1
        live = [scope for scope, status, text in held if status == "active" and step.fact in text]
        if step.fate in ("lives", "private"):
            row.meant_to_live += 1
            row.live += step.scope in live
            if step.scope not in live:
                verdict.failures.append(f"{step.kind}: “{step.fact}” does not live in {step.scope}")
            if strange := sorted(set(live) - {step.scope}):
                row.leaks += 1
                verdict.failures.append(f"{step.kind}: “{step.fact}” is also in {', '.join(strange)}")
            continue
        row.meant_to_hide += 1
        kept = step.fate == "purged" and any(step.fact in text for _, _, text in held)
        kept = kept or (step.fate in ("forgotten", "purged") and step.fact in told)
        row.hidden += not live and not kept
        if live or kept:
            where = "lives on" if live else "is still on record"
            verdict.failures.append(f"{step.kind}: “{step.fact}” should be {step.fate}, and {where}")


def report_of(verdict: MonthResult) -> Report:
    """The month as a table, a row for each kind of fact."""
    rows = [[row.kind, *map(str, _numbers(row))] for row in (*verdict.rows.values(), verdict.total)]
    counts: dict[str, Json] = {
        "restarts": verdict.restarts,
        "readings": verdict.extractions,
        "failures": [*verdict.failures],
    }
    return Report(
        heads=("kind", "told", "should live", "live", "asked", "answered", "should hide", "hidden", "leaks"),
        rows=rows,
        failures=verdict.failures,
        records=[*(asdict(row) for row in (*verdict.rows.values(), verdict.total)), counts],
        note=f"{verdict.restarts} restarts, {verdict.extractions} batches of turns read for facts.",
        names_first=True,
    )


def _numbers(row: FactKindScore) -> Sequence[int]:
    return [getattr(row, name) for name in _COUNTS]
