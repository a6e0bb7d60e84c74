"""A cell whose workers, ingress and database are killed, cut off and misled while people talk: the short form.

`python -m tests.hosting.chaos` plays longer ones.
"""

from tests.hosting.chaos.play import play
from tests.hosting.chaos.story import SHORT


async def test_nothing_is_lost_doubled_or_mixed_while_workers_die() -> None:
    """Each message is answered once, in the order of its chat, and memory is as in a run that nobody disturbed."""
    outcome = await play(SHORT)
    assert outcome.broken == []
    assert outcome.troubles["server"] == outcome.troubles["cut"] == outcome.troubles["claim"] == 1
    assert outcome.troubles["kill"] > 1
    for name in ("commits", "copies", "records", "boxes", "recalls that found something"):
        assert outcome.counts[name] > 0
    for name in ("rows", "files", "replies", "prompts"):
        assert outcome.counts[f"{name} with their own secret"] >= SHORT.homes
