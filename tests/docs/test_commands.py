"""What the documents tell people to type is understood by the program, and what can run here runs."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.cli import ALIASES, options
from kenobot.cli.command_tables import read_command
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.core.settings.meanings import read_shipped_sections
from tests.docs.settings_page import EXTRAS_PAGE, PAGE, is_extra, page
from tests.docs.test_readme import ROOT, Step, play

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tools").glob("*.md")])
_MARKED = re.compile(r"(?:<!-- needs: ([^>]+) -->\n)?^```(?:sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(kenobot [^`\n]+)`")
_COMMENT = re.compile(r"\s+#.*$")
_PLACEHOLDER = re.compile(r"[A-Z]+")
_VALUES = ("1", "in-1", "1h")
"""What may stand for a word in capitals, which the documents leave to the reader."""
_MISSING = re.compile(r"arguments? .*required|is required")


def lines(block: str) -> list[str]:
    """The commands of a block, without their comments, one a line."""
    whole = block.replace("\\\n", " ")
    return [line for text in whole.splitlines() if (line := _COMMENT.sub("", text).strip())]


def named_commands(text: str) -> Iterator[list[str]]:
    """Every call of `kenobot` in a page, cut into words."""
    found = [line for _, block in _MARKED.findall(text) for line in lines(block)] + _INLINE.findall(text)
    for line in found:
        for call in re.split(r"\s*(?:&&|\|\||;|\|)\s*", line):
            words = shlex.split(call.removeprefix("sudo "))
            if words[:1] == ["kenobot"] and "…" not in call and "*" not in call:
                yield words[1:]


def complaint(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What the parser of the command says against these words; "" when it takes them.

    Prose names commands without their arguments, so missing ones are no complaint.
    """
    home = argparse.ArgumentParser(prog="kenobot", add_help=False)
    home.add_argument("--home", default=argparse.SUPPRESS)
    rest = home.parse_known_args(words)[1]
    if not rest or rest[0].startswith("-") or rest in (["version"], ["help", "all"]):
        return ""
    name = ALIASES.get(rest[0], rest[0])
    commands = read_command(name)
    if not commands:
        return "there is no such command"
    said = ""
    for value in _VALUES:
        tried = [name, *(value if _PLACEHOLDER.fullmatch(word) else word for word in rest[1:])]
        capsys.readouterr()
        try:
            options.build_parser(commands, home).parse_args(tried, argparse.Namespace(home=None, typed=tried))
        except SystemExit:
            said = capsys.readouterr().err
            if not _MISSING.search(said):
                continue
        return ""
    return said


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_is_understood(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each `kenobot …` of a page is a command with options that exist."""
    for words in named_commands(path.read_text("utf-8")):
        said = complaint(words, capsys)
        assert not said, f"{path.name}: kenobot {shlex.join(words)}\n{said}"


@pytest.mark.long
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_block_runs_or_says_what_it_needs(path: Path, tmp_path: Path) -> None:
    """The blocks of a page, one after the other in a home that has spoken once, end without an error.

    A block that needs more than a shell and KenoBot says so in a comment before it, which readers do not see.
    """
    blocks = [block for needs, block in _MARKED.findall(path.read_text("utf-8")) if not needs]
    if not blocks:
        return
    done = play(Step("kenobot chat -m 'Remember that the spare key is with Ana' && kenobot backup"), tmp_path)
    assert done.returncode == 0, done.stderr
    backup = next((tmp_path / ".kenobot" / "backups").iterdir())
    for block in blocks:
        for line in lines(block):
            done = play(Step(re.sub(r"\bFILE\b", shlex.quote(str(backup)), line)), tmp_path)
            assert done.returncode == 0, f"{path.name}: {line}\n{done.stdout}{done.stderr}"


def test_the_page_of_servers_names_every_key() -> None:
    """docs/tools/mcp.md explains each setting of an MCP server."""
    text = (ROOT / "docs" / "tools" / "mcp.md").read_text("utf-8")
    assert [key for key in McpServerSettings.model_fields if f"`{key}`" not in text] == []


def test_the_page_of_settings_is_what_the_code_says() -> None:
    """Both pages are made anew whenever a setting changes: `python -m tests.docs.settings_page`."""
    assert PAGE.read_text("utf-8") == page()
    assert EXTRAS_PAGE.read_text("utf-8") == page(extras=True)


def test_the_core_has_no_more_settings_than_an_owner_can_know() -> None:
    """A hundred: a new one takes the place of one that nobody has a reason to change."""
    keys = [
        key for section in read_shipped_sections() if not is_extra(section) for row in section.rows for key in row.keys
    ]
    assert len(keys) <= 100
