"""What becomes of cold weeks, of a long MEMORY.md, and of logs whose day is long over."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.sleep import DecayPolicy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate import distil, hygiene, weeks
from kenobot.cognitive.sleep.prune.tiers import DAILIES
from kenobot.cognitive.store import records
from kenobot.cognitive.store import tiers as decay_store
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out, play, view

SATURDAY = datetime(2026, 2, 14, 14, 30, tzinfo=UTC)
DAY = timedelta(days=1)
COLD = SATURDAY + 16 * DAY  # the week ended on the 15th, 15 days before


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def tell(memory: Connection, text: str, at: datetime = SATURDAY, **columns: str | float) -> int:
    held: dict[str, str | float] = {"trust": "owner", "source": "tag", "confidence": 0.95, **columns}
    return put_record(memory, text, at=at, columns=held).id


def tiers(memory: Connection, *numbers: int) -> list[str]:
    return [get(memory, number).tier for number in numbers]


def week_tier(memory: Connection) -> str:
    found = records.slot_record(memory, "owner", "summary", "week:2026-W07")
    assert found is not None
    return found.tier


# ── distilling ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_lasts_graduates_and_the_week_leaves(memory: Connection) -> None:
    """What keeps coming back, was learned the hard way or was decided; the rest stays as it is, remembered."""
    often = tell(memory, "the gym closes at ten", mentions=3)
    learned = tell(memory, "aprendí que el router se reinicia con el botón de atrás")
    solved = tell(memory, "the printer error is fixed with the cable pulled out")
    decided = tell(memory, "we take the flat in Gràcia", category="decision")
    passing = tell(memory, "lunch was late today")
    carry_out(memory, weeks.PASS, COLD)
    carry_out(memory, distil.PASS, COLD)
    assert tiers(memory, often, learned, solved, decided, passing) == ["core"] * 4 + ["daily"]
    assert week_tier(memory) == "archive"
    assert get(memory, passing).status == "active"
    assert play(memory, (weeks.PASS, distil.PASS), COLD + DAY) == []


def test_a_week_is_cold_when_its_last_day_is(memory: Connection) -> None:
    """Its Sunday is what counts: fourteen days after it, it is still warm."""
    tell(memory, "the gym closes at ten")
    carry_out(memory, weeks.PASS, COLD - DAY)
    assert carry_out(memory, distil.PASS, COLD - DAY) == []
    assert len(carry_out(memory, distil.PASS, COLD)) == 1


@pytest.mark.parametrize(
    "columns",
    [
        {"trust": "tool"}, {"trust": "forward"}, {"category": "commitment"}, {"verification": "disputed"},
        {"expires": "2026-05-01T00:00:00.000000+00:00"},
    ],
)  # fmt: skip
def test_what_must_not_graduate_does_not(memory: Connection, columns: dict[str, str]) -> None:
    """However often it was said: others' words, open items, doubts and guesses."""
    told = tell(memory, "we learned that the vault is open", mentions=9, **columns)  # type: ignore[arg-type]
    carry_out(memory, weeks.PASS, COLD)
    carry_out(memory, distil.PASS, COLD)
    assert tiers(memory, told) == ["daily"] and week_tier(memory) == "archive"


def test_a_week_hands_on_no_more_than_it_may(memory: Connection) -> None:
    """MEMORY.md is not flooded by one busy week: the weightiest come first."""
    told = [tell(memory, f"we learned trick {n} of {n * 7919}", importance=n / 100) for n in range(30)]
    carry_out(memory, weeks.PASS, COLD)
    carry_out(memory, distil.PASS, COLD)
    assert [n for n, tier in enumerate(tiers(memory, *told)) if tier == "core"] == list(range(18, 30))


def test_what_its_owner_took_back_is_not_distilled_again(memory: Connection) -> None:
    """After an undo the week is over again the next night, without what was taken back."""
    learned = tell(memory, "I learned that the router has a hidden button")
    carry_out(memory, weeks.PASS, COLD)
    carry_out(memory, distil.PASS, COLD)
    root = memory.execute("SELECT id FROM event WHERE type = 'distilled' ORDER BY id LIMIT 1").fetchone()
    undo(memory, root[0], ALL_SCOPES, AdmitContext(COLD, "2026-03-02", "owner"))
    assert tiers(memory, learned) == ["daily"] and week_tier(memory) == "daily"
    carry_out(memory, distil.PASS, COLD + DAY)
    assert tiers(memory, learned) == ["daily"] and week_tier(memory) == "archive"


