"""The scripted month: memory lives through it, and its judge sees what is wrong."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bench.month import checks, run, script
from bench.month.__main__ import main
from bench.month.checks import MonthResult
from bench.month.script import MonthStep
from kenobot.ports.provider import Block, Message, Request
from kenobot_testing.scenario import Expectation

AT = datetime(2026, 3, 1, 9, tzinfo=ZoneInfo("Europe/Madrid"))
TINY = """
zone = "UTC"
memory_tokens = 1500
owners = ["1"]
users = []
chats = []
[people.ann]
name = "Ann"
user = "1"
chat = "1"
[[step]]
at = 2026-03-01T09:00:00
kind = "plain"
who = "ann"
says = "My boat is called Petrel."
{remember}
fact = "boat is called Petrel"
fate = "{fate}"
[[step]]
at = 2026-03-02T09:00:00
kind = "plain"
who = "ann"
says = "What is the name of my vessel, my boat?"
{check}
"""
REMEMBER = 'remember = "Ann\'s boat is called Petrel"'


def tiny(remember: str, fate: str, check: str) -> MonthResult:
    return run.run_month(script.load(TINY.format(remember=remember, fate=fate, check=check)))


@pytest.mark.long
def test_memory_lives_through_the_month() -> None:
    """Every fact that should live can be answered with, and every one that should not is hidden."""
    whole = script.load()
    everyday = [step for step in whole.steps if step.kind == "everyday"]
    kept = set(map(id, everyday[::11]))
    steps = tuple(step for step in whole.steps if step.kind != "everyday" or id(step) in kept)
    verdict = run.run_month(replace(whole, steps=steps))
    assert verdict.failures == []
    assert verdict.total.asked > 90
    assert verdict.total.hidden == 9
    assert verdict.restarts == 9


def test_a_fact_that_was_never_kept_is_missed() -> None:
    """By the question in the chat, by the exam, and in the store."""
    verdict = tiny("", "lives", 'prompt = ["Petrel"]')
    assert len(verdict.failures) == 3
    assert (verdict.total.live, verdict.total.answered, verdict.total.asked) == (0, 0, 2)


def test_a_fact_that_should_be_gone_and_is_not_is_seen() -> None:
    """By the question in the chat, by the exam, and in the store."""
    verdict = tiny(REMEMBER, "superseded", 'never = ["Petrel"]')
    assert len(verdict.failures) == 3
    assert (verdict.total.leaks, verdict.total.hidden) == (2, 0)


def test_the_conversation_is_no_memory() -> None:
    """What stands in a prompt only because it was said there does not count as remembered, but as shown."""
    said = (Message("user", (Block("I live in Rome"),)), Message("user", (Block("Where do I live?"),)))
    request = Request((Block("## Memory\nnothing"),), said)
    verdict = MonthResult()
    checks.check_question(
        verdict, MonthStep(AT, "k", None, "Where do I live?", expect=Expectation(prompt=("Rome",))), request
    )
    checks.check_question(
        verdict, MonthStep(AT, "k", None, "Where do I live?", expect=Expectation(never=("Rome",))), request
    )
    checks.check_question(
        verdict, MonthStep(AT, "k", None, "Where do I live?", expect=Expectation(nowhere=("Rome",))), request
    )
    assert [failure.partition("”: ")[2] for failure in verdict.failures] == [
        "memory does not hold “Rome”",
        "it shows “Rome”",
    ]
    assert (verdict.row("k").answered, verdict.row("k").leaks) == (2, 1)


def test_a_question_that_never_reached_the_model_is_a_failure() -> None:
    """It would have proved nothing."""
    verdict = MonthResult()
    checks.check_question(verdict, MonthStep(AT, "k", None, "Hello?", expect=Expectation(never=("Rome",))), None)
    assert not verdict.passed


def test_a_fact_in_somebody_elses_scope_is_a_leak() -> None:
    """Even when it also lives where it belongs."""
    whole = script.load(TINY.format(remember="", fate="lives", check=""))
    verdict = MonthResult()
    text = "Ann's boat is called Petrel"
    checks.check_records(verdict, whole, [("owner", "active", text), ("user:telegram-2", "active", text)])
    assert (verdict.total.live, verdict.total.leaks) == (1, 1)


def test_a_summary_may_tell_what_is_outdated_and_nothing_forgotten() -> None:
    """It tells what was said, which is not what is believed; what was forgotten stands nowhere."""
    text = "Ann's boat is called Petrel"
    for fate, failures in (("superseded", 0), ("forgotten", 1), ("purged", 1)):
        verdict = MonthResult()
        whole = script.load(TINY.format(remember="", fate=fate, check=""))
        checks.check_records(verdict, whole, [("owner", "superseded", "something else")], [f"- {text}"])
        assert len(verdict.failures) == failures, fate


def test_a_script_that_says_a_thing_twice_is_refused() -> None:
    """Its model could not tell the two apart."""
    text = TINY.format(remember="", fate="lives", check="").replace("What is the name of my vessel, my boat?", "x")
    with pytest.raises(ValueError, match="twice"):
        script.load(text.replace("My boat is called Petrel.", "x"))


def test_the_command_writes_its_table_between_the_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And leaves the rest of the file as it is; without marks it says where to put them. A failure ends with 1."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- month: begin -->\nold\n<!-- month: end -->\nafter\n", "utf-8")
    good = MonthResult(restarts=3)
    good.row("plain").told = 1
    monkeypatch.setattr("bench.month.run.run_month", lambda *_, **__: good)
    assert main(["--write", str(page)]) == 0
    text = page.read_text("utf-8")
    assert text.startswith("before\n<!-- month: begin -->\n| kind |")
    assert text.endswith("Nothing failed.\n<!-- month: end -->\nafter\n")
    assert "| plain | 1 |" in text
    page.write_text("no marks", "utf-8")
    assert main(["--write", str(page)]) == 78
    assert page.read_text("utf-8") == "no marks"
    good.failures.append("plain: it leaks")
    capsys.readouterr()
    assert main(["--json"]) == 1
    assert '"failures": ["plain: it leaks"]' in capsys.readouterr().out
