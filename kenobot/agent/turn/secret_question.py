"""Say in a reply that a secret was not kept, and offer to keep it on a yes.

Only who is alone with the bot is asked, of what stands in their own message.
"""

from datetime import datetime
from functools import lru_cache

from kenobot.agent.commands.kept_secret import offer_secret
from kenobot.agent.turn.turn_data import TurnData
from kenobot.cognitive.memory import Telling
from kenobot.core import texts
from kenobot.gateway.buttons import Choice
from kenobot.language.provenance import without_quotes
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.sentence_core import read_core
from kenobot.language.told_secrets import find_told_secret
from kenobot.storage.connection import Connection


def secret_notes(data: TurnData) -> list[str]:
    """Return what a reply tells of a secret that was not kept; nothing where there is none."""
    if not _was_refused(data):
        return []
    notes = [] if _tells_itself(data) else [texts.SECRET_REFUSED(data.language)]
    return [*notes, texts.SECRET_OFFER(data.language)] if may_offer(data) else notes


def open_offer(connection: Connection, data: TurnData, at: datetime) -> tuple[Choice, ...]:
    """Open the question of a finished turn, behind its messages; return its buttons."""
    if not _was_refused(data) or not may_offer(data):
        return ()
    return offer_secret(connection, data.pending.inbound, data.pending.id, at, data.language)


def may_offer(data: TurnData) -> bool:
    """Return whether the person can be asked: no other question is open, and their own words tell the secret."""
    inbound = data.pending.inbound
    own = inbound.private and not inbound.forwarded and data.principal.trust in ("owner", "guest")
    return own and not data.asks_about_tools and find_told_secret(without_quotes(inbound.text)) is not None


def _was_refused(data: TurnData) -> bool:
    candidates = data.effects.candidates if data.effects is not None else ()
    if _tells_itself(data) or any(Telling.find_secret(each, each.text) for each in candidates):
        return True
    inbound = data.pending.inbound
    return data.report is None and not inbound.forwarded and _asks_to_keep(without_quotes(inbound.text))


def _tells_itself(data: TurnData) -> bool:
    """Return whether the reply of a provider without a model tells of it."""
    return data.report is not None and any(made.action == "refused" for _, made in data.report.decisions)


@lru_cache(maxsize=32)  # once before a reply is stored, and once with it
def _asks_to_keep(text: str) -> bool:
    """Return whether somebody asks to remember a secret."""
    return any(find_told_secret(part) and read_core(part.strip()).asked for part in split_sentences(text))
