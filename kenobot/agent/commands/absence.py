"""Word why something was not remembered."""

from collections.abc import Mapping

from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.ports.explanations import AbsenceExplanation, FoundItem
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

_QUOTED = 140  # characters
HIDDEN = ("forgotten", "veiled")
"""Reasons for which the text of an item is not shown: it was forgotten or hidden."""

_REASONS: Mapping[str, Text] = {
    "out of reach": texts.ABSENT_ELSEWHERE,
    "superseded": texts.ABSENT_SUPERSEDED,
    "invalidated": texts.ABSENT_TAKEN_BACK,
    "taken back": texts.ABSENT_TAKEN_BACK,
    "archived": texts.ABSENT_ARCHIVED,
    "later": texts.ABSENT_LATER,
    "expired": texts.ABSENT_EXPIRED,
    "stale": texts.ABSENT_FADED,
    "faded": texts.ABSENT_FADED,
    "another form": texts.ABSENT_FORM,
}


def render_absence(found: AbsenceExplanation, wanted: str, language: Language) -> str:
    """Word which of the four reasons it was, as Markdown."""
    question = texts.QUOTED(language, text=_shorten(found.question))
    item = found.item
    if item is None:
        template = texts.ABSENT_ERASED if found.reason == "erased" else texts.ABSENT_NEVER
        return template(language, what=_shorten(wanted))
    if found.outcome == "not_eligible" and found.reason in HIDDEN:
        return texts.ABSENT_FORGOTTEN(language)
    what = _name(item, language)
    if found.outcome == "not_eligible":
        reason = _REASONS.get(found.reason, texts.ABSENT_ENDED)(language, scope=item.scope)
        return texts.ABSENT_INELIGIBLE(language, what=what, reason=reason)
    if found.outcome == "unused":
        return texts.ABSENT_UNUSED(language, what=what, question=question)
    place = texts.ABSENT_UNFOUND(language)
    if found.reason == "found now":
        return texts.ABSENT_FOUND_NOW(language, what=what, question=question)
    if found.rank:
        place = texts.ABSENT_RANK(language, rank=found.rank, count=found.looked_at)
    parts = [texts.ABSENT_NOT_SHOWN(language, what=what, question=question, place=place)]
    if found.before:
        lines = "\n".join(f"- {_shorten(each)}" for each in found.before)
        parts.append(texts.ABSENT_BEFORE(language, lines=lines))
    return "\n\n".join(parts)


def absence_as_json(found: AbsenceExplanation) -> dict[str, object]:
    """Return the explanation for programs, without the words of forgotten memories."""
    row: dict[str, object] = {"outcome": found.outcome, "reason": found.reason, "question": found.question}
    row |= {"rank": found.rank, "of": found.looked_at, "before": [*found.before]}
    if (item := found.item) is not None and found.reason not in HIDDEN:
        row |= {"kind": item.kind, "id": item.number, "text": item.text, "scope": item.scope}
    return row


def find_readers(connection: Connection, session: str) -> tuple[str, ...]:
    """Return the scopes that are read for who is answered in a conversation; of the owner alone without one."""
    if not session:
        return (OWNER_SCOPE,)
    scope = conversation.last_scope(connection, session) or chat_scope(session)
    return tuple(dict.fromkeys((scope, chat_scope(session))))


def _name(item: FoundItem, language: Language) -> str:
    """Name a memory by its number, and a message by its day."""
    if item.kind == "record":
        return texts.ABSENT_MEMORY(language, number=item.number, what=_shorten(item.text))
    return texts.ABSENT_MESSAGE(language, day=item.at[:10], what=_shorten(item.text))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"
