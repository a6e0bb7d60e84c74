"""Explaining: the X-ray of a recall, and of any earlier reply the memories behind it."""

import json
from datetime import timedelta

from kenobot.agent.search_report import as_json, as_markdown, as_text
from kenobot.cognitive.recall.prompt import usage
from kenobot.cognitive.recall.prompt.usage import explain_turn, records_behind_reply
from kenobot.cognitive.recall.results.memory import MemoryPack, SearchReport
from kenobot.ports.recall import MatchExplanation
from tests.unit.cognitive.recall.house import REACH, Memory, shown


async def _trip(memory: Memory) -> tuple[int, int]:
    best = await memory.learn("The trip to Oslo is in June", subject="trip")
    other = await memory.learn("SearchReport the warm coat")
    await memory.link(best, other, confidence=0.9)
    await memory.learn("The trip to Rome is over", status="superseded")
    return best, other


async def test_the_x_ray_tells_why_of_what_and_what_not(memory: Memory) -> None:
    """Words, parts of the score, the path with how sure its links are, and the filters with counts."""
    best, other = await _trip(memory)
    seen = await memory.recall("when is the trip to Oslo?")
    text = as_text(seen)
    assert f"#{best}" in text
    assert "shares words" in text
    assert "oslo" in text
    assert "is about somebody named" in text
    assert "relevance +0." in text
    assert f"is linked: {best} —related 0.90→ {other}" in text
    assert "Confidence high" in text
    assert "Looked for: trip, oslo" in text


async def test_the_x_ray_tells_how_the_keywords_were_met(memory: Memory) -> None:
    """Three points a word, of each memory, and a grade of them all."""
    await _trip(memory)
    asked = "when is the trip to Oslo?"
    seen = await memory.recall(asked)
    data = json.loads(json.dumps(as_json(seen, asked)))
    assert [item["points"]["score"] for item in data["items"]] == [6, 0]
    assert "keywords: trip, oslo, 6 points" in as_text(seen, asked)
    assert "Keywords: trip, oslo: high (6 points)" in as_markdown(seen, asked)
    assert data["keywords"] == ["trip", "oslo"]


async def test_the_x_ray_has_three_forms_with_one_content(memory: Memory) -> None:
    """Text, Markdown, and JSON that can be read back."""
    best, other = await _trip(memory)
    seen = await memory.recall("when is the trip to Oslo?")
    data = json.loads(json.dumps(as_json(seen)))
    assert [item["why"]["record"] for item in data["items"]] == [best, other]
    assert data["level"] == "high"
    assert data["items"][1]["why"]["path"][0]["confidence"] == 0.9
    for form in (as_text(seen), as_markdown(seen)):
        for item in data["items"]:
            assert item["text"] in form


async def test_what_is_kept_of_a_reason_reads_back_as_it_was(memory: Memory) -> None:
    """With every part."""
    await _trip(memory)
    for found in (await memory.recall("when is the trip to Oslo?")).memories:
        assert MatchExplanation.from_json(json.loads(json.dumps(found.explain().as_json()))) == found.explain()


async def _note(memory: Memory, pack: MemoryPack, inbox: int) -> None:
    await memory.say(f"question {inbox}", inbox)
    await memory.database.write(lambda c: usage.log_usage(c, pack, inbox, "telegram-1", memory.now, REACH))


async def test_what_was_shown_counts_as_used_once(memory: Memory) -> None:
    """Times, stability up to its cap, and when; what was not shown is left as it was."""
    seen = await memory.learn("The trip to Oslo is in June", days_ago=9)
    stable = await memory.learn("The trip to Oslo is by train", stability=4.95)
    hidden = await memory.learn("Something quite different")
    pack = await memory.recall("the trip to Oslo")
    await _note(memory, shown(None, pack), 1)
    rows = await memory.database.read(
        lambda c: c.execute("SELECT id, use_count, stability, last_used IS NOT NULL FROM record ORDER BY id").fetchall()
    )
    assert rows == [(seen, 1, 1.1, 1), (stable, 1, 5.0, 1), (hidden, 0, 1.0, 0)]
    events = await memory.database.read(
        lambda c: c.execute("SELECT count(*) FROM event WHERE type = 'recalled'").fetchone()
    )
    assert events == (1,)


