"""The runner of recorded cases, on cases made up here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.areas import reason_for
from tests.conformance.cases import Case, Checked, Compared, NotApplicable, compare, same
from tests.conformance.runner import main, play

GOOD = {"area": "context.age_label", "input": {"ageMs": 0}, "expected": "just now", "source": "here"}
BAD = {**GOOD, "expected": "long ago"}
STRANGE = {"area": "teapot.colour", "input": None, "expected": "red", "source": "here"}

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write cases, or lines as they are, into a file; returns its path."""

    def file(*lines: dict[str, Any] | str, name: str = "cases.jsonl") -> str:
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), "utf-8")
        return str(tmp_path / name)

    return file


def row(printed: str, area: str) -> list[str]:
    """The figures and the reason that the table gives for an area."""
    return next(line.split(maxsplit=4)[1:] for line in printed.splitlines() if line.startswith(f"{area} "))


def test_what_passes_is_counted_by_area(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """All files together make one table, and nothing failed is exit code 0; blank lines are no cases."""
    assert main([write(GOOD, "", GOOD), write(STRANGE, name="more.jsonl")]) == 0
    printed = capsys.readouterr().out
    assert row(printed, "context.age_label") == ["2", "·", "·"]
    assert row(printed, "teapot.colour") == ["·", "·", "1", "unknown area"]
    assert row(printed, "all") == ["2", "·", "1"]


def test_a_failure_is_listed_with_what_was_wanted_and_what_came(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, and of each failure its place, its source, input, expected and actual."""
    assert main([write(GOOD, BAD)]) == 1
    printed = capsys.readouterr().out
    assert row(printed, "context.age_label") == ["1", "1", "·"]
    assert printed.splitlines()[-4:] == [
        "✗ context.age_label  (cases.jsonl:2, here)",
        '  input:    {"ageMs": 0}',
        '  expected: "long ago"',
        '  actual:   "just now"',
    ]


def test_only_the_areas_asked_for_are_played(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """`--area` takes the beginning of a name."""
    assert main([write(BAD, STRANGE), "--area", "teapot"]) == 0
    assert "context.age_label" not in capsys.readouterr().out


def test_programs_get_json(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints the same as one object, whatever characters the cases hold."""
    assert main([write(BAD, {**STRANGE, "input": "\ud83d"}), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["total"] == {"passed": 0, "failed": 1, "not_applicable": 1}
    assert [area["area"] for area in told["areas"]] == ["context.age_label", "teapot.colour"]
    assert told["areas"][1]["reasons"] == ["unknown area"]
    (failure,) = told["failures"]
    assert failure["place"] == "cases.jsonl:1"
    assert (failure["expected"], failure["actual"]) == ("long ago", "just now")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{broken", "cases.jsonl:2: not valid JSON"),
        ("[]", "cases.jsonl:2: a case is an object with an area"),
        ('{"input": 1, "expected": 1}', "cases.jsonl:2: a case is an object with an area"),
        ('{"area": "x", "input": 1}', "cases.jsonl:2: the case has no expected"),
    ],
)
def test_a_file_that_cannot_be_understood_is_no_failure_of_the_product(
    write: Write, capsys: pytest.CaptureFixture[str], line: str, complaint: str
) -> None:
    """Exit code 2, the line is named, and nothing is played."""
    assert main([write(GOOD, line)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert complaint in printed.err


@pytest.mark.parametrize("arguments", [[], ["--colour"], ["absent.jsonl"]])
def test_wrong_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """No file, an unknown option, a file that is not there."""
    assert main(arguments) == 2
    assert capsys.readouterr().err


def test_an_area_without_cases_is_wrong_usage(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped area must not look like success."""
    assert main([write(GOOD), "--area", "contxt"]) == 2
    assert "contxt" in capsys.readouterr().err


def test_what_the_product_raises_is_a_failure() -> None:
    """A case that breaks the product, or the form its area has, fails by itself and stops nobody else."""
    result = play(Case("context.age_label", {"ageMs": "a while"}, "just now"))
    assert result.verdict == "failed"
    assert result.actual.startswith("TypeError: ")


def test_a_defect_of_the_original_is_judged_by_what_is_better() -> None:
    """`better` takes the place of `expected`; a quirk that no check knows cannot be judged."""
    case = Case("x", None, "bad", quirk="it is bad")
    assert compare(Case("x", None, "bad", quirk="it is bad", better="good"), "good") == Compared("good", "good")
    assert isinstance(compare(case, "bad"), NotApplicable)
    assert Checked("good", {"it is good": True, "it is cheap": False}).broken == ["it is cheap"]


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [("<memory>x</memory >", "passed"), ("```\n<memory>x</memory>\n```", "failed")],
)
def test_a_quirk_passes_when_the_better_behaviour_is_there(reply: str, verdict: str) -> None:
    """The check follows what the quirk says, not which reply it is."""
    recorded = {"cleanText": reply, "memories": []}
    quirk = "case/attribute/space variants are not recognised and leak to the user"
    assert play(Case("tags.memory", reply, recorded, quirk=quirk)).verdict == verdict


def test_a_scenario_that_comes_out_otherwise_fails() -> None:
    """Replies, history, prompt and files of a conversation are compared, each by itself."""
    expected = {
        "replies": [{"status": 200, "body": {"response": "Noted.", "status": "ok"}}],
        "lastPrompt": {"messages": [{"role": "user", "content": "hi"}], "system": "# Test Bot\n\n### Never there\nx"},
        "filesCreatedOrChanged": {
            "memory/<TODAY>.md": "## HH:MM — likes coffee\n\n",
            "sessions/http-http-c.jsonl": '{"role":"user","content":"hi"}\n{"role":"assistant","content":"Noted."}\n',
        },
        "filesDeleted": [],
    }
    turns = [{"user": "hi", "chat_id": "c", "response": "Noted. <memory>likes tea</memory>"}]
    result = play(Case("scenario.made-up", {"setup": {}, "env": {}, "turns": turns}, expected))
    assert result.verdict == "failed"
    differing = {key for key in result.wanted if result.wanted[key] != result.actual[key]}
    assert differing == {"lackingInPrompt", "files"}
    assert result.actual["lackingInPrompt"] == ["### Never there\nx"]
    assert result.actual["files"] == {"memory/2026-02-14.md": "## 14:30 — likes tea\n\n"}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [(1, 1.0, True), (0.1 + 0.2, 0.3, True), (True, 1, False), ([1], (1,), True), ({"a": [1]}, {"a": [2]}, False)],
)
def test_values_are_compared_as_json(one: Any, other: Any, alike: bool) -> None:
    """Numbers by value, lists by their items; true is no number."""
    assert same(one, other) is alike


def test_areas_that_are_not_built_have_a_reason_each() -> None:
    """The longest prefix decides; the rest is unknown."""
    assert reason_for("provider.mock").startswith("the texts of the original's mock provider")
    assert reason_for("identity.profile_parse") == (
        "not built yet (belongs to a later issue: onboarding profile by a model)"
    )
    assert reason_for("identity.something") == "unknown area"
