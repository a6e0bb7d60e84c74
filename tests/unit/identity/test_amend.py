"""A line more in a person's own file: the rest stays to the letter, and it can be taken out again."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.identity import amend
from kenobot.identity.amend import AmendError

RULE = {"category": "care", "instruction": 'Ask "first", né.'}
FILES = [
    '{"behavioral": [], "forbidden": []}',
    '{"behavioral": [{"instruction": "a"}], "forbidden": []}\n',
    '{\n\t"behavioral": [\n\t\t{"instruction": "a"}\n\t]\n}\n',
    '{\r\n  "behavioral": [\r\n    {\r\n      "instruction": "a"\r\n    }\r\n  ]\r\n}\r\n',
    '\ufeff{"forbidden": [{"pattern": "]}"}], "behavioral": [\n {"instruction": "[y]{z}"},\n {"instruction": "b"}\n]}',
    '{"rules": [{"id": "1", "instruction": "old form"}]}',
    "{}",
    "",
    "\n",
]


@pytest.mark.parametrize("text", FILES)
def test_a_rule_more_leaves_all_else_as_it_was(text: str) -> None:
    """Whatever the spelling: what was there begins and ends the file, and the rules are those and the new one."""
    amended = amend.add_rule(text, RULE)
    before = json.loads(text.removeprefix("\ufeff")) if text.strip() else {"forbidden": []}
    assert json.loads(amended.text.removeprefix("\ufeff")) == {
        **before,
        "behavioral": [*before.get("behavioral", []), RULE],
    }
    if text.strip():
        assert amended.text.replace(amended.inserted, "") == text
        assert amend.revert_amendment(amended.text, text, amended.text, amended.inserted) == text
        assert ("\r\n" in amended.inserted) == ("\r\n" in text)
    assert amend.add_rule(amended.text, RULE).inserted == "", "the same rule a second time changes nothing"


@pytest.mark.parametrize("text", ["{", "[]", '{"behavioral": 3}', '{"behavioral": [{"category": "x"}]}', "no"])
def test_a_broken_file_is_not_touched(text: str) -> None:
    """What cannot be read as rules is a person's to mend."""
    with pytest.raises(AmendError, match="broken"):
        amend.add_rule(text, RULE)


@given(st.text(max_size=200), st.text(min_size=1, max_size=40).filter(lambda text: text.split()))
def test_a_preference_more_is_a_line_at_the_end(text: str, preference: str) -> None:
    """Whatever stands there stays, and taking it out gives it back."""
    amended = amend.add_preference(text, preference)
    assert amended.text.startswith(text)
    assert f"- {' '.join(preference.split())}" in [line.strip() for line in amended.text.splitlines()]
    if amended.inserted:
        assert amend.revert_amendment(amended.text, text, amended.text, amended.inserted) == text


def test_a_file_that_changes_meanwhile_is_left_to_its_owner(tmp_path: Path) -> None:
    """Between reading and writing a person saved theirs: nothing of it is lost, and nothing is left lying about."""
    path = tmp_path / "rules.json"
    path.write_text("mine")
    with pytest.raises(AmendError, match="changed just now"):
        amend.replace_text(path, "theirs", "ours")
    assert path.read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["rules.json"]
