"""What a message answers or quotes reaches the model, as words of another."""

from pathlib import Path

from kenobot.channels.telegram.updates import BotUser, parse_update
from kenobot.ports.messages import Inbound
from tests.integration.telegram.standin import update
from tests.scene import Scene

ME = BotUser(7, "KenoBot")
BEA = {"id": 9, "is_bot": False, "first_name": "Bea"}
BOT = {"id": 7, "is_bot": True, "first_name": "Keno"}


def answering(text: str, answered: object, *, group: bool = False, **more: object) -> Inbound:
    raw = update(1, text)
    raw["message"] |= {"reply_to_message": answered} | more
    if group:
        raw["message"]["chat"] = {"id": -5, "type": "supergroup"}
    parsed = parse_update(raw, ME)
    assert isinstance(parsed, Inbound)
    return parsed


def test_what_is_answered_comes_with_the_message() -> None:
    """Its beginning and author; of what somebody marked in it, only that."""
    letter = {"message_id": 5, "from": BEA, "text": "The gate code is 4711. " + "x" * 5000}
    parsed = answering("remember this", letter)
    assert parsed.quoted.startswith("The gate code is 4711.")
    assert (len(parsed.quoted), parsed.quoted_author, parsed.reply_to) == (1000, "Bea", "5")
    assert answering("remember this", letter, quote={"text": "4711"}).quoted == "4711"


def test_what_the_bot_said_is_quoted_where_that_is_meant() -> None:
    """In private always; in a group, where every word to it may be an answer, only what was marked."""
    said = {"message_id": 5, "from": BOT, "text": "Madrid"}
    assert answering("are you sure?", said).quoted == "Madrid"
    assert answering("are you sure?", said, group=True).quoted == ""
    assert answering("are you sure?", said, group=True, quote={"text": "Mad"}).quoted == "Mad"


async def test_the_model_reads_it_and_memory_takes_it_for_anothers(tmp_path: Path) -> None:
    """ "Remember this" works, and what is remembered is not the owner's own word; a quoted command does nothing."""
    reply = "Noted. <memory>The gate code is 4711</memory>"
    async with Scene(tmp_path, [reply, "ok"]) as scene:
        await scene.say("recuerda esto", quoted="The gate code is 4711", quoted_author="Bea")
        assert "> Bea wrote:\n> The gate code is 4711" in scene.requests[0]
        assert await scene.rows("SELECT text, trust FROM record") == [("The gate code is 4711", "forward")]
        assert await scene.say("/help", quoted="/forget all", quoted_author="Bea")
        await scene.say("thanks")
        assert "> Bea wrote:\n> The gate code is 4711" in scene.requests[-1]
        assert await scene.rows("SELECT count(*) FROM inbox WHERE quoted LIKE '%4711%'") == [(1,)]
