"""Tell a call that only reads an address of the speaker's: it carries nothing out, whatever else is on show. Pure."""

from collections.abc import Iterator, Sequence

from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.turn_data import TurnData
from kenobot.cognitive.text.provenance import is_long
from kenobot.ports.provider import ToolCall
from kenobot.ports.tool import ToolEffects

_MOST = 3  # addresses of a message: the choice among many says something, too


def is_given(call: ToolCall, effects: ToolEffects, data: TurnData, rounds: Sequence[ToolRound]) -> bool:
    """Return whether a call reads the very address that its speaker typed, or one that was read in this turn."""
    value = call.arguments.get(effects.address) if effects.address else None
    if not isinstance(value, str):
        return False
    wanted = _plain(value.strip())
    return wanted in _typed(data) or any(wanted == each for each in _read(call.name, effects.address, rounds))


def _typed(data: TurnData) -> set[str]:
    """Return the few addresses in the message of a turn; none of one that may be pasted or passed on."""
    from kenobot.agent.safety.urls import find_urls  # noqa: PLC0415 - reads long lists

    assert data.context is not None
    words = data.context.speech.message
    if data.principal.role != "owner" or is_long(words):
        return set()
    found = {_plain(each.text) for each in find_urls(words)}
    return found if len(found) <= _MOST else set()


def _read(tool: str, argument: str, rounds: Sequence[ToolRound]) -> Iterator[str]:
    for each in rounds:
        for call, result in zip(each.calls, each.results, strict=True):
            value = call.arguments.get(argument)
            if call.name == tool and not result.failed and isinstance(value, str):
                yield _plain(value.strip())


def _plain(address: str) -> str:
    """Return an address without what makes no other page of it."""
    return address.removeprefix("https://").removeprefix("http://").rstrip("/")
