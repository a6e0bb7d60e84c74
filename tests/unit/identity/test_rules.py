import pytest

from kenobot.identity.rules import Rules, parse, render, violations
from tests.recorded import recorded


@pytest.mark.parametrize("case", recorded("identity.rules_format"))
def test_rules_are_rendered_as_recorded(case: dict[str, object]) -> None:
    """The recorded rules give the recorded text; where the original had a quirk, the older schema renders too."""
    expected = "## Behavioral Guidelines\n\n### General\n\n- y" if "quirk" in case else case["expected"]
    assert render(Rules.model_validate(case["input"])) == expected


@pytest.mark.parametrize("case", recorded("identity.rules_violations"))
def test_violations_are_found_as_recorded(case: dict[str, object]) -> None:
    """The recorded replies break the recorded rules; where the original matched parts of words, whole words count."""
    given = case["input"]
    assert isinstance(given, dict)
    rules = Rules.model_validate({"forbidden": [{"pattern": pattern} for pattern in given["forbidden"]]})
    assert violations(rules, given["response"]) == ([] if "quirk" in case else case["expected"])


@pytest.mark.parametrize(
    ("pattern", "reply", "found"),
    [
        ("um", "The museum", False),
        ("um", "Well, um… yes", True),
        ("está", "ESTÁ bien", True),
        ("esta", "está bien", False),
        ("let me just", "Let\nme   just", True),
        ("!", "Hey!", True),
        ("C++", "C++ is fine", True),
        ("当然", "我当然可以", True),
        ("🙂", "ok🙂ok", True),
        ("لكن", "ولكن", False),
        ("", "anything", False),
    ],
)
def test_patterns_are_whole_words(pattern: str, reply: str, found: bool) -> None:
    """A word inside another one is no violation; where words are not parted by blanks, it may stand anywhere."""
    rules = Rules.model_validate({"forbidden": [{"pattern": pattern}]})
    assert bool(violations(rules, reply)) is found


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"behavioral": [{}]}', '{"forbidden": "um"}', '{"behavioral": [{"instruction": 3}]}']
)
def test_malformed_rules_are_refused(text: str) -> None:
    """Bad JSON and wrong types are a ValueError, not half a set of rules."""
    with pytest.raises(ValueError):
        parse(text)


def test_no_rules_render_to_nothing() -> None:
    """Empty rules leave no headings behind."""
    assert render(parse("{}")) == ""
