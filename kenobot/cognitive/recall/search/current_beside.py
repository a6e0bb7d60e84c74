"""Put beside an excerpt of older talk what holds now, where the excerpt says what a memory said before."""

from collections.abc import Sequence
from dataclasses import replace

from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.candidates.by_words import LexicalHit
from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.store import records
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.changes.former_words import Replacement, says_former, update_line
from kenobot.storage.connection import Connection

FoundItem = RecalledMemory | Excerpt


def put_current_beside(
    connection: Connection, found: Sequence[FoundItem], past: Sequence[LexicalHit], sieve: RecallFilter, room: int
) -> list[FoundItem]:
    """Return what was found, with what holds now behind excerpts that say what the records of `past` said.

    room: tokens that are left. An excerpt whose correction has no room is left out.
    """
    if not past or not any(isinstance(each, Excerpt) for each in found):
        return list(found)
    replaced = _list_replaced(connection, past, sieve)
    kept: list[FoundItem] = []
    for each in found:
        if isinstance(each, Excerpt) and (line := _with_current(each, replaced)) != each.line:
            more = estimate_tokens(line + "\n") - each.tokens
            if more > room:
                sieve.dropped["no room"] += 1
                continue
            room -= more
            kept.append(replace(each, line=line, tokens=each.tokens + more))
        else:
            kept.append(each)
    return kept


def _with_current(excerpt: Excerpt, replaced: Sequence[Replacement]) -> str:
    line = excerpt.line
    for each in replaced:
        if says_former(excerpt.turn.text, each.former, each.current):
            line = update_line(line, each)
    return line


def _list_replaced(connection: Connection, past: Sequence[LexicalHit], sieve: RecallFilter) -> list[Replacement]:
    """List the records that were found and hold no longer, with those that took their place and may be told here."""
    reach = sieve.query.reach
    heads = recall_rows.current_versions(connection, [each.id for each in past], reach)
    known = records.by_ids(connection, [*heads, *heads.values()], reach)
    return [
        Replacement(old, known[old].text, new, known[new].text, lang=known[new].lang)
        for old, new in heads.items()
        if old in known and new in known and not known[new].needs_mark
    ]
