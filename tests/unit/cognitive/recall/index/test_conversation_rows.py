"""Turns are ranked by more than their own words."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.index import conversation_rows
from kenobot.cognitive.recall.index.conversation_rows import IndexedTurn, TurnRow
from kenobot.cognitive.recall.results.trace import RecallTrace
from kenobot.cognitive.recall.scoring.weights import TALK_KINDS, TURN_PRIOR, TalkKind, turn_weights
from kenobot.storage import conversation, message_rows
from kenobot.storage.connection import Connection
from tests.unit.cognitive.recall.house import HERE, Memory

PAUSE = timedelta(hours=3)


async def talk_of(memory: Memory, *stretches: list[str], apart: timedelta = PAUSE) -> None:
    """Stretches of talk in a group, each line "Name: words"."""
    began = memory.now - len(stretches) * apart
    said = [
        ("user", line, began + at * apart + timedelta(seconds=second))
        for at, lines in enumerate(stretches)
        for second, line in enumerate(lines)
    ]

    def work(connection: Connection) -> None:
        conversation.import_history(connection, "telegram-1", said, "owner", HERE)  # type: ignore[arg-type]

    await memory.database.write(work)


async def _found(memory: Memory, text: str, **more: object) -> list[str]:
    pack = await memory.recall(text, **more)
    return [excerpt.turn.text for excerpt in pack.excerpts]


def _known(memory: Memory, messages: Iterable[int]) -> list[IndexedTurn]:
    """What the index knows of these messages in their talk."""
    none: list[TurnRow] = []
    rows = memory.index.read(lambda index: conversation_rows.turns_by_message(index, messages), none)
    return [*map(IndexedTurn._make, rows)]


async def test_what_stands_beside_the_words_is_found(memory: Memory) -> None:
    """The answer to a question shares no word with it; it follows."""
    await talk_of(memory, ["Ann: Which colour shall the veranda get?", "Bob: Turquoise, I think"], ["Ann: Buy bread"])
    found = await _found(memory, "what colour does the veranda get?")
    assert "Bob: Turquoise, I think" in found
    assert "Ann: Buy bread" not in found


async def test_the_one_who_is_named_speaks_first(memory: Memory) -> None:
    """Of two who say the same, the one the question is about."""
    await talk_of(memory, ["Ann: I adopted a parrot"], ["Bob: I adopted a parrot"])
    assert (await _found(memory, "What did Bob adopt, a parrot?"))[0] == "Bob: I adopted a parrot"
    assert (await _found(memory, "What did Ann adopt, a parrot?"))[0] == "Ann: I adopted a parrot"


async def test_the_first_words_of_each_after_a_pause_tell_what_is_new(memory: Memory) -> None:
    """Two people open a talk; with the assistant one does."""
    await talk_of(memory, ["Ann: My parrot sings", "Bob: My parrot talks", "Ann: A parrot that talks"])
    await memory.say("my parrot sleeps", 9, answer="What a parrot, it sleeps!")
    trace = RecallTrace()
    await memory.recall("which parrot?", trace=trace)
    opens = {number: item.features["opens"] for (_, number), item in trace.ranked.items()}
    assert [opens[number] for number in (1, 2, 3, 4, 5)] == [1, 1, 0, 1, 0]


async def test_a_turn_is_found_by_another_form_of_its_word(memory: Memory) -> None:
    """No stem tells that "bought" is of "buy", nor "hice" of "hacer"."""
    await talk_of(memory, ["Ann: I bought a lute", "Bob: Ayer hice tortilla", "Ann: The weather stays fine all week"])
    assert (await _found(memory, "Who wants to buy something?"))[0] == "Ann: I bought a lute"
    assert (await _found(memory, "¿Quién quiere hacer algo?"))[0] == "Bob: Ayer hice tortilla"


async def test_of_turns_about_the_same_the_one_that_says_what_no_other_says_comes_first(memory: Memory) -> None:
    """Words that most turns have tell little."""
    plain, rare = "Ann: The parrot likes the garden today", "Ann: The parrot likes Barcelona, mangoes, gospel"
    hello = [f"Bob: The garden today, friend {number}" for number in range(4)]
    await talk_of(memory, ["Bob: Hello", plain, *hello], ["Bob: Hello", rare, *hello])
    trace = RecallTrace()
    assert (await _found(memory, "what does the parrot like?", trace=trace))[0] == rare
    counts = {number: trace.ranked["turn", number].features["rare"] for number in (2, 8)}
    assert counts[2] < counts[8]


async def test_a_word_of_most_turns_raises_none_of_them_beside_a_rare_one(memory: Memory) -> None:
    """They are candidates where no rarer word is asked for."""
    await talk_of(memory, *([f"Ann: The veranda, day {day}"] for day in range(20)), ["Bob: Veranda and pergola"])
    policy = replace(DEFAULT, recall=replace(DEFAULT.recall, turn_list=5, stretches=1))
    for text, wanted in (("the veranda and the pergola?", 1), ("the veranda?", 5)):
        trace = RecallTrace()
        await memory.recall(text, trace=trace, policy=policy)
        assert len(trace.ranked) == wanted


async def test_a_question_is_worth_less_than_a_statement(memory: Memory) -> None:
    """It asks for what is asked."""
    await talk_of(memory, ["Ann: Has the boiler a new valve?"], ["Ann: The boiler has a new valve"])
    assert (await _found(memory, "the boiler valve"))[0] == "Ann: The boiler has a new valve"


@pytest.mark.parametrize("text", ["What did Ann cook last month?", "¿Qué cocinó Ann el mes pasado? cook"])
async def test_the_days_that_a_question_means_come_first(memory: Memory, text: str) -> None:
    """In both languages, counted from the day it is asked."""
    await talk_of(
        memory, ["Ann: I cook lentils"], ["Ann: I cook rice"], ["Ann: I cook beans"], apart=timedelta(days=40)
    )
    memory.now += timedelta(days=5)
    assert (await _found(memory, text))[0] == "Ann: I cook beans"


async def test_talk_is_cut_where_it_rests(memory: Memory) -> None:
    """Half an hour makes another stretch, also where the index is made from behind."""
    await talk_of(memory, ["Ann: Hello dear neighbour", "Bob: Hello dear friend"], ["Ann: The tram is late"])
    await memory.recall("tram?")
    turns = _known(memory, range(1, 4))
    assert [(turn.segment, turn.position, turn.speaker) for turn in turns] == [
        (1, 0, "ann"),
        (1, 1, "bob"),
        (3, 0, "ann"),
    ]


async def test_an_index_filled_from_behind_knows_the_same_stretches(memory: Memory) -> None:
    """The newest are indexed first; where a stretch began is told from the messages."""
    await talk_of(memory, [f"Ann: word number {at} of a long talk" for at in range(349)], ["Bob: The end is near"])
    await memory.database.read(memory.index.catch_up)
    while await memory.database.read(lambda connection: memory.index.index_backlog(connection, 7)):
        pass
    turns = _known(memory, range(1, 351))
    assert len(turns) == 350
    assert turns[-1].segment == 350 and turns[-1].position == 0
    assert max(turn.position for turn in turns) < 64
    assert all(turn.message - turn.segment == turn.position for turn in turns)


async def test_what_is_gone_leaves_the_talk(memory: Memory) -> None:
    """An erased message is not known by whom and when it was said either."""
    await talk_of(memory, ["Ann: My secret garden"])
    await memory.recall("garden?")

    def erase(connection: Connection) -> None:
        connection.execute("DELETE FROM message WHERE id = 1")

    await memory.database.write(erase)

    await memory.database.read(
        lambda truth: memory.index.write_derived(
            truth,
            lambda index: conversation_rows.write_turns(index, truth, [1], message_rows.messages_by_id(truth, [1])),
        )
    )
    assert _known(memory, [1]) == []


async def test_a_trace_tells_what_became_of_everything(memory: Memory) -> None:
    """Places, scores and their parts, and why what is not shown is not."""
    await talk_of(memory, ["Ann: The veranda is turquoise", "Bob: The veranda is lovely"])
    trace = RecallTrace()
    here = {"session": "telegram-1", "from_message": 2}
    pack = await memory.recall("is the veranda turquoise?", trace=trace, excerpt_limit=1, **here)
    assert [excerpt.turn.id for excerpt in pack.excerpts] == [1]
    assert trace.turns_searched and trace.ranked["turn", 1].rank == 1
    assert trace.ranked["turn", 1].features.keys() == {*TURN_PRIOR, "relevance"}
    assert trace.dropped["turn", 2] == "on show as a turn"


@pytest.mark.parametrize("by_meaning", [True, False])
@pytest.mark.parametrize("kind", TALK_KINDS)
def test_the_weights_that_ship_are_near_the_round_ones(kind: TalkKind, by_meaning: bool) -> None:
    """They were learned on little: what they are drawn towards holds them."""
    found = turn_weights(kind, by_meaning=by_meaning)
    assert found.keys() == TURN_PRIOR.keys()
    assert all(abs(weight - TURN_PRIOR[name]) < 2 for name, weight in found.items())
    assert found != TURN_PRIOR


async def test_the_words_of_a_person_come_before_a_long_reply_of_the_assistant_that_has_them_too(
    memory: Memory,
) -> None:
    """A reply of five hundred words holds every word of the question, and repeats what was asked."""
    reply = "Great! The veranda, a parasol and a carpet: " + "choose what suits the veranda and the parasol. " * 60
    await memory.say("the veranda got a parasol for 80 euros", 1, answer=reply)
    quoted = await _found(memory, "what did I pay for the parasol of the veranda?")
    assert quoted[0] == "the veranda got a parasol for 80 euros"


@pytest.mark.parametrize(
    ("wish", "asked"),
    [
        ("Always use metric units for cake recipes", "how do I bake a cake?"),
        ("Prefiero las recetas de tarta sin azucar", "¿cómo hago una tarta?"),
    ],
)
async def test_what_is_always_to_be_comes_first_when_help_is_asked_for(memory: Memory, wish: str, asked: str) -> None:
    """What was said of the same in passing comes after."""
    other = wish.replace("Always use", "We read about").replace("Prefiero", "Vimos")
    await memory.say(wish, 1, answer="ok")
    for number in range(2, 4):
        await memory.say(other, number, answer="ok")
    assert (await _found(memory, asked))[0] == wish


async def test_a_segment_in_which_speakers_are_named_is_ranked_as_talk_of_people(memory: Memory) -> None:
    """Though the assistant takes part in it; a private one is not."""
    await talk_of(memory, ["Ann: The veranda is turquoise", "Bob: Lovely"])
    await memory.say("the veranda of my aunt is green", 9, "telegram-1", answer="A green veranda!")
    trace = RecallTrace()
    await memory.recall("which colour has the veranda?", trace=trace)
    for (kind, number), item in trace.ranked.items():
        assert kind == "turn"
        weights = turn_weights("people" if number <= 2 else "assistant", by_meaning=False)
        assert item.score == pytest.approx(sum(weights[name] * item.features[name] for name in weights))


@pytest.mark.parametrize(
    "text",
    [
        "Next: buy milk for the veranda",
        "Plan for the veranda: turquoise",
        "Got it. Day 3-4: the veranda",
        "Lista: pintar la veranda",
        "Ana dice: la veranda",
        "error: veranda not found",
        "Ann (owner, id 7): the veranda",
    ],
)
async def test_a_private_chat_has_no_speakers(memory: Memory, text: str) -> None:
    """What stands before a colon is part of the message, and its talk is with the assistant."""
    await memory.say(text, 1, scope="owner", answer="Done: the veranda.")
    trace = RecallTrace()
    assert text in await _found(memory, "what about the veranda?", trace=trace)
    assert {turn.speaker for turn in _known(memory, (1, 2))} == {""}
    assert trace.ranked["turn", 2].features["opens"] == 0, "among people the first two open a talk"


@pytest.mark.parametrize("text", ["Ann (guest, id 7): buy milk", "Ann: buy milk"])
async def test_the_talk_of_a_group_keeps_its_speakers(memory: Memory, text: str) -> None:
    """Named by the runtime, or as an import brought them; the assistant's own lines have none."""
    await memory.say(text, 1, scope=HERE, answer="Noted: milk.")
    await memory.recall("milk?")
    assert [turn.speaker for turn in _known(memory, (1, 2))] == ["ann", ""]


@pytest.mark.parametrize("people", [True, False])
async def test_one_session_with_the_assistant_does_not_take_all_places(memory: Memory, *, people: bool) -> None:
    """A turn of another session comes before the last of a better one; among people answers may follow each other."""
    rooms = ("hall", "attic", "cellar", "garden", "office", "stairs")
    one = [f"{'Ann: ' if people else ''}Plan the veranda and its paint with the {room}" for room in rooms]
    other = f"{'Bob: ' if people else ''}Paint was bought in spring in a shop by the river, and a brush with it"
    await talk_of(memory, one, [other])
    found = await _found(memory, "go on with the veranda's paint")
    assert (found.index(other) == len(rooms)) is people
