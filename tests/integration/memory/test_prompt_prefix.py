"""When the frozen beginning of a prompt is made anew: when it or the log behind it is no longer true, and only then."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import change
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.provider import Block
from kenobot.storage.connection import Connection
from kenobot_testing.provider import ScriptedProvider
from tests.scene import Scene
from tests.unit.cognitive.recall.house import insert

_SMALL = {"KENOBOT_CONTEXT__MEMORY_TOKENS": "600"}  # so that a frame has no room for most of it
_REACH = ("owner",)
_OLD = "The plumber is called Ignacio Ferrer"


async def _crowded(scene: Scene, many: int = 300) -> list[int]:
    """Memories over half a year, the oldest first, and one that is older still and about a plumber; their ids."""

    def work(connection: Connection) -> list[int]:
        found = [insert(connection, _OLD, {}, scene.clock.now() - timedelta(days=300), quietly=True)]
        for number in range(many):
            text = f"Note {number}: the {number % 97}th thing about garden tools, invoices and weather"
            at = scene.clock.now() - timedelta(days=180 * (1 - number / many))
            found.append(insert(connection, text, {}, at, quietly=True))
        return found

    ids = await scene.app.database.write(work)
    await scene.app.indexer.index_all()
    return ids


async def _change(scene: Scene, ids: Sequence[int], **values: str | float) -> None:
    """As a night changes records: a decision for each."""

    def work(connection: Connection) -> None:
        for record in records.by_ids(connection, ids, _REACH).values():
            change(connection, record, "mended", values, ChangeContext(scene.clock.now(), "sleep"))

    await scene.app.database.write(work)
    await scene.app.indexer.index_all()


def _frames(scene: Scene) -> list[Sequence[Block]]:
    """The frozen beginning of each prompt."""
    assert isinstance(scene.provider, ScriptedProvider)
    return [request.system for request in scene.provider.requests]


async def test_a_night_among_what_is_not_shown_leaves_the_frame_alone(tmp_path: Path) -> None:
    """Two hundred changes of older notes make no new beginning, and a later look starts behind them."""
    async with Scene(tmp_path, ["ok"], environ=_SMALL) as scene:
        ids = await _crowded(scene)
        await scene.say("good morning to you my friend")
        for importance in (0.6, 0.7, 0.8):
            await _change(scene, ids[:200], importance=importance)
        await scene.say("I had a coffee just now")
        ((last_event, newest),) = await scene.rows(
            "SELECT last_event, (SELECT max(changed_event) FROM record) FROM prompt_prefix"
        )
        first, second = _frames(scene)
    assert first == second
    assert int(str(last_event)) >= int(str(newest))


async def test_a_change_of_what_the_frame_shows_makes_a_new_one(tmp_path: Path) -> None:
    """The newest note stands in the frame; corrected, it stands there as it is now."""
    async with Scene(tmp_path, ["ok"], environ=_SMALL) as scene:
        newest = (await _crowded(scene))[-1]
        await scene.say("good morning to you my friend")
        await _change(scene, [newest], text="Note 299: the rake was sold")
        await scene.say("I had a coffee just now")
    assert "Note 299: the 8th thing" in scene.requests[0]
    assert "Note 299: the 8th thing" not in scene.requests[1]
    assert "Note 299: the rake was sold" in scene.requests[1]


@pytest.mark.parametrize("values", [{"text": "The plumber is called Rosa Vidal"}, {"status": "forgotten"}])
async def test_a_change_of_what_was_recalled_earlier_leaves_the_frame_alone(
    tmp_path: Path, values: dict[str, str]
) -> None:
    """What was recalled for a message is not sent again once it changed, and that makes no new beginning."""
    async with Scene(tmp_path, ["ok"], environ=_SMALL) as scene:
        plumber = (await _crowded(scene))[0]
        await scene.say("good morning to you my friend")
        await scene.say("how is the plumber called?")
        await scene.say("I had a coffee just now")
        await _change(scene, [plumber], **values)
        await scene.say("I had another coffee")
        first, *_, last = _frames(scene)
    assert [_OLD in prompt for prompt in scene.requests] == [False, True, True, False]
    assert first == last


async def test_a_quotation_goes_when_what_it_told_was_taken_back(tmp_path: Path) -> None:
    """A turn that was quoted is not sent again once the memory learned from it is forgotten."""
    told = "turquoise heron, what a name for the wifi of a cabin"
    async with Scene(tmp_path, ["ok"], environ=_SMALL, owners=("1", "2")) as scene:
        await _crowded(scene)
        await scene.say(told)
        ((inbox,),) = await scene.rows("SELECT max(id) FROM inbox")
        evidence = {"source_messages": f"[{inbox}]"}
        learned = await scene.app.database.write(
            lambda c: insert(c, "There is a network", evidence, scene.clock.now() - timedelta(days=200))
        )
        for number in range(40):
            await scene.put(f"small talk number {number} of today", "1")
        await scene.app.loop.wait_idle()
        scene.clock.advance(7200)  # type: ignore[attr-defined]
        await scene.say("good morning again my friend")
        await scene.say("which heron was it, turquoise?")
        await scene.say("I had a coffee just now")
        await _change(scene, [learned], status="forgotten")
        await scene.say("I had another coffee")
        shown = [told in prompt for prompt in scene.requests[-3:]]
    assert shown == [True, True, False]


async def test_where_nothing_is_searched_for_every_change_counts(tmp_path: Path) -> None:
    """A small memory is shown whole: what comes back to it stands in the next prompt."""
    async with Scene(tmp_path, ["ok"]) as scene:
        hidden = {"status": "archived"}
        record = await scene.app.database.write(
            lambda c: insert(c, _OLD, hidden, scene.clock.now() - timedelta(days=9), quietly=True)
        )
        await scene.say("good morning to you my friend")
        await _change(scene, [record], status="active")
        await scene.say("I had a coffee just now")
    assert [_OLD in prompt for prompt in scene.requests] == [False, True]


async def test_what_is_new_is_told_beside_the_message(tmp_path: Path) -> None:
    """And the frame stays, among changes of others."""
    async with Scene(tmp_path, ["ok"], environ=_SMALL) as scene:
        ids = await _crowded(scene)
        await scene.say("good morning to you my friend")
        await scene.app.database.write(lambda c: insert(c, "Ana moved to Cusco", {}, scene.clock.now()))
        await _change(scene, ids[:50], importance=0.6)
        await scene.say("I had a coffee just now")
        first, second = _frames(scene)
    assert first == second
    assert "Ana moved to Cusco" in scene.requests[1]


# ── preferences and the chat's context ───────────────────────────────────────────────────────────────────────────────

_SHORT, _FORMAL = "Prefers short answers", "Prefiere que se le hable de usted"


def _note(scene: Scene, at: int = -1) -> str:
    """What the runtime put beside the newest message of a prompt, before its words."""
    assert isinstance(scene.provider, ScriptedProvider)
    blocks = scene.provider.requests[at].messages[-1].text_blocks
    return "\n".join(
        block.text for block in takewhile(lambda block: block.text.startswith("<kenobot-context>"), blocks)
    )


def _sent(scene: Scene) -> list[list[str]]:
    """The blocks of each prompt but its tail, which goes with its message."""
    assert isinstance(scene.provider, ScriptedProvider)
    sent = []
    for request in scene.provider.requests:
        *blocks, last = (block for message in request.messages for block in message.text_blocks)
        kept = (*request.system, *blocks, *([last] if last.cache else []))
        sent.append([block.text for block in kept])
    return sent


async def _talk(scene: Scene, *texts: str) -> None:
    for text in texts:
        await scene.say(text)
        await scene.app.memory_files.sync_out()


async def test_what_a_tag_changes_of_preferences_and_context_breaks_no_prompt(tmp_path: Path) -> None:
    """Every prompt begins with all of the one before, byte for byte: a provider reads only the new again."""
    replies = [
        f"Vale. <user-update>{_SHORT}</user-update>",
        "Good. <chat-context>A chat about boats</chat-context>",
        f"Yes. <user-update>{_FORMAL}</user-update><chat-context>A chat about boats and engines</chat-context>",
        "Fine.",
    ]
    async with Scene(tmp_path, replies) as scene:
        await _talk(scene, "one", "two", "three", "four", "five")
        prompts = _sent(scene)
        for before, after in pairwise(prompts):
            assert after[: len(before)] == before
        assert _SHORT in _note(scene, 1)
        assert "### Chat context\nA chat about boats" in _note(scene, 2)
        assert _SHORT not in _note(scene, 2)
        assert _FORMAL in _note(scene, 3)
        assert "boats and engines" in _note(scene, 3)
        assert _note(scene, 4) == ""


async def test_a_new_beginning_holds_preferences_and_context_as_they_are(tmp_path: Path) -> None:
    """The notes of the beginning before are gone."""
    replies = [f"Vale. <user-update>{_SHORT}</user-update><chat-context>A chat about boats</chat-context>", "Fine."]
    async with Scene(tmp_path, replies) as scene:
        await _talk(scene, "one", "two")
        scene.clock.advance(7200)  # type: ignore[attr-defined]
        await _talk(scene, "three")
        who, memory = (block.text for block in _frames(scene)[-1])
        assert _SHORT in who
        assert "### Chat context\nA chat about boats" in memory
        assert [_SHORT in text for text in _sent(scene)[-1]].count(True) == 1


@pytest.mark.parametrize("noted", [False, True])
async def test_a_preference_that_goes_leaves_the_next_prompt(tmp_path: Path, *, noted: bool) -> None:
    """Forgotten, or taken from the file by hand: from the beginning as from a note."""
    replies = [f"Vale. <user-update>{_SHORT}</user-update>", f"Bien. <user-update>{_FORMAL}</user-update>", "Fine."]
    async with Scene(tmp_path, replies) as scene:
        await _talk(scene, "one", "two", "three")
        if not noted:
            scene.clock.advance(7200)  # type: ignore[attr-defined]
            await _talk(scene, "four")
        ((number,),) = await scene.rows(f"SELECT id FROM record WHERE text = '{_SHORT}'")
        await scene.say(f"/forget #{number}")
        await _talk(scene, "five")
        assert not any(_SHORT in text for text in _sent(scene)[-1])
        file = scene.home.identity / "preferences.md"
        file.write_text(file.read_text("utf-8").replace(f"- learned: {_FORMAL}", ""), "utf-8")
        await _talk(scene, "six")
        assert not any(_FORMAL in text for text in _sent(scene)[-1])


async def test_a_preference_that_a_person_adds_is_noted_and_one_that_they_reword_is_not(tmp_path: Path) -> None:
    """What stands in the beginning is never untrue."""
    files = {"identity/preferences.md": f"# Preferences\n\n- {_SHORT}\n"}
    async with Scene(tmp_path, ["ok"], files=files) as scene:
        await _talk(scene, "one")
        file = scene.home.identity / "preferences.md"
        file.write_text(f"{file.read_text('utf-8')}- {_FORMAL}\n", "utf-8")
        await _talk(scene, "two", "three")
        assert _frames(scene)[0] == _frames(scene)[1] == _frames(scene)[2]
        assert _FORMAL in _note(scene, 1)
        assert _note(scene, 2) == ""
        file.write_text(file.read_text("utf-8").replace("short", "long"), "utf-8")
        await _talk(scene, "four")
        assert "Prefers long answers" in _frames(scene)[-1][0].text
        assert not any(_SHORT in text for text in _sent(scene)[-1])


@pytest.mark.parametrize("how", ["edited", "forgotten"])
async def test_a_context_that_a_person_takes_back_leaves_the_next_prompt(tmp_path: Path, how: str) -> None:
    """A note beside the message would leave it in the beginning."""
    replies = ["Good. <chat-context>A chat about the divorce</chat-context>", "Fine."]
    async with Scene(tmp_path, replies) as scene:
        await _talk(scene, "one")
        scene.clock.advance(7200)  # type: ignore[attr-defined]
        await _talk(scene, "two")
        assert "divorce" in _frames(scene)[-1][1].text
        if how == "edited":
            file = scene.home.memory / "chats" / "telegram-1" / "context.md"
            assert "divorce" in file.read_text("utf-8")
            file.write_text("A chat about boats\n", "utf-8")
        else:
            ((number,),) = await scene.rows("SELECT id FROM record WHERE form = 'profile' AND status = 'active'")
            await scene.say(f"/forget #{number}")
        await _talk(scene, "three")
        assert not any("divorce" in text for text in [*_sent(scene)[-1][:2], _note(scene)])
        assert ("A chat about boats" in _frames(scene)[-1][1].text) == (how == "edited")


async def test_preferences_are_noted_for_nobody_else(tmp_path: Path) -> None:
    """Neither a guest's prompt nor a group's holds what the owner likes."""
    replies = [f"Vale. <user-update>{_SHORT}</user-update>", "Fine."]
    async with Scene(tmp_path, replies) as scene:
        await _talk(scene, "one")
        await scene.say("hello there", "2", "2")
        await scene.say("hello group", "-3", "1", private=False)
        assert not any(_SHORT in text for prompt in _sent(scene)[-2:] for text in prompt)


# ── a log that is full ───────────────────────────────────────────────────────────────────────────────────────────────

_BRIEF = {**_SMALL, "PromptLimits.history_min": 4, "PromptLimits.history_max": 8}


async def test_a_full_log_begins_anew_behind_the_same_beginning(tmp_path: Path) -> None:
    """What was noted since stands behind it, once, and the messages that are shown are few again."""
    replies = [
        f"Vale. <memory>Ana moved to Cusco</memory><user-update>{_SHORT}</user-update>",
        "Good. <chat-context>A chat about boats</chat-context>",
        "Fine.",
    ]
    async with Scene(tmp_path, replies, environ=_BRIEF) as scene:
        await _crowded(scene)
        await _talk(scene, "one", "two", "three", "four", "five")
        before = _frames(scene)[-1]
        await _talk(scene, "six", "seven")
        again, after = _frames(scene)[-2:]
        assert isinstance(scene.provider, ScriptedProvider)
        assert len(scene.provider.requests[-2].messages) < len(scene.provider.requests[-3].messages)
    assert again[: len(before)] == before
    assert after == again
    behind = "\n".join(block.text for block in again[len(before) :])
    assert [behind.count(text) for text in ("Ana moved to Cusco", _SHORT, "A chat about boats")] == [1, 1, 1]


@pytest.mark.parametrize("what", ["in the beginning", "behind it"])
async def test_a_change_of_what_stood_before_the_log_began_anew_makes_a_new_beginning(
    tmp_path: Path, what: str
) -> None:
    """Whether the beginning showed it, or what became known since."""
    replies = ["Vale. <memory>Ana moved to Cusco</memory>", "Fine."]
    async with Scene(tmp_path, replies, environ=_BRIEF) as scene:
        newest = (await _crowded(scene))[-1]
        await _talk(scene, "one", "two", "three", "four", "five", "six")
        assert len(_frames(scene)[-1]) > len(_frames(scene)[0])
        ((told,),) = await scene.rows("SELECT id FROM record WHERE text = 'Ana moved to Cusco'")
        await _change(scene, [newest if what == "in the beginning" else int(str(told))], text="Ana moved to Lima")
        await _talk(scene, "seven")
        shown = "\n".join(block.text for block in _frames(scene)[-1])
    assert "Ana moved to Lima" in shown
    assert ("Note 299" in shown, "Cusco" in shown) == (what == "behind it", what == "in the beginning")


async def test_what_was_told_and_forgotten_is_gone_when_the_log_begins_anew(tmp_path: Path) -> None:
    """Neither the beginning nor what stands behind it shows it."""
    async with Scene(tmp_path, ["Vale. <memory>Ana moved to Cusco</memory>", "Fine."], environ=_BRIEF) as scene:
        await _crowded(scene)
        await _talk(scene, "one", "two", "three")
        ((number,),) = await scene.rows("SELECT id FROM record WHERE text = 'Ana moved to Cusco'")
        await scene.say(f"/forget #{number}")
        await _talk(scene, "four", "five", "six", "seven")
    assert not any("Cusco" in block.text for block in _frames(scene)[-1])


# ── what a conversation costs ────────────────────────────────────────────────────────────────────────────────────────

_FRAMING = 70  # bytes of a message's time, its role and its brackets


def _as_sent(scene: Scene) -> list[str]:
    """Each prompt as one text, in the order in which a provider reads it."""
    assert isinstance(scene.provider, ScriptedProvider)
    return [
        "\n".join(
            [block.text for block in request.system]
            + [f"{message.role}: {block.text}" for message in request.messages for block in message.text_blocks]
        )
        for request in scene.provider.requests
    ]


async def test_a_conversation_grows_by_its_words_and_repeats_what_it_sent(tmp_path: Path) -> None:
    """Every prompt begins with all of the one before but what was recalled for its message alone."""
    told = ["good morning to you", "I had a coffee just now", "how is the plumber called?", "it rains a little"]
    replies = ["Yes.", "Fine. <memory>The boat belongs to Marta</memory>", "Ignacio.", "I see."]
    async with Scene(tmp_path, replies * 3, environ=_SMALL) as scene:
        await _crowded(scene)
        await _talk(scene, *told * 3)
        prompts = _as_sent(scene)
    recalled = [
        prompt.rpartition("<kenobot-context>")[2] if prompt.endswith("</kenobot-context>") else "" for prompt in prompts
    ]
    for before, after, beside in zip(prompts, prompts[1:], recalled, strict=False):
        kept = before[: -len(beside) - len("\nuser: <kenobot-context>")] if beside else before
        assert after.startswith(kept)
    assert [prompt.count(_OLD) for prompt in prompts[2::4]] == [1, 1, 1]
    plain = [len(after) - len(before) for before, after in pairwise(prompts[3::4])]
    assert max(plain) < sum(map(len, (*told, *replies))) + 4 * 2 * _FRAMING
