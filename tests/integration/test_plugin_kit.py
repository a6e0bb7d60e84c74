"""`kenobot plugin check` says in plain words what plugins break. The tutorials' tests try what `plugin new` writes."""

import json
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot_testing.new_command import package_files
from tests.docs.test_tutorials import write_package


@pytest.fixture(autouse=True)
def lean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the pytest of the check load no plugins but those that the contracts need."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_asyncio.plugin")


def check(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, str]]]:
    """Run the command; its exit code and the rows that it printed."""
    code = main(["plugin", "check", str(path), "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_channel_that_lies_is_told_so_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its author reads what the core relies on, and what the channel did."""
    lies = {
        "    name =": "    capabilities = Capabilities(edits=True)\n    name =",
        "import Sink": "import Capabilities, Sink",
    }
    path = write_package(tmp_path, "channel", "liar", lies)
    code, rows = check(path, capsys)
    (failed,) = (row for row in rows if row["outcome"] == "failed" and "declares" in row["test"])
    assert code == 1
    assert "an edit has another id" in failed["why"]
    assert "asks a channel for what its capabilities say" in failed["asked"]


def test_a_single_file_is_checked_by_the_contract_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without tests of its own."""
    text = package_files("postprocessor", "tagger")[Path("kenobot_tagger.py")]
    (tmp_path / "tagger.py").write_text(text.replace("tuple(text for", "list(text for"), "utf-8")
    code, rows = check(tmp_path / "tagger.py", capsys)
    assert code == 1
    assert {row["outcome"] for row in rows} == {"passed", "failed"}
