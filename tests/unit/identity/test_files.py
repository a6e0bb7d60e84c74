from pathlib import Path

import pytest

from kenobot.identity import identity_files
from kenobot.identity.identity_files import Identity, IdentityText


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory" / "identity"
    folder.mkdir(parents=True)
    return folder


def test_the_files_are_read_for_the_prompt(root: Path) -> None:
    """Core and preferences as they stand, the rules rendered, onboarding while there is one."""
    (root / "core.md").write_text("\ufeff# Soy Keno ñ\n", "utf-8")
    (root / "rules.json").write_text('{"forbidden": [{"pattern": "um"}]}')
    (root / "preferences.md").write_text("- tea")
    (root / "BOOTSTRAP.md").write_text("Greet.")
    text = Identity(root).read()
    assert (text.core, text.preferences, text.bootstrap) == ("# Soy Keno ñ\n", "- tea", "Greet.")
    assert text.rules.startswith("## Forbidden Patterns")


def test_missing_files_are_empty(tmp_path: Path) -> None:
    """An empty home has an identity too, and nothing is wrong with it."""
    identity = Identity(tmp_path / "absent")
    assert identity.read() == IdentityText("", "", "", None)
    assert not identity.problems


def test_an_edit_is_seen_at_the_next_read(root: Path) -> None:
    """Files are read afresh when they change, appear or go."""
    identity = Identity(root)
    (root / "core.md").write_text("one")
    assert identity.read().core == "one"
    (root / "core.md").write_text("another")
    assert identity.read().core == "another"
    (root / "core.md").unlink()
    assert identity.read().core == ""


def test_an_unchanged_file_is_not_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second read costs a stat a file."""
    identity = Identity(root)
    (root / "core.md").write_text("one")
    first = identity.read()
    monkeypatch.setattr(Path, "read_bytes", None)
    assert identity.read() == first


@pytest.mark.parametrize(
    ("text", "reason"),
    [(b"{", "Invalid JSON"), (b'{"forbidden": [{"reason": "x"}]}', "forbidden.0.pattern"), (b"\xff\xff", "UTF-8")],
)
def test_malformed_rules_are_reported_and_kept(root: Path, text: bytes, reason: str) -> None:
    """Nothing of them is rendered, the file stays as it is, and the sentence names what to mend."""
    (root / "rules.json").write_bytes(text)
    identity = Identity(root)
    assert identity.read().rules == ""
    (problem,) = identity.problems
    assert "rules.json" in problem and reason in problem and "\n" not in problem
    assert (root / "rules.json").read_bytes() == text
    (root / "rules.json").write_text('{"rules": [{"id": "x", "instruction": "mended"}]}')
    assert "mended" in identity.read().rules
    assert not identity.problems


def test_a_folder_in_a_files_place_is_reported(root: Path) -> None:
    """Whatever stands there, reading goes on."""
    (root / "core.md").mkdir()
    identity = Identity(root)
    assert identity.read().core == ""
    assert "core.md" in identity.problems[0]


def test_a_huge_file_is_clipped(root: Path) -> None:
    """A prompt gets the first 64 KB, cut between characters."""
    (root / "core.md").write_text("a" + "ñ" * 100_000, "utf-8")
    core = Identity(root).read().core
    assert len(core.encode()) == identity_files.MAX_PROMPT_BYTES - 1
    assert set(core[1:]) == {"ñ"}


def test_the_end_of_onboarding_moves_its_file_to_the_archive(root: Path) -> None:
    """Nothing is deleted, and what was archived before is kept."""
    identity = Identity(root)
    archive = root.parent / "archive"
    for text in ("first", "second"):
        (root / "BOOTSTRAP.md").write_text(text)
        assert identity.read().bootstrap == text
        identity.finish_bootstrap()
        assert identity.read().bootstrap is None
    identity.finish_bootstrap()
    assert {path.name: path.read_text() for path in archive.iterdir()} == {
        "BOOTSTRAP.md": "first",
        "BOOTSTRAP-2.md": "second",
    }
