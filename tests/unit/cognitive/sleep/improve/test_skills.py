"""A pattern that proved itself is proposed as a skill; approving writes it, trusted, and undoing takes it away."""

from pathlib import Path

import pytest

from kenobot.cognitive.sleep import proposals
from kenobot.cognitive.sleep.improve.proposals import PASS
from kenobot.cognitive.store import events
from kenobot.cognitive.store import proposals as proposal_store
from kenobot.ports.memory_changes import CannotDecide, DecisionContext, Proposal
from kenobot.skills.library import SkillLibrary
from kenobot.skills.trust import read_trusted
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory, put_record
from tests.nights import carry_out

_TEXT = "n8n webhook 401 error → resolved with query params"


def _learn(connection: Connection, text: str = _TEXT, worked: int = 3, failed: int = 0, **columns: str) -> None:
    record = put_record(connection, text, form="procedure", category="procedure", columns=columns)
    for outcome in ["worked"] * worked + ["failed"] * failed:
        events.add_event(connection, START, "owner", outcome, record=record.id)


def _propose(connection: Connection) -> list[Proposal]:
    carry_out(connection, PASS, START)
    return [each for each in proposal_store.list_proposals(connection) if each.kind == "skill"]


def _ruling(tmp_path: Path) -> DecisionContext:
    return DecisionContext(START, "owner", tmp_path, tmp_path / "skills")


@pytest.mark.parametrize(
    ("worked", "failed", "columns"),
    [
        (2, 0, {}),
        (3, 2, {}),
        (9, 0, {"trust": "tool"}),
        (9, 0, {"status": "archived"}),
        (9, 0, {"scope": "user:2"}),
    ],
)
def test_what_did_not_prove_itself_is_not_proposed(worked: int, failed: int, columns: dict[str, str]) -> None:
    """Nor what others said, what is over, or what belongs to somebody else."""
    with open_memory() as connection:
        _learn(connection, worked=worked, failed=failed, **columns)
        assert _propose(connection) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (_TEXT, "n8n-webhook-401-error"),
        ("Falla la conexión: «mañana» --- error → reinicié el módem ---", "falla-la-conexion-manana-error"),
        ("接続エラー → 再起動した", "learned-1"),
        ('error: "quotes" \\ and <memory>tags</memory> → # not: a comment', "error-quotes-and-memory-tags-memory"),
    ],
)
def test_an_approved_skill_keeps_to_the_specification(tmp_path: Path, text: str, name: str) -> None:
    """It is trusted as it was approved, and found in order by our check, whatever it is made of."""
    with open_memory() as connection:
        _learn(connection, text)
        [proposal] = _propose(connection)
        trigger, _, response = text.partition(" → ")
        assert trigger in proposal.text and response in proposal.text
        proposals.approve(connection, proposal.id, _ruling(tmp_path))
        [found] = SkillLibrary(tmp_path / "skills").list_skills(read_trusted(connection))
        assert (found.name, found.state) == (name, "trusted")
        assert found.skill is not None and found.skill.problems == () and response in found.skill.page.body
        assert "---" not in found.skill.description and found.skill.page.strict


def test_an_approval_is_taken_back(tmp_path: Path) -> None:
    """With the skill's folder; not once somebody has changed it."""
    with open_memory() as connection:
        _learn(connection)
        [proposal] = _propose(connection)
        proposals.approve(connection, proposal.id, _ruling(tmp_path))
        page = tmp_path / "skills" / "n8n-webhook-401-error" / "SKILL.md"
        before = page.read_bytes()
        page.write_bytes(before + b"And more.\n")
        with pytest.raises(CannotDecide, match="changed since"):
            proposals.undo_approval(connection, proposal.id, _ruling(tmp_path))
        page.write_bytes(before)
        assert proposals.undo_approval(connection, proposal.id, _ruling(tmp_path)).state == "undone"
        assert not page.parent.exists() and read_trusted(connection) == {}


def test_a_skill_of_that_name_stays_as_it_is(tmp_path: Path) -> None:
    """The proposal waits on; one that was half approved before a crash is approved again."""
    with open_memory() as connection:
        _learn(connection)
        [proposal] = _propose(connection)
        folder = tmp_path / "skills" / "n8n-webhook-401-error"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("my own")
        with pytest.raises(CannotDecide, match="already"):
            proposals.approve(connection, proposal.id, _ruling(tmp_path))
        (folder / "SKILL.md").unlink()
        folder.rmdir()
        connection.execute("SAVEPOINT crash")
        proposals.approve(connection, proposal.id, _ruling(tmp_path))
        connection.execute("ROLLBACK TO crash")
        assert proposals.approve(connection, proposal.id, _ruling(tmp_path)).state == "approved"