def test_a_model_may_say_what_lasts_and_under_which_topic(memory: Connection) -> None:
    """Three of one topic get a ref file; one alone stands in MEMORY.md; what it does not name stays where it is."""
    told = [tell(memory, f"n8n node {n} needs {n * 7919} credits") for n in range(3)]
    alone, passing = tell(memory, "the cat is called Miso"), tell(memory, "we learned nothing today")
    carry_out(memory, weeks.PASS, COLD)
    (question,) = distil.PASS.questions(view(memory, COLD))
    named = ", ".join(f'{{"entry": {n}, "topic": "n8n"}}' for n in told)
    answer = f'{{"lasting": [{named}, {{"entry": {alone}, "topic": "pets"}}]}}'
    carry_out(memory, distil.PASS, COLD, answers={question.key: answer}, model_available=True)
    assert tiers(memory, *told, alone, passing) == ["ref:n8n"] * 3 + ["core", "daily"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "{}",
        '{"lasting": 3}',
        '{"lasting": [7]}',
        '{"lasting": [{"entry": 999999}]}',
        '{"lasting": [{"entry": "1"}]}',
    ],
)
def test_an_answer_that_is_none_leaves_it_to_the_rules(memory: Connection, answer: str) -> None:
    """An entry that was not shown, or what is no list of entries, decides nothing."""
    learned = tell(memory, "I learned that the router has a hidden button")
    carry_out(memory, weeks.PASS, COLD)
    (question,) = distil.PASS.questions(view(memory, COLD))
    carry_out(memory, distil.PASS, COLD, answers={question.key: answer}, model_available=True)
    assert tiers(memory, learned) == ["core"]


# ── MEMORY.md ────────────────────────────────────────────────────────────────────────────────────────────────────

LEAN = Policy(decay=DecayPolicy(lean_core_chars=400))
LATER = SATURDAY + 30 * DAY


def core(memory: Connection, text: str, **more: str | float) -> int:
    return tell(memory, text, tier="core", **more)  # type: ignore[arg-type]


def test_a_short_memory_md_is_left_as_it_is(memory: Connection) -> None:
    """Below the policy's size nothing moves, however much of one thing stands there."""
    for number in range(10):
        core(memory, f"the n8n server has limit {number}")
    assert carry_out(memory, hygiene.PASS, LATER) == []


def test_settled_facts_about_one_thing_leave_a_long_one(memory: Connection) -> None:
    """The largest groups, until it is lean: whom they are about, or the name in them, is the file's."""
    n8n = [core(memory, f"to set limit {n} of n8n edit line {n * 7919} of its file") for n in range(8)]
    maria = [core(memory, f"she owns {n * 7919} books", subject="maría lópez") for n in range(4)]
    own = [core(memory, "likes tea", category="preference"), core(memory, "the door code changed")]
    carry_out(memory, hygiene.PASS, LATER, policy=LEAN)
    assert tiers(memory, *n8n) == ["ref:n8n"] * 8
    assert tiers(memory, *maria, *own) == ["core"] * 6, "it is lean already"
    tighter = Policy(decay=DecayPolicy(lean_core_chars=60))
    carry_out(memory, hygiene.PASS, LATER, policy=tighter)
    assert tiers(memory, *maria) == ["ref:maría-lópez"] * 4
    assert tiers(memory, *own) == ["core"] * 2


def test_a_thing_that_has_a_file_takes_single_facts_too(memory: Connection) -> None:
    """One more about n8n needs no company."""
    tell(memory, "n8n runs on port 5678", tier="ref:n8n")
    late = core(memory, "to restart n8n use the button")
    for number in range(12):
        core(memory, f"likes dish {number * 7919} a lot, more than others", category="preference")
    carry_out(memory, hygiene.PASS, LATER, policy=LEAN)
    assert tiers(memory, late) == ["ref:n8n"]


