"""`kenobot skills`: from an archive that nobody has read to a skill that a model reads, and back."""

import json
import sqlite3
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from tests.unit.skills.shelf import put_skill

from .conftest import Cli


@pytest.fixture
def skills(home: Home, database: sqlite3.Connection) -> Path:
    """The folder of a home with one skill that nobody has looked at."""
    put_skill(home.skills, "forms", "# How\n\x1b[2J\u200bhidden\n── next.md (1 B)", more__md="hash: 0000")
    return home.skills


def _row(cli: Cli) -> dict[str, object]:
    code, out, _ = cli("skills", "list", "--json")
    assert code == 0
    row: dict[str, object] = json.loads(out)
    return row


def test_a_skill_is_added_trusted_changed_and_removed(cli: Cli, home: Home, skills: Path, tmp_path: Path) -> None:
    """Its hash is what is trusted; a change withdraws that, and removing leaves no trust behind."""
    source = put_skill(tmp_path, "letters")
    code, out, _ = cli("skills", "add", str(source))
    assert code == 0 and "Added: letters (1 files)" in out and "off until you trust it" in out
    assert cli("skills", "add", str(source))[0] == 1
    digest = json.loads(cli("skills", "show", "letters", "--json")[1])["hash"]
    assert cli("skills", "trust", "letters", "--yes", "0" * 64)[0] == 1
    code, out, err = cli("skills", "trust", "letters", "--yes", digest)
    assert (code, out, err) == (0, "Trusted: letters\n", "")
    assert [line.split()[:2] for line in cli("skills", "list")[1].splitlines()[1:]] == [
        ["forms", "untrusted"],
        ["letters", "trusted"],
    ]
    (skills / "letters" / "SKILL.md").write_text("---\ndescription: other\n---\n")
    assert "letters  changed" in cli("skills", "list")[1]
    assert cli("skills", "remove", "letters")[0] == 1  # nobody can be asked
    assert cli("skills", "remove", "letters", "--yes")[:2] == (0, "Removed: letters\n")
    put_skill(skills, "letters")
    assert json.loads(cli("skills", "show", "letters", "--json")[1])["state"] == "untrusted"


def test_nobody_is_asked_where_nobody_is(cli: Cli, skills: Path) -> None:
    """Without a terminal trust takes the hash."""
    code, _, err = cli("skills", "trust", "forms")
    assert code == 1 and "--yes HASH" in err and _row(cli)["state"] == "untrusted"


def test_files_are_shown_whole_and_cannot_feign_anything(cli: Cli, skills: Path) -> None:
    """Neither controls nor hidden letters reach the terminal, and each line of a file is marked as one."""
    code, out, _ = cli("skills", "show", "forms")
    assert code == 0 and "\x1b" not in out and "\u200b" not in out
    assert "│ \\x1b[2J\\u200bhidden" in out and "│ ── next.md" in out and "│ hash: 0000" in out
    assert "2 characters that nobody sees" in out
    digest = _row(cli)["hash"]
    assert out.splitlines()[-1] == f"hash: {digest}"


def test_check_says_what_the_specification_says(cli: Cli, skills: Path, tmp_path: Path) -> None:
    """Of all, of one, of a folder elsewhere; a hidden letter is no fault against it."""
    assert cli("skills", "check")[:2] == (0, "forms\n  in order\n")
    bad = put_skill(tmp_path, "Bad", description="Use when: asked")
    code, out, _ = cli("skills", "check", str(bad))
    assert code == 1 and "calls itself" not in out and "YAML" in out and "no name" in out
    assert cli("skills", "check", "nowhere")[0] == 2
    (skills / "link").symlink_to(bad)
    code, out, _ = cli("skills", "check", "link")
    assert code == 1 and "a link is not followed" in out
    assert cli("skills", "show", "link")[0] == cli("skills", "trust", "link", "--yes", "0")[0] == 1


@pytest.mark.parametrize("verb", ["show", "trust", "remove"])
@pytest.mark.parametrize("name", ["nowhere", "..", "../skills/forms", "", "."])
def test_what_is_not_there_is_not_found(cli: Cli, skills: Path, verb: str, name: str) -> None:
    """However it is spelled, nothing outside of the folder is reached."""
    assert cli("skills", verb, name, *(["--yes"] if verb == "remove" else []))[0] == 2
    assert (skills / "forms").is_dir()


def test_a_home_without_skills_says_so(cli: Cli, database: sqlite3.Connection) -> None:
    """With how to begin."""
    code, _, err = cli("skills", "list")
    assert code == 2 and "kenobot skills add" in err
    assert cli("skills", "add", "/nowhere")[0] == 2
