"""A short form of `make soak`: the same road, the same ledger, a real process."""

from pathlib import Path

import pytest

from tests.soak.__main__ import report
from tests.soak.document import BEGIN, END, placed
from tests.soak.ledger import Ledger
from tests.soak.run import Outcome, Plan, soak
from tests.soak.sample import Sample, drift


@pytest.mark.long
async def test_a_thousand_messages_lose_nothing_and_leave_nothing_open(tmp_path: Path) -> None:
    """A real process answers each once, in order; threads, descriptors and the write-ahead log stay where they were."""
    outcome = await soak(Plan(messages=1000, through="line", every=0.5), tmp_path / "run")
    assert (outcome.lost, outcome.doubled, outcome.disordered, outcome.odd) == (0, 0, 0, ())
    assert outcome.rows["turn"] == outcome.rows["inbox"] == outcome.rows["outbox"] == 1000
    assert outcome.rows["message"] == 2000
    told, noted = outcome.facts
    assert 0 < told == noted
    # Of what else was said it reads as much for itself as it has time for, on a slow machine more than on a quick one.
    assert outcome.rows["record"] - noted < 200
    last = outcome.samples[-1]
    assert last.answered == 1000
    assert last.rss < 150
    assert last.descriptors <= 30 and last.threads <= 20
    assert last.log < 16


def _line(growth: float, noise: float = 0.0) -> list[Sample]:
    """A run of 100,000 messages whose memory grows by `growth` MB per thousand of them after a steep beginning."""
    return [
        Sample(n, n * 1000, 50 + min(n, 20) + growth * n + (noise if n % 2 else -noise), 15, 6, 0.0, 0.0)
        for n in range(101)
    ]


def test_a_leak_is_told_from_noise_and_from_warming_up() -> None:
    """A hundred bytes a message are found; a steep beginning and a jagged line are not taken for a leak."""
    assert drift(_line(0.1)) > 0.05
    assert abs(drift(_line(0.0))) < 1e-9
    assert abs(drift(_line(0.0, noise=2.0))) < 0.01
    assert drift(_line(-0.1)) < 0


def test_the_ledger_finds_what_is_lost_doubled_or_out_of_order() -> None:
    """Each in its own chat, whatever the text is."""
    ledger = Ledger()
    texts = [ledger.ask("a", "hello")[1] for _ in range(4)]
    ledger.answer("a", f"ok: {texts[1]}")
    ledger.answer("a", f"ok: {texts[0]}")
    ledger.answer("a", f"ok: {texts[0]}")
    ledger.answer("b", f"ok: {texts[2]}")
    ledger.answer("a", "I am not available")
    found = (ledger.asked, ledger.answered, ledger.waiting, ledger.doubled, ledger.disordered, ledger.odd)
    assert found == (4, 2, 2, 2, 1, ["I am not available"])


def test_figures_are_written_between_the_marks() -> None:
    """Each command's figures replace its own; what stands around stays."""
    outcome = Outcome(Plan(50_000, "line"), tuple(_line(0.0)[:20]), 33, 0, 0, 0, (), {"turn": 1000}, 0.001)
    text = placed(f"# Title\n\n{BEGIN}\nwhat it is\n{END}\n\nafter\n", "one", "old figures")
    text = placed(text, "one two", "of another command")
    text = placed(text, "one", report(outcome))
    assert text.startswith(f"# Title\n\n{BEGIN}\nwhat it is\n\n### `one two`, ") and text.endswith(f"{END}\n\nafter\n")
    assert text.count("### `one`, ") == 1
    assert "of another command" in text and "old figures" not in text
    assert "**flat**" in text and "**0 lost, 0 doubled, 0 out of order**" in text
    assert placed("# No marks\n", "one", "x").count(BEGIN) == 1
