"""What became of what was noted teaches what to note, and the extraction prompt says so."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract import known_memories, prompt
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.sleep.improve.guidelines import PASS, action_bias, guideline_lines, outcome_prior
from kenobot.cognitive.sleep.pass_rows import ExtractionOutcome
from kenobot.cognitive.store import records
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START
from tests.memory_rows import open_memory, put_record
from tests.nights import carry_out

_POLICY = DEFAULT.pruning
_NIGHT = START + timedelta(days=1)


def _noted(connection: Connection, category: str, count: int, **columns: str | float) -> None:
    """So many records of a kind that extraction made."""
    for number in range(count):
        record = put_record(connection, f"{category} {number}", category=category, columns=columns)
        connection.execute("UPDATE event SET actor = 'extraction' WHERE record_id = ?", (record.id,))


def test_a_leaning_grows_with_the_outcomes_and_with_their_number_gets_sure() -> None:
    """A few outcomes say little; as many good as bad say hold."""
    assert (action_bias(1, 1, _POLICY).direction, action_bias(1, 1, _POLICY).confidence) == ("hold", "low")
    assert (action_bias(12, 0, _POLICY).delta, action_bias(12, 0, _POLICY).confidence) == (0.15, "high")
    assert (action_bias(0, 8, _POLICY).delta, action_bias(3, 1, _POLICY).confidence) == (-0.15, "medium")
    assert action_bias(0, 0, _POLICY).delta == 0


def test_what_was_mostly_taken_back_and_what_mostly_served_is_said_by_kind() -> None:
    """With the guess at neither, and nobody's words in it."""
    with open_memory() as connection:
        _noted(connection, "commitment", 9, status="forgotten")
        _noted(connection, "preference", 9, use_count=3)
        _noted(connection, "moment", 2, status="forgotten")
        _noted(connection, "the owner's own kind", 9, status="forgotten")
        [change] = carry_out(connection, PASS, _NIGHT)
        told = known_memories.guidelines(connection)
        assert "commitment: most of what you noted of this kind was taken back" in told
        assert "preference: most of what you noted of this kind served later" in told
        assert "moment" not in told
        assert "own kind" not in told
        assert change.reason.startswith("version 1, ")


def test_a_new_version_takes_the_old_ones_place_and_undo_puts_that_back() -> None:
    """Versions are counted, kept in the history of the slot, and nothing changes while experience says the same."""
    with open_memory() as connection:
        _noted(connection, "commitment", 9, status="forgotten")
        carry_out(connection, PASS, _NIGHT)
        first = known_memories.guidelines(connection)
        assert carry_out(connection, PASS, _NIGHT + timedelta(days=1)) == []
        _noted(connection, "skill", 9, use_count=2)
        [change] = carry_out(connection, PASS, _NIGHT + timedelta(days=2))
        assert change.reason.startswith("version 2, ")
        assert known_memories.guidelines(connection) != first
        event = connection.execute("SELECT max(id) FROM event WHERE type = 'learned'").fetchone()[0]
        undo(connection, event, ALL_SCOPES, AdmitContext(_NIGHT, "2026-02-15", "owner"))
        assert known_memories.guidelines(connection) == first


def test_only_what_extraction_noted_lately_counts() -> None:
    """Not what people typed, and not what is older than the telemetry reaches."""
    with open_memory() as connection:
        for number in range(9):
            put_record(connection, f"typed {number}", category="commitment", status="forgotten")
        _noted(connection, "skill", 9, status="forgotten")
        assert carry_out(connection, PASS, START + timedelta(days=31)) == []


@pytest.mark.parametrize(
    ("decisions", "piece"),
    [
        ({"reinforced": 9, "created": 3}, "known already"),
        ({"refused": 3, "created": 9}, "secrets"),
        ({"discarded": 4, "created": 8}, "not kept"),
    ],
)
def test_how_proposals_ended_is_said_too(decisions: dict[str, int], piece: str) -> None:
    """When most are repeats, or many hold secrets; not when there were hardly any."""
    assert any(piece in line for line in guideline_lines((), decisions, _POLICY))
    assert guideline_lines((), dict.fromkeys(decisions, 1), _POLICY) == []


def test_an_outcome_weighs_by_its_action_and_a_failure_more_than_a_verdict() -> None:
    """What was carried out speaks for an action, a discard a little against proposing; an unknown word says nothing."""
    priors = [outcome_prior(action, "applied", "allow", _POLICY) for action in ("store_note", "link_graph", "discard")]
    assert priors == [0.08, 0.04, -0.03]
    ways = (("failed", "deny"), ("applied", "deny"), ("applied", "defer"), ("skipped", "allow"), ("unheard of", ""))
    assert [outcome_prior("store_note", *way, _POLICY) for way in ways] == [-0.3, -0.22, -0.14, -0.1, 0.0]


def test_guidelines_never_outgrow_their_room() -> None:
    """Whole lines, however many kinds there are."""
    kinds = "fact preference correction entity decision relationship principle commitment moment skill".split()
    with open_memory() as connection:
        for kind in kinds:
            _noted(connection, kind, 9, status="forgotten")
        carry_out(connection, PASS, _NIGHT)
        told = known_memories.guidelines(connection)
        assert 500 < len(told) <= _POLICY.guideline_chars
        assert all(line.endswith("with lower confidence.") for line in told.splitlines())
        assert len(guideline_lines([ExtractionOutcome(kind, 9, 0, 9) for kind in kinds], {}, _POLICY)) == len(kinds)


def test_the_extraction_prompt_carries_them_and_no_more_than_its_own_bound() -> None:
    """Between what is remembered and the conversation; without any the prompt is as it was."""
    zone, day = ZoneInfo("UTC"), date(2026, 2, 15)
    plain, told = (
        prompt.build_request(ExtractionBatch((), (), day, text), zone, DEFAULT.extract)
        for text in ("", "- skill: fine." * 500)
    )
    assert "## What experience says" not in plain.messages[0].text
    assert "## What experience says\n\n- skill: fine." in told.messages[0].text
    assert len(told.messages[0].text) - len(plain.messages[0].text) < DEFAULT.extract.guideline_chars + 50
    assert told.system == plain.system


def test_guidelines_are_no_memory_that_is_recalled_or_mirrored() -> None:
    """They fill a slot of a form that is shown nowhere by itself."""
    with open_memory() as connection:
        _noted(connection, "commitment", 9, status="forgotten")
        carry_out(connection, PASS, _NIGHT)
        record = records.slot_record(connection, "owner", "profile", known_memories.GUIDELINES)
        assert record is not None
        assert (record.trust, record.source, record.attribute_map["version"]) == ("model", "sleep", "1")


def test_a_decision_of_admit_is_counted_as_it_is_written() -> None:
    """The events are those that admit really writes."""
    with open_memory() as connection:
        for turn in range(12):
            told = Candidate("note", "owner", "Adrian lives in Lyon", source="extraction", confidence=0.8)
            admit(connection, told, AdmitContext(START, "2026-02-14", "extraction", evidence=turn + 1))
        carry_out(connection, PASS, _NIGHT)
        assert "known already" in known_memories.guidelines(connection)