@pytest.mark.parametrize(
    "columns",
    [{"policy_class": "protected"}, {"category": "commitment"}, {"source": "edit"}, {"at": LATER - DAY}],
)
def test_what_has_to_stay_at_hand_stays(memory: Connection, columns: dict[str, str]) -> None:
    """Pins, open items, what its owner wrote there, and what is not settled yet."""
    told = [core(memory, f"to set limit {n} of n8n edit line {n * 7919} of its file", **columns) for n in range(12)]
    assert carry_out(memory, hygiene.PASS, LATER, policy=LEAN) == []
    assert set(tiers(memory, *told)) == {"core"}


def test_a_refiled_fact_that_was_put_back_stays(memory: Connection) -> None:
    """Who undoes a filing is not contradicted the next night."""
    for number in range(12):
        core(memory, f"to set limit {number} of n8n edit line {number * 7919} of its file")
    carry_out(memory, hygiene.PASS, LATER, policy=LEAN)
    root = memory.execute("SELECT id FROM event WHERE type = 'filed' ORDER BY id LIMIT 1").fetchone()
    undo(memory, root[0], ALL_SCOPES, AdmitContext(LATER, "2026-03-16", "owner"))
    assert carry_out(memory, hygiene.PASS, LATER + DAY, policy=LEAN) == []


def test_ticked_items_leave_and_open_ones_stay(memory: Connection) -> None:
    """MEMORY.md lists what is open; what is done goes back to the log of its day, and is still known."""
    done, todo = core(memory, "[x] call the notary", source="edit"), core(memory, "[ ] pay the rent", source="edit")
    carry_out(memory, hygiene.PASS, LATER)
    assert tiers(memory, done, todo) == ["daily", "core"]


# ── logs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_log_leaves_at_thirty_days(memory: Connection) -> None:
    """To the day: the 14th of February leaves on the 16th of March, in every scope; what it says stays live."""
    told = [tell(memory, "one"), tell(memory, "two", scope="chat:telegram-1", form="episode")]
    assert carry_out(memory, DAILIES, datetime(2026, 3, 15, 23, tzinfo=UTC)) == []
    carry_out(memory, DAILIES, datetime(2026, 3, 16, 4, tzinfo=UTC))
    assert tiers(memory, *told) == ["archive"] * 2
    assert {get(memory, number).status for number in told} == {"active"}


def test_what_has_no_log_does_not_leave(memory: Connection) -> None:
    """Preferences stand in preferences.md, core facts in MEMORY.md, a summary in its own file."""
    liking = tell(memory, "likes tea", category="preference")
    kept = core(memory, "lives in Lyon")
    assert carry_out(memory, DAILIES, LATER + 60 * DAY) == []
    assert tiers(memory, liking, kept) == ["daily", "core"]


def test_a_log_that_was_taken_back_stays(memory: Connection) -> None:
    """Who undoes it is not contradicted the next night."""
    told = tell(memory, "one")
    carry_out(memory, DAILIES, LATER)
    root = memory.execute("SELECT id FROM event WHERE type = 'put away'").fetchone()
    undo(memory, root[0], ALL_SCOPES, AdmitContext(LATER, "2026-03-16", "owner"))
    assert carry_out(memory, DAILIES, LATER + DAY) == []
    assert tiers(memory, told) == ["daily"]


def test_a_busy_log_leaves_in_parts(memory: Connection) -> None:
    """No change is so large that the conversation beside it has to wait."""
    for number in range(450):
        tell(memory, f"fact {number}")
    changes = carry_out(memory, DAILIES, LATER)
    assert [len(change.parts) for change in changes] == [100, 100, 100, 100, 50]
    assert decay_store.daily_log_days(memory, "owner", "2026-12-31") == []


def test_a_repeat_of_an_archived_fact_is_still_one_fact(memory: Connection) -> None:
    """Said again after its log has left, it is known already."""
    admit(memory, Candidate("note", "owner", "the gym closes at ten"), AdmitContext(SATURDAY, "2026-02-14", "model"))
    carry_out(memory, DAILIES, LATER)
    again = admit(
        memory, Candidate("note", "owner", "the gym closes at ten"), AdmitContext(LATER, "2026-03-16", "model")
    )
    assert again.action == "reinforced"
