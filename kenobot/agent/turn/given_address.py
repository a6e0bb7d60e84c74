"""Tell a call that only reads an address of the speaker's: it carries nothing out, whatever else is on show. Pure."""

from collections.abc import Iterator, Sequence

from kenobot.agent.prompt.shown_message import PersonText
from kenobot.agent.prompt.speakers import list_spoken_words
from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core.attachment_words import without_attachments
from kenobot.language.provenance import is_long
from kenobot.ports.messages import Inbound
from kenobot.ports.provider import ToolCall
from kenobot.ports.tool import ToolEffects

_MOST = 3  # addresses of a message: the choice among many says something, too


def is_given(call: ToolCall, effects: ToolEffects, data: TurnData, rounds: Sequence[ToolRound]) -> bool:
    """Return whether a call reads the very address that the owner typed, or one that was read in this turn."""
    value = call.arguments.get(effects.address) if effects.address else None
    if not isinstance(value, str):
        return False
    wanted = _simplify(value.strip())
    typed = _find_typed(data.pending.inbound) if data.principal.role == "owner" else set[str]()
    return wanted in typed or wanted in _find_read(call.name, effects.address, rounds)


def _find_typed(inbound: Inbound) -> set[str]:
    """Return the few addresses in a message, but for those among words that are or may be another's."""
    from kenobot.agent.safety.urls import find_urls  # noqa: PLC0415 - reads long lists

    said = PersonText(without_attachments(list_spoken_words(inbound)))
    if inbound.forwarded or is_long(said.own_words):
        return set()
    found = {_simplify(each.text) for each in find_urls(said.own_words)}
    for passage in (voice.text.strip() for voice in said.passages):  # "read this: https://…"
        found |= {_simplify(each.text) for each in find_urls(passage) if each.text == passage}
    return found if len(found) <= _MOST else set()


def _find_read(tool: str, argument: str, rounds: Sequence[ToolRound]) -> Iterator[str]:
    for each in rounds:
        for call, result in zip(each.calls, each.results, strict=True):
            value = call.arguments.get(argument)
            if call.name == tool and not result.failed and isinstance(value, str):
                yield _simplify(value.strip())


def _simplify(address: str) -> str:
    """Return an address without what makes no other page of it."""
    return address.removeprefix("https://").removeprefix("http://").rstrip("/")
