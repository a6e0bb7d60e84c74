"""Memories of Hermes, Letta, Claude and of OpenClaw's home with several workspaces."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from tests.unit.cli.conftest import Cli, by_words, cli, home
from tests.unit.cli.importers import homes

__all__ = ["by_words", "cli", "home"]

pytestmark = pytest.mark.usefixtures("by_words")


def taken_in(home: Home, cli: Cli, path: Path) -> tuple[dict[str, object], set[str]]:
    """The last row of an import, and the texts that are remembered then."""
    code, out, err = cli("import", str(path), "--yes", "--json")
    assert code == 0, err
    with closing(sqlite3.connect(home.database)) as connection:
        rows = connection.execute("SELECT text, trust, source FROM record").fetchall()
    assert {row[1:] for row in rows} <= {("model", "import")}
    return json.loads(out.splitlines()[-1]), {row[0] for row in rows}


def test_entries_of_hermes_are_divided_by_a_sign(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Those of its profiles too; every line is counted."""
    files = {
        "memories/MEMORY.md": "The server runs Debian.\n§\nProject Lyra uses uv,\nnot pip.\n§\n",
        "memories/USER.md": "Prefers short answers.\n§\nLives in Vigo\n",
        "profiles/work/memories/MEMORY.md": "The office opens at eight.\n",
        "SOUL.md": "You are Hermes.",
    }
    total, texts = taken_in(home, cli, homes.lay(tmp_path / "hermes", files))
    assert (total["from"], total["lines"]) == ("hermes", {"kept": 6, "system": 3})
    assert texts == {
        "The server runs Debian.", "Project Lyra uses uv,\nnot pip.", "Prefers short answers.", "Lives in Vigo",
        "The office opens at eight.",
    }  # fmt: skip
    assert taken_in(home, cli, tmp_path / "hermes" / "memories")[0]["new"] == 0


@pytest.mark.parametrize(
    "document",
    [
        {
            "agents": [
                {"block_ids": ["b"], "in_context_message_ids": [], "messages": [{"role": "user", "content": "hi"}]}
            ],
            "blocks": [
                {"label": "human", "value": "Name: Sara\nSara likes tea."},
                {"label": "persona", "value": "I am Sam."},
            ],
        },
        {
            "agent_type": "memgpt_agent",
            "core_memory": [
                {"label": "human", "value": "Name: Sara\nSara likes tea."},
                {"label": "persona", "value": "Sam"},
            ],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        },
    ],
)
def test_blocks_of_letta_are_facts_and_its_character_is_not(
    home: Home, cli: Cli, tmp_path: Path, document: dict[str, object]
) -> None:
    """In agent files of both forms; what was said in them is counted and left."""
    passages = {"passages": [{"text": "Sara moved to Porto.", "created_at": "2026-01-05T10:00:00Z"}]}
    (tmp_path / "sam.af").write_text(json.dumps(document | passages), "utf-8")
    total, texts = taken_in(home, cli, tmp_path / "sam.af")
    assert (total["from"], total["lines"]) == ("letta", {"kept": 2, "system": 2})
    assert "Sara moved to Porto." in texts
    assert any("likes tea" in text for text in texts)
    assert not any("Sam" in text or text == "hi" for text in texts)