async def test_a_frame_made_anew_counts_nothing_twice(memory: Memory) -> None:
    """Within the hour only what it did not show before; what a message asks for counts each time, later all does."""
    kept, fresh = await memory.learn("Lives in Oviedo"), await memory.learn("The trip to Oslo is in June")
    await _note(memory, shown((kept,)), 1)
    await _note(memory, shown((kept, fresh)), 2)
    await _note(memory, shown((kept, fresh), await memory.recall("the trip to Oslo")), 3)
    uses = "SELECT use_count FROM record ORDER BY id"
    assert await memory.database.read(lambda c: c.execute(uses).fetchall()) == [(1,), (2,)]
    memory.now += timedelta(minutes=61)
    await _note(memory, shown((kept, fresh)), 4)
    assert await memory.database.read(lambda c: c.execute(uses).fetchall()) == [(2,), (3,)]


async def test_nothing_shown_leaves_no_trace(memory: Memory) -> None:
    """A turn within its frame that was not searched for."""
    await _note(memory, MemoryPack(), 1)
    rows = await memory.database.read(lambda c: c.execute("SELECT 1 FROM event WHERE type = 'recalled'").fetchall())
    assert rows == []


async def test_any_reply_can_be_explained_later(memory: Memory) -> None:
    """By what was recalled for it, for earlier messages on show, and loaded with its frame; not by what came after."""
    framed = await memory.learn("Lives in Oviedo")
    before = await memory.learn("The old frame had this")
    trip = await memory.learn("The trip to Oslo is in June")
    coat = await memory.learn("The warm coat is blue")
    later = await memory.learn("The hotel is booked")
    await _note(memory, shown((before,)), 1)
    await _note(memory, shown((framed,), await memory.recall("the trip to Oslo")), 2)
    await _note(memory, shown(None, await memory.recall("which coat is warm?")), 3)
    await _note(memory, shown(None, await memory.recall("hotel?")), 4)
    told = await memory.database.read(lambda c: explain_turn(c, 3, REACH))
    assert [(each.record_id, each.where) for each in told] == [
        (coat, "message"), (trip, "earlier"), (framed, "frame"),
    ]  # fmt: skip
    assert told[0].reason is not None
    assert "shares words (coat, warm)" in told[0].reason.sentence()
    assert await memory.database.read(lambda c: records_behind_reply(c, "telegram-1", 3)) == [coat, trip, framed]
    assert later not in [each.record_id for each in told]


async def test_an_explanation_shows_no_more_than_its_reader_may_see(memory: Memory) -> None:
    """What was forgotten since is a number, and so is what belongs to others; an unknown turn has no explanation."""
    trip = await memory.learn("The trip to Oslo is in June")
    await _note(memory, shown(None, await memory.recall("the trip to Oslo")), 1)
    assert await memory.database.read(lambda c: explain_turn(c, 1, ("user:telegram-9",))) == ()
    guest = await memory.database.read(lambda c: explain_turn(c, 1, ("chat:telegram-1",)))
    assert [each.record for each in guest] == [None]
    await memory.change(trip, "forgotten", memory.now + timedelta(days=1), status="forgotten")
    told = await memory.database.read(lambda c: explain_turn(c, 1, REACH))
    assert [(each.record_id, each.record) for each in told] == [(trip, None)]
    assert await memory.database.read(lambda c: explain_turn(c, 99, REACH)) == ()


def test_an_empty_recall_says_so() -> None:
    """In every form."""
    seen = SearchReport()
    assert "Confidence none" in as_text(seen)
    assert "nothing" in as_markdown(seen)
