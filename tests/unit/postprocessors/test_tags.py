"""What each of the six tags writes into a turn."""

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import NoSettings, Plugin, PluginContext
from kenobot.ports.postprocessor import Element, PostProcessor
from kenobot.postprocessors.tags import (
    bootstrap_complete,
    chat_context,
    chat_memory,
    memory,
    user_update,
    working_memory,
)
from kenobot_testing.clock import ManualClock
from kenobot_testing.postprocessor import RecordingTurn


def built(plugin: Plugin[NoSettings, Any]) -> PostProcessor:
    processor: PostProcessor = plugin.build(NoSettings(), PluginContext(Path("home"), ManualClock(), "Kenobot"))
    return processor


PLUGINS = (memory, chat_memory, working_memory, user_update, chat_context, bootstrap_complete)
TAGS = {processor.name: processor for processor in (built(plugin) for plugin in PLUGINS)}
GUEST = Principal(role="guest", read_scopes=("user:telegram-7",), write_scope="user:telegram-7", trust="forward")


def written(name: str, *contents: str) -> list[Candidate]:
    turn = RecordingTurn("telegram-42", GUEST)
    processor = TAGS[name]
    processor.apply(processor.extract([Element(name, content) for content in contents]), turn)
    return turn.admitted


def test_memory_is_a_note_where_the_speaker_may_write() -> None:
    """A fact goes to the principal's scope, with the principal's trust."""
    assert written("memory", " a ", "", "b") == [
        Candidate(form="note", scope="user:telegram-7", text="a", trust="forward"),
        Candidate(form="note", scope="user:telegram-7", text="b", trust="forward"),
    ]


def test_chat_memory_is_an_episode_of_this_chat() -> None:
    """What matters only here stays here."""
    assert written("chat-memory", "a") == [
        Candidate(form="episode", scope="chat:telegram-42", text="a", trust="forward")
    ]


def test_working_memory_replaces_the_scratchpad() -> None:
    """The last scratchpad that is not blank counts."""
    assert written("working-memory", "a", "b", " ") == [
        Candidate(form="scratchpad", scope="chat:telegram-42", text="b", slot="working", trust="forward")
    ]


def test_user_update_is_a_preference() -> None:
    """How somebody wants to be treated is a note of its own category."""
    assert written("user-update", "a", "b") == [
        Candidate(form="note", scope="user:telegram-7", text=text, category="preference", trust="forward")
        for text in ("a", "b")
    ]
    assert TAGS["user-update"].tags == ("user-update", "user", "update-preferences")


def test_chat_context_replaces_the_description_of_the_chat() -> None:
    """The last description that is not blank counts."""
    assert written("chat-context", "a", "b") == [
        Candidate(form="profile", scope="chat:telegram-42", text="b", slot="context", trust="forward")
    ]


def test_bootstrap_complete_ends_onboarding_once() -> None:
    """However often it is written, it is one item, and it admits nothing."""
    processor = TAGS["bootstrap-complete"]
    items = processor.extract([Element("bootstrap-complete", "")] * 3)
    turn = RecordingTurn()
    processor.apply(items, turn)
    assert items == ("bootstrap-complete",)
    assert turn.bootstrap_ended
    assert turn.admitted == []


@pytest.mark.parametrize("name", TAGS)
def test_each_tag_comes_in_by_its_entry_point(name: str) -> None:
    """The first-party tags use the same door as anybody's."""
    points = importlib.metadata.entry_points(group="kenobot.postprocessors", name=name)
    if not points:
        pytest.skip("the package was installed before this entry point existed")
    assert built(next(iter(points)).load()).name == name