def test_what_claude_remembers_is_taken_in(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Beside its conversations, of the account and of projects."""
    memories = [{"conversations_memory": "**Work**\n\n- Restores violins", "project_memories": {"p": "- Uses spruce"}}]
    (tmp_path / "memories.json").write_text(json.dumps(memories), "utf-8")
    total, texts = taken_in(home, cli, tmp_path / "memories.json")
    assert total["from"] == "claude"
    assert texts == {"Work: Restores violins", "Uses spruce"}


def test_projects_of_claude_are_read_like_notes(home: Home, cli: Cli, tmp_path: Path) -> None:
    """What they are about and their documents; what they tell Claude to be is the program's."""
    docs = [{"filename": "knots.md", "content": "Bowline: the rabbit leaves the hole\n"}]
    project = {"name": "Sailing", "description": "My course", "prompt_template": "You are a coach", "docs": docs}
    starter = {"name": "How to use Claude", "is_starter_project": True, "prompt_template": "", "docs": docs}
    (tmp_path / "projects.json").write_text(json.dumps([project, starter]), "utf-8")
    total, texts = taken_in(home, cli, tmp_path / "projects.json")
    assert (total["from"], total["lines"]) == ("claude", {"kept": 2, "system": 2})
    assert texts == {"Sailing: My course", "knots: Bowline: the rabbit leaves the hole"}


def test_a_vault_has_templates_canvases_and_days_in_folders(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Templates are left and named, the texts of a canvas are kept, and a time without a day stays in its line."""
    card = {"type": "text", "text": "Move the loom"}
    files = {
        "Templates/Person.md": "Birthday: {{date}}\n",
        "Forms/Day.md": "- plan it\n",
        ".obsidian/templates.json": '{"folder": "Forms"}',
        "Journal/2026/01-January/03.md": "- swam\n",
        "Plan.md": "- 08:00 wake up\n",
        "Board.canvas": json.dumps(
            {
                "nodes": [card, {"type": "file", "file": "Plan.md"}, {"type": "group", "label": "Autumn in the barn"}],
                "edges": [{"id": "e", "label": "before the frost"}],
            }
        ),
        "Torn.canvas": "{",
    }
    total, texts = taken_in(home, cli, homes.lay(tmp_path / "vault", files))
    assert (total["skipped"], total["lines"]) == (2, {"kept": 5, "system": 1, "unclear": 1})
    board = {"Board: Move the loom", "Board: Autumn in the barn", "Board: before the frost"}
    assert texts == {"swam", "Plan: 08:00 wake up", *board}
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT day FROM record WHERE text = 'swam'").fetchone() == ("2026-01-03",)


def test_a_home_of_openclaw_may_have_several_workspaces(home: Home, cli: Cli, tmp_path: Path) -> None:
    """`workspace-main` as well as `workspace`, beside the folders of the program itself."""
    root = homes.lay(tmp_path / "claw", {"memory/main.sqlite": "x", "openclaw.json": "{}"})
    homes.openclaw(root / "workspace-main")
    homes.lay(root / "workspace-kitchen", {"MEMORY.md": "- The oven is slow\n", "SOUL.md": "x"})
    total, texts = taken_in(home, cli, root)
    assert total["from"] == "openclaw"
    assert {"Name: Marta", "The oven is slow"} <= texts
    assert taken_in(home, cli, root / "workspace-main")[0]["new"] == 0


def test_what_openclaw_promoted_is_read_without_its_score(home: Home, cli: Cli, tmp_path: Path) -> None:
    """The words of a memory are kept, and not the numbers behind them."""
    promoted = "- Choir in hall B [score=0.812 recalls=4 avg=0.7 source=memory/2026-02-06.md:3-3]\n"
    root = homes.lay(tmp_path / "claw", {"MEMORY.md": promoted, "SOUL.md": "x"})
    assert taken_in(home, cli, root)[1] == {"Choir in hall B"}


def test_a_secret_takes_no_other_line_with_it(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Of a paragraph the lines without it are kept; what cannot be told apart is refused whole."""
    files = {
        "House.md": "AWS key AKIAIOSFODNN7EXAMPLE\nThe safe is behind the painting.\n",
        "Keys.md": "My login\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n",
    }
    total, texts = taken_in(home, cli, homes.lay(tmp_path / "vault", files))
    assert total["secrets"] == 2
    assert not any("AKIA" in text or "MIIE" in text for text in texts)
    assert "House: The safe is behind the painting." in texts


def test_what_a_diary_repeats_is_of_each_day(home: Home, cli: Cli, tmp_path: Path) -> None:
    """And comes once, however often it is imported."""
    diary = {f"2026-01-0{day}.md": "- swam in the lake\n" for day in (3, 4, 5)}
    total, texts = taken_in(home, cli, homes.lay(tmp_path / "diary", diary))
    assert total["new"] == 3
    assert texts == {"swam in the lake", "swam in the lake (2026-01-04)", "swam in the lake (2026-01-05)"}
    assert taken_in(home, cli, tmp_path / "diary")[0]["new"] == 0
