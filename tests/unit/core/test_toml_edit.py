"""One key of a TOML file is set; every other line stays."""

import tomllib

import pytest

from kenobot.core.settings.toml_edit import Value, remove_table, set_value, toml_literal
from kenobot.ports.errors import ConfigError


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[bot]\nname = "x"\n'),
        ("[loop]\nattempts = 3", '[loop]\nattempts = 3\n\n[bot]\nname = "x"\n'),
        ("[bot]\n", '[bot]\nname = "x"\n'),
        ("[bot] # mine\ntimezone = 'UTC'\n", "[bot] # mine\nname = \"x\"\ntimezone = 'UTC'\n"),
        ('[bot]\n# Its name.\n# name = "y"\n# z\n', '[bot]\n# Its name.\n# name = "y"\nname = "x"\n# z\n'),
        ("[bot]\nname='y'# old\n[loop]\n", '[bot]\nname = "x"  # old\n[loop]\n'),
        ("[bot]\nname = 'a # b'\n", '[bot]\nname = "x"\n'),
        ("[bot]\r\nname = 'y'\r\n", '[bot]\r\nname = "x"\r\n'),
        ("[other]\nname = 'y'\n[bot]\nnames = 1\n", "[other]\nname = 'y'\n[bot]\nname = \"x\"\nnames = 1\n"),
    ],
)
def test_one_line_changes(before: str, after: str) -> None:
    """A key is replaced, put under its commented self, or added to its section, with its remark kept."""
    assert set_value(before, "bot", "name", "x") == after
    assert set_value(after, "bot", "name", "x") == after


@pytest.mark.parametrize(
    "text",
    [
        'bot = {name = "y"}\n',
        'bot.name = "y"\n',
        '[bot]\nname = """\ny"""\n',
        '[bot]\n"name" = "y"\n',
        'text = """\n[bot]\n"""\n',
        "[bot.name]\nx = 1\n",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    """Rare ways to write TOML are left to the person, who is told what to write."""
    with pytest.raises(ConfigError, match=r'under \[bot\]: name = "x"'):
        set_value(text, "bot", "name", "x")


@pytest.mark.parametrize("value", ["", 'q"\\', "ñ\n\t\x7f\x1b", "😀", True, ["a", 'b"'], []])
def test_values_are_written_as_toml(value: Value) -> None:
    """Whatever is written reads back as it was."""
    assert tomllib.loads(f"x = {toml_literal(value)}") == {"x": value}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[mcp.a]\nurl = 'x'\n", ""),
        (
            "# b\n[bot]\nname = 'y'\n[mcp.a] # it\nurl = 'x'\n[mcp.a.env]\nK = 'v'\n[loop]\n",
            "# b\n[bot]\nname = 'y'\n[loop]\n",
        ),
        ("[mcp.a]\nurl = 'x'\n[mcp.ab]\nurl = 'y'\n", "[mcp.ab]\nurl = 'y'\n"),
        ("[mcp]\n[mcp.a]\nurl = 'x'\n", "[mcp]\n"),
    ],
)
def test_a_table_is_removed(before: str, after: str) -> None:
    """With those within it, and nothing else."""
    assert remove_table(before, "mcp.a") == after


@pytest.mark.parametrize("text", ["mcp.a.url = 'x'\n", "[mcp]\na = {url = 'x'}\n", "[mcp.'a']\nurl = 'x'\n"])
def test_a_table_written_in_another_way_is_left_to_its_owner(text: str) -> None:
    """It is said which one."""
    with pytest.raises(ConfigError, match=r"remove \[mcp.a\] by hand"):
        remove_table(text, "mcp.a")
