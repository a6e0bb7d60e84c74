"""What background workers compute, they compute in a thread of their own: the event loop's serves every chat."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from kenobot.cognitive.background import compaction, extraction
from kenobot.cognitive.recall.index.vector_sync import VectorSync
from kenobot.language.facts import heuristic
from kenobot.language.summary import rule_summary
from kenobot.language.summary import self_check as gaps
from tests.scene import Scene
from tests.unit.cognitive.background.extraction_talk import Minds, lyon
from tests.unit.cognitive.recall.embedded_house import house

P = ParamSpec("P")
T = TypeVar("T")


def threads_of(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> set[str]:
    """Note the threads in which a function is called."""
    seen: set[str] = set()

    def noting(function: Callable[P, T]) -> Callable[P, T]:
        def call(*args: P.args, **more: P.kwargs) -> T:
            seen.add(threading.current_thread().name)
            return function(*args, **more)

        return call

    monkeypatch.setattr(module, name, noting(getattr(module, name)))
    return seen


async def test_a_summary_by_rules_and_its_check_keep_the_event_loop_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the part that says whose words a line repeats."""
    seen = [
        threads_of(monkeypatch, rule_summary, "summarize"),
        threads_of(monkeypatch, compaction, "trust_of"),
        threads_of(monkeypatch, gaps, "find_gaps"),
    ]
    environ = {"PromptLimits.history_min": 2, "PromptLimits.history_max": 10}
    async with Scene(tmp_path, ["ok"], environ=environ) as scene:
        for number in range(20):
            await scene.say(f"On 2026-03-{number + 1:02} we decided to paint room {number} green.")
    assert seen == [{"kenobot-background"}] * 3


async def test_extraction_by_rules_keeps_the_event_loop_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact told in one message is found in the background's thread, and kept in the writer's."""
    found = threads_of(monkeypatch, heuristic, "read_messages")
    asked = threads_of(monkeypatch, heuristic, "may_end_something")
    kept = threads_of(monkeypatch, extraction, "admit_isolated")
    async with Scene(tmp_path, ["ok"], extraction=True) as scene:
        await scene.say("Remember that my name is Marta.")
    assert found == asked == {"kenobot-background"}
    assert kept == {"kenobot-writer"}


async def test_vectors_are_put_among_the_others_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now and then all of them are copied for it."""
    pytest.importorskip("numpy")
    seen = threads_of(monkeypatch, VectorSync, "add_vectors")
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
    assert seen
    assert threading.main_thread().name not in seen


async def test_a_models_answer_is_parsed_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it is, no chat waits for it."""
    seen = threads_of(monkeypatch, extraction, "parse_facts")
    async with Scene(tmp_path, provider=Minds(lyon), extraction=True) as scene:
        await scene.say("Recuerda que vivo en Lyon")
    assert seen == {"kenobot-background"}
