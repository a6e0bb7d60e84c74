"""A question for what no longer holds finds what took its place, and never the old as if it were so."""

from dataclasses import replace

import pytest

np = pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.cognitive.recall.candidates import recall_rows  # noqa: E402
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration  # noqa: E402
from kenobot.cognitive.recall.vectors.texts import VectorKey  # noqa: E402
from kenobot.cognitive.recall.vectors.vector_search import VectorIndex  # noqa: E402 - needs numpy
from tests.unit.cognitive.recall.house import REACH, Memory, relevant  # noqa: E402

SCALE = SimilarityCalibration(unrelated=0.0, answer=0.5, apart=0.0, alike=0.9)


async def _replaced(memory: Memory, old: str, new: str, **values: object) -> tuple[int, int]:
    first = await memory.learn(old, days_ago=9, **values)
    second = await memory.learn(new, days_ago=1, **values)
    await memory.link(second, first, "supersedes")
    await memory.change(first, "superseded", status="superseded")
    return first, second


async def test_the_words_of_the_old_lead_to_the_new(memory: Memory) -> None:
    """Which may say none of them; also over several steps."""
    _, second = await _replaced(memory, "My favourite editor is Vim", "After the injury I moved to Helix")
    assert await memory.texts("which editor is my favourite?") == ["After the injury I moved to Helix"]
    third = await memory.learn("I write with Kakoune")
    await memory.link(third, second, "supersedes")
    await memory.change(second, "superseded", status="superseded")
    assert await memory.texts("which editor is my favourite?") == ["I write with Kakoune"]


async def test_the_meaning_of_the_old_leads_to_the_new(memory: Memory) -> None:
    """Its vector is kept apart from those of what holds."""
    first, second = await _replaced(memory, "Arturo es quien manda", "Ahora dependo de Carmen")
    meaning = VectorIndex(("m",))
    meaning.set_calibration("m", SCALE)
    near, far = np.array([[1, 0, 0, 0]], np.float32), np.array([[0, 1, 0, 0]], np.float32)
    meaning.put("record", "m", [VectorKey(first, "owner", live=False)], near)
    meaning.put("record", "m", [VectorKey(second, "owner")], far)
    meaning.cache("m", "query", ["who?"], [near[0]])
    memory.index.vectors = meaning
    assert relevant(meaning, "who?", None) == {second: 0.0}
    found = (await memory.recall("who?")).memories
    assert [each.record.id for each in found] == [second]
    assert found[0].relevance_parts["meaning"] == pytest.approx(2, abs=0.02)


async def test_a_record_that_holds_again_is_no_longer_of_the_past() -> None:
    """And one that is gone is in neither place."""
    meaning = VectorIndex(("m",))
    meaning.set_calibration("m", SCALE)
    row = np.array([[1, 0, 0, 0]], np.float32)
    meaning.cache("m", "query", ["who?"], [row[0]])
    for live in (True, False, True):
        meaning.put("record", "m", [VectorKey(1, "owner", live=live)], row)
        assert bool(relevant(meaning, "who?", None)) is live
        assert bool(meaning.similarities("past", "who?", None, 5)) is not live
    meaning.put("record", "m", [VectorKey(1, "owner", live=False)], row)
    meaning.drop("record", [1], "m")
    assert not meaning.similarities("past", "who?", None, 5)


async def test_what_is_forgotten_or_anothers_is_not_led_to(memory: Memory) -> None:
    """Neither the new when it was forgotten, nor what took a place in somebody else's memory."""
    first, second = await _replaced(memory, "My favourite editor is Vim", "I moved to Helix")
    await memory.change(second, "forgotten", status="forgotten")
    assert await memory.texts("which editor is my favourite?") == []
    other = await _replaced(memory, "The garden editor is Emacs", "It is nano", scope="user:telegram-9")
    found = await memory.database.read(lambda c: recall_rows.current_versions(c, [first, *other], REACH))
    assert found == {}
    everywhere = await memory.database.read(
        lambda c: recall_rows.current_versions(c, [other[0]], (*REACH, "user:telegram-9"))
    )
    assert everywhere == {other[0]: other[1]}


def test_what_questions_have_in_common_is_taken_out() -> None:
    """A record that lies near every question of a language is no nearer to one of them for it."""
    middle, way = [0.8, 0, 0, 0], [0, 1.0, 0, 0]
    common = np.array([middle, way], np.float16).tobytes()
    row = np.array([0.8, 0.3, 0.52, 0], np.float32) / np.linalg.norm([0.8, 0.3, 0.52])
    hub, answer = np.array([[0.95, 0.3122, 0, 0]], np.float32), np.array([[0.2, 0, 0.9798, 0]], np.float32)
    found = {}
    for scale in (SCALE, replace(SCALE, common=common)):
        meaning = VectorIndex(("m",))
        meaning.set_calibration("m", scale)
        meaning.put("record", "m", [VectorKey(1, "owner")], hub)
        meaning.put("record", "m", [VectorKey(2, "owner")], answer)
        meaning.cache("m", "query", ["who?"], [row])
        shares = meaning.similarities("record", "who?", None, 5)
        found[bool(scale.common)] = max(shares, key=lambda number: shares[number])
    assert found == {False: 1, True: 2}
