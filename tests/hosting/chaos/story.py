"""How large a play of chaos is, and what happens in it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Story:
    """The numbers of a play.

    bots, homes, chats, messages: in all. together: homes in which people talk at the same time. seconds: over which
    they talk, at least; they wait when too many messages have no answer. kill_seconds: between two kills of a worker,
    while they talk; kills: at most. The rest: how often what happens.

    clock_hours: by which the clocks of workers are off, of the first forwards, of the second backwards, and so on.
    idle_seconds: after which a home without mail is put away.
    """

    bots: int = 2
    homes: int = 6
    chats: int = 18
    messages: int = 120
    workers: int = 2
    ingresses: int = 1
    together: int = 6
    seconds: float = 10.0
    kill_seconds: float = 3.0
    kills: int = 1_000_000
    stops: int = 0
    ingress_kills: int = 0
    server_kills: int = 0
    cuts: int = 0
    old_copies: int = 0
    claims: int = 0
    full_disks: int = 0
    clock_hours: float = 1.0
    idle_seconds: float = 5.0
    recalls: int = 20
    seed: int = 20261129


SHORT = Story(
    homes=4,
    chats=12,
    messages=40,
    together=4,
    seconds=6.0,
    kill_seconds=2.0,
    kills=3,
    server_kills=1,
    cuts=1,
    claims=1,
    seed=7,
)
"""Of `make test`."""

FULL = Story(
    bots=20,
    homes=200,
    chats=1_000,
    messages=10_000,
    workers=5,
    ingresses=2,
    together=20,
    seconds=540.0,
    stops=6,
    ingress_kills=6,
    server_kills=4,
    cuts=12,
    old_copies=4,
    claims=12,
    full_disks=4,
)
"""Of issue 43."""

TROUBLES = {
    "stops": "stop",
    "ingress_kills": "ingress",
    "server_kills": "server",
    "cuts": "cut",
    "old_copies": "old copy",
    "claims": "claim",
    "full_disks": "full disk",
}
"""What happens in a play beside kills of workers, by the number that says how often."""


def list_troubles(story: Story) -> list[str]:
    """List what is to happen beside kills, each as often as the story says."""
    return [name for field, name in TROUBLES.items() for _ in range(getattr(story, field))]


def list_numbers() -> dict[str, int | float]:
    """List the numbers of a story by name, with their defaults."""
    return asdict(Story())


def resize(story: Story, numbers: Mapping[str, Any]) -> Story:
    """Return a story with other numbers; None leaves one as it is."""
    return replace(story, **{name: value for name, value in numbers.items() if value is not None})
