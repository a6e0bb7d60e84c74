"""`kenobot plugin new` writes packages that keep to their contracts; `kenobot plugin check` says what others break."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from kenobot.cli.plugin_new import package_files


def write(folder: Path, kind: str, name: str, changes: Mapping[str, str] | None = None) -> Path:
    """Write a new package, with changes to its module."""
    for path, text in package_files(kind, name).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        changed = text
        if path.suffix == ".py" and not path.parent.name:
            for before, after in (changes or {}).items():
                assert before in text
                changed = changed.replace(before, after)
        target.write_text(changed, "utf-8")
    return folder


async def check(path: Path) -> tuple[int | None, list[dict[str, str]]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", "plugin", "check", str(path), "--json"), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return process.returncode, [json.loads(line) for line in out.splitlines()]


async def test_every_new_package_keeps_to_its_contract_and_its_own_tests(tmp_path: Path) -> None:
    """As it is written, without being installed: each ends with a bot that answers."""
    kinds = ("channel", "postprocessor", "provider", "tool", "observer")
    roots = [write(tmp_path / kind, kind, f"my{kind}") for kind in kinds]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull),
        *("--import-mode", "importlib"),
        *("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"),
        *(str(root / "tests") for root in roots),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, roots), *filter(None, sys.path)])},
        stdout=asyncio.subprocess.PIPE,
        cwd=tmp_path,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()


async def test_a_channel_that_lies_is_told_so_in_words(tmp_path: Path) -> None:
    """Its author reads what the core relies on, and what the channel did."""
    lies = {
        "    name =": "    capabilities = Capabilities(edits=True)\n    name =",
        "import Sink": "import Capabilities, Sink",
    }
    path = write(tmp_path, "channel", "liar", lies)
    code, rows = await check(path)
    (failed,) = (row for row in rows if row["outcome"] == "failed" and "declares" in row["test"])
    assert code == 1
    assert "an edit has another id" in failed["why"]
    assert "asks a channel for what its capabilities say" in failed["asked"]


async def test_a_single_file_is_checked_by_the_contract_alone(tmp_path: Path) -> None:
    """Without tests of its own."""
    text = package_files("postprocessor", "tagger")[Path("kenobot_tagger.py")]
    (tmp_path / "tagger.py").write_text(text.replace("tuple(text for", "list(text for"), "utf-8")
    code, rows = await check(tmp_path / "tagger.py")
    assert code == 1
    assert {row["outcome"] for row in rows} == {"passed", "failed"}
