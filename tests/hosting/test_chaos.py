"""A cell whose workers, ingress and database are killed, stopped and cut off while people talk: the short form.

`python -m tests.hosting.chaos` plays longer ones.
"""

from tests.hosting.chaos.play import Story, play


async def test_nothing_is_lost_or_doubled_while_workers_die() -> None:
    """Each message is answered once, in the order of its chat, and each working copy equals its rows."""
    story = Story(bots=2, homes=2, chats=2, messages=40, workers=2, kill_seconds=2.0, cuts=1, server_kills=1, seed=7)
    outcome = await play(story)
    assert outcome.broken == []
    assert outcome.kills["server"] == outcome.kills["cut"] == 1
    assert sum(outcome.kills.values()) > 2
    assert outcome.copies > 0
