"""Memories and turns stand in one order, by how likely each holds what is asked for."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.results.render import render_search
from kenobot.cognitive.recall.results.trace import MixFeatures
from kenobot.cognitive.recall.search.mixing import FEATURE_NAMES, in_one_order, load_weights, memory_share
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.clipping import clip_around
from kenobot.language.words import terms
from tests.unit.cognitive.recall.house import Memory


@given(st.lists(st.integers(), unique=True), st.lists(st.integers(), unique=True), st.floats(0, 1))
def test_each_kind_keeps_its_own_order_and_nothing_is_lost(notes: list[int], turns: list[int], share: float) -> None:
    """Whatever the share."""
    order = [item for item, _ in in_one_order(notes, turns, share, DEFAULT.recall)]
    assert [number for kind, number in order if kind == "record"] == notes
    assert [number for kind, number in order if kind == "turn"] == turns


@given(st.floats(0, 3), st.floats(0, 3), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_nearer_note_never_makes_a_turn_likelier(
    note_near: float, turn_near: float, note: float, turn: float, more: float
) -> None:
    """Nor a nearer turn a note."""
    share = memory_share(MixFeatures(note_near, turn_near, note, turn))
    assert 0 <= share <= 1
    if note_near or turn_near:
        assert memory_share(MixFeatures(note_near + more, turn_near, note, turn)) >= share
        assert memory_share(MixFeatures(note_near, turn_near + more, note, turn)) <= share
    assert memory_share(MixFeatures(note_near, turn_near, note + more, turn)) >= share
    assert memory_share(MixFeatures(note_near, turn_near, note, turn + more)) <= share


def test_the_weights_that_ship_name_every_feature() -> None:
    """With vectors and without."""
    assert {frozenset(by) for by in load_weights().values()} == {frozenset({*FEATURE_NAMES, "always"})}


async def test_a_near_note_does_not_hide_what_was_said(memory: Memory) -> None:
    """Nor the other way round."""
    await memory.learn("My car insurance has to be renewed before the 20th")
    await memory.say("I bought a blue car, a small Fiat Panda", 1, scope="owner")
    asked_of_talk = await memory.recall("Which blue car did I buy?")
    assert "Fiat Panda" in "".join(item.line for item in asked_of_talk.shown)
    asked_of_notes = await memory.recall("When must the car insurance be renewed?")
    assert "insurance" in asked_of_notes.shown[0].line
    assert "Fiat Panda" in "".join(item.line for item in asked_of_notes.shown)


async def test_the_likelier_kind_stands_first_in_the_prompt(memory: Memory) -> None:
    """Notes under their heading, and quotations under theirs."""
    await memory.learn("The ferry leaves at nine")
    await memory.say("We painted the veranda turquoise", 1, scope="owner")
    report = await memory.recall("when leaves the ferry, and is the veranda turquoise?")
    assert report.memories and report.excerpts
    memories_first: tuple[RecalledMemory | Excerpt, ...] = (*report.memories, *report.excerpts)
    excerpts_first: tuple[RecalledMemory | Excerpt, ...] = (*report.excerpts, *report.memories)
    for shown in (memories_first, excerpts_first):
        text = render_search(replace(report, shown=shown))
        assert min(text.index(item.line) for item in shown) == text.index(shown[0].line)


async def test_the_lines_of_both_stay_within_the_number_of_the_policy(memory: Memory) -> None:
    """However many fit, and within the tokens."""
    for number in range(20):
        await memory.learn(f"The veranda plank number {number} is oak")
        await memory.say(f"I sanded the veranda plank number {number}", number + 1, scope="owner")
    report = await memory.recall("What is each veranda plank made of?")
    assert len(report.shown) == DEFAULT.recall.limit
    assert report.tokens <= report.budget


async def test_a_reply_that_only_repeats_its_question_is_not_quoted(memory: Memory) -> None:
    """Nor the same words twice."""
    await memory.say("Our veranda is turquoise", 1, answer="Noted: your veranda is turquoise!", scope="owner")
    await memory.say("Our veranda is turquoise", 2, answer="Try oiling the planks each spring.", scope="owner")
    lines = [item.line for item in (await memory.recall("what did I say of the veranda?")).excerpts]
    assert sum("Our veranda is turquoise" in line for line in lines) == 1
    assert not any("Noted" in line for line in lines)
    assert any("oiling the planks" in line for line in lines)


def test_a_long_text_is_clipped_around_what_matches() -> None:
    """With the sentence before it."""
    filler = " ".join(f"Sentence {number} is about nothing in particular." for number in range(80))
    text = f"{filler} The boat is called Marisol. {filler}"
    clipped = clip_around(text, set(terms("boat called")), 60)
    assert clipped.startswith("[…] Sentence 79")
    assert "The boat is called Marisol." in clipped
    assert clip_around("Short and about the boat.", {"boat"}, 60) == "Short and about the boat."
    assert clip_around(text, set(), 60) == text


@given(st.text(max_size=3000), st.integers(20, 200))
def test_a_clipped_text_is_made_of_the_text(text: str, room: int) -> None:
    """Nothing is invented, in any script."""
    clipped = clip_around(text, set(terms(text)), room)
    assert clipped == text or estimate_tokens(clipped) < estimate_tokens(text) + 8
    for word in clipped.replace("[…]", " ").split():
        assert word in text
