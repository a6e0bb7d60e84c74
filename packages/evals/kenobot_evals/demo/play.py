"""Play an act of the story in a folder of its own, and record after each step what was shown and what changed."""

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kenobot.cognitive.memory import DEFAULT, Inspection, Nights
from kenobot.core import lazy
from kenobot.gateway.access import Roster
from kenobot.ports.identity import OWNER_SCOPE, chat_scope, session_id
from kenobot.ports.nights import ChangeReport, NightReport
from kenobot.ports.provider import Request
from kenobot.ports.recall import PatternMatch
from kenobot.storage.connection import Connection
from kenobot_evals.demo.story import Act, DemoStep, Story
from kenobot_testing.prompt_parts import memory_frame, runtime_blocks
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation

_RECORD_FILES = "facts"  # the folder with a file for each record
_IDENTITY = "identity/"
_NIGHTS = 400
_SCORED = 100  # patterns of which the best fit is shown
_BLANK = lazy.regex(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of the memory folder that changed. before, after: its text; None where it was or is not there.

    moved_to: where all of it went.
    """

    path: str
    before: str | None
    after: str | None
    moved_to: str = ""


@dataclass(frozen=True, slots=True)
class SleepSummary:
    """The nights since the step before.

    with_changes: those that changed something, oldest first, each with its decisions.
    """

    nights: int = 0
    with_changes: tuple[tuple[NightReport, tuple[tuple[str, ChangeReport], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step that has happened. memory: what the prompt showed of it. answer: what the person read.

    tree: the memory folder now, without record files and identity; files: what changed in it; changed_record_files:
    how many of those did. failures: what is not as the story says, a sentence each.
    """

    number: int
    step_count: int
    step: DemoStep
    memory: str
    answer: str
    pattern_matches: tuple[PatternMatch, ...]
    sleep: SleepSummary
    tree: Mapping[str, str]
    files: tuple[FileChange, ...]
    changed_record_files: int
    failures: tuple[str, ...]


async def play_act(
    story: Story, act: Act, folder: Path, *, skip_quiet_nights: bool = False
) -> AsyncGenerator[StepResult, None]:
    """Play `act` in `folder`, step by step.

    skip_quiet_nights: of the nights between the steps only the last one happens.
    """
    reply = ""
    model = ScriptedProvider(lambda _: reply, name="rehearsed", keep=1)
    house = Simulation(
        folder,
        model,
        Roster.of(story.owners, story.users),
        start=story.start,
        channels=dict.fromkeys(step.who.channel for step in act.steps if step.who is not None),
        config=story.config,
        files=story.files,
    )
    async with house:
        before, nights = dict[str, str](), 0
        for number, step in enumerate(act.steps, 1):
            await _pass_time(house, story, step, brisk=skip_quiet_nights)
            reply = step.reply
            answer = await house.say_as(step.who, step.says) if step.who is not None else ""
            slept = await house.app.database.read(partial(_nights, last=nights))
            nights += slept.nights
            after = house.files()
            memory = _memory(model.requests[-1]) if step.says and model.requests else ""
            fits = await _fits(house, step)
            yield StepResult(
                number=number,
                step_count=len(act.steps),
                step=step,
                memory=memory,
                answer=answer,
                pattern_matches=fits,
                sleep=slept,
                tree={path: text for path, text in after.items() if not _is_aside(path)},
                files=_compare_files(before, after),
                changed_record_files=sum(
                    before.get(path) != after.get(path) for path in before.keys() | after if _is_card(path)
                ),
                failures=tuple(
                    f"{step.at:%d %B %H:%M}: {failure}"
                    for expect in step.expect
                    for failure in expect.unmet(memory, after, fits[0].score if fits else 0.0)
                ),
            )
            before = after


async def _pass_time(house: Simulation, story: Story, step: DemoStep, *, brisk: bool) -> None:
    """Play until the step, with its nights; or go there at once, and sleep there if the step is about that."""
    if step.off:
        await house.stop_until(step.at)
    if brisk or step.off:
        house.advance_to(step.at)
        if step.night:
            await house.run_schedule()
    else:
        await house.run_until(step.at, story.schedule_interval)


def _memory(request: Request) -> str:
    """Return what of a prompt comes from memory, without the instructions about tags."""
    blocks = [memory_frame(request), *runtime_blocks(request.messages)]
    return _BLANK.sub("\n\n", "\n\n".join(block.strip() for block in blocks)).strip()


# ── what sleep did ───────────────────────────────────────────────────────────────────────────────────────────────────


def _nights(connection: Connection, *, last: int) -> SleepSummary:
    """Return the nights after the first `last` ones."""
    runs = [run for run in reversed(Nights.list_newest(connection, _NIGHTS)) if run.id > last]
    reports = [Nights.report(connection, run, DEFAULT) for run in runs]
    told = [(each, tuple(_decisions(each))) for each in reports]
    return SleepSummary(len(runs), tuple((each, deeds) for each, deeds in told if deeds))


def _decisions(told: NightReport) -> Iterator[tuple[str, ChangeReport]]:
    """Return what a night decided about memory, each with its pass: bookkeeping aside."""
    for account in told.passes:
        yield from (
            (account.result.name, deed) for deed in account.shown_changes if deed.is_change or deed.kind == "proposed"
        )


async def _fits(house: Simulation, step: DemoStep) -> tuple[PatternMatch, ...]:
    """Return the patterns that fit what was said, best first, within what the speaker may know."""
    who = step.who
    if who is None:
        return ()
    chat = chat_scope(session_id(who.channel, who.chat))
    reach = (OWNER_SCOPE, chat) if who.user in house.roster.owners else (chat,)
    return tuple(await house.app.database.read(lambda one: Inspection.match_patterns(one, reach, step.says, _SCORED)))


# ── what became of the files ─────────────────────────────────────────────────────────────────────────────────────────


def _is_card(path: str) -> bool:
    return _RECORD_FILES in path.split("/")[:-1]


def _is_aside(path: str) -> bool:
    return _is_card(path) or path.startswith(_IDENTITY)


def _compare_files(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
    """Return what changed but the record files, by path; a file that went elsewhere as it was is one change."""
    paths = sorted(path for path in before.keys() | after if before.get(path) != after.get(path))
    shown = [path for path in paths if not _is_aside(path)]
    arrived = {after[path]: path for path in shown if path not in before}
    moved = {path: arrived[before[path]] for path in shown if path not in after and before[path] in arrived}
    return tuple(
        FileChange(path, before.get(path), after.get(path), moved.get(path, ""))
        for path in shown
        if path not in moved.values()
    )
