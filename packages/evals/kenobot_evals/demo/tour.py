"""Show the story step by step, wait for its reader, and record the tour."""

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from kenobot_evals.demo import record as recording
from kenobot_evals.demo.play import StepResult, play_act
from kenobot_evals.demo.show import DisplayStyle, act_opening, as_json, as_text
from kenobot_evals.demo.story import Act, Story
from kenobot_evals.page_marks import replace_between_marks, write_file

MARK = "demo"
WIDTH = 100
_SHORT = "strong"  # the wording that a page shows


@dataclass(slots=True)
class Tour:
    """Prints the steps and keeps them for a recording.

    as_json: steps are printed as objects instead of text.
    record: file of the recording.
    page: file whose marked part shows the short form.
    keep: folder in which the homes are kept.
    pauses: a step waits for its reader, or for `seconds`.
    """

    style: DisplayStyle
    as_json: bool = False
    record: str | None = None
    page: str | None = None
    keep: str | None = None
    pauses: bool = False
    seconds: float | None = None
    _pages: list[str] = field(default_factory=list)
    _steps: dict[str, tuple[Act, list[StepResult]]] = field(default_factory=dict)

    def begin(self, act: Act) -> None:
        self._show(lambda style: act_opening(act, style))

    def step(self, act: Act, result: StepResult) -> bool:
        """Show a step; whether its reader wants to see the next."""
        self._steps.setdefault(act.name, (act, []))[1].append(result)
        if self.as_json:
            print(json.dumps(as_json(act, result, self.style.language), ensure_ascii=False), flush=True)
        self._show(lambda style: as_text(result, style))
        return not self.pauses or result.number == result.step_count or self._pause()

    def end(self, *, passed: bool) -> None:
        """Show the last words, and write the recording and the short form."""
        if passed:
            self._show(lambda style: style.label("over"))
        if self.record:
            write_file(self.record, recording.asciinema_cast(self._pages, WIDTH, "kenobot demo"))
        if self.page and (kept := self._steps.get(_SHORT) or next(iter(self._steps.values()), None)):
            excerpt = recording.page_excerpt(*kept, replace(self.style, colour=False))
            replace_between_marks(MARK, self.page, excerpt)

    def _show(self, page: Callable[[DisplayStyle], str]) -> None:
        if self.record:
            self._pages.append(page(replace(self.style, colour=True, width=WIDTH)))
        if not self.as_json:
            print(page(self.style), flush=True)

    def _pause(self) -> bool:
        """Wait; whether to go on."""
        if self.seconds is not None:
            time.sleep(self.seconds)
            return True
        try:
            answer = input(self.style.paint(self.style.label("next"), "dim"))
        except EOFError:
            return False
        return not answer.strip().lower().startswith("q")


def play_tour(story: Story, tour: Tour, *, skip_quiet_nights: bool) -> int:
    """Play every act; returns how many things were not as the story says. The loop rests while a reader reads."""
    failures = 0
    seen_to_the_end = True
    made = contextlib.nullcontext(tour.keep) if tour.keep else tempfile.TemporaryDirectory(prefix="kenobot-demo-")
    with asyncio.Runner() as runner, made as folder:
        for act in story.acts:
            tour.begin(act)
            steps = play_act(story, act, Path(folder) / act.name, skip_quiet_nights=skip_quiet_nights)
            try:
                while seen_to_the_end and (result := runner.run(_take_next(steps))) is not None:
                    failures += len(result.failures)
                    seen_to_the_end = tour.step(act, result)
            finally:
                runner.run(steps.aclose())
            if not seen_to_the_end:
                break
    tour.end(passed=seen_to_the_end and not failures)
    return failures


async def _take_next(steps: AsyncGenerator[StepResult, None]) -> StepResult | None:
    return await anext(steps, None)
