"""Turns waiting for extraction, behind one cursor a session.

The cursor moves only in the transaction that writes the result, so that each turn is either extracted or waiting.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal

from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.cognitive.store.change import ERASED_TEXT
from kenobot.core import lazy
from kenobot.core.pattern_set import PatternSet
from kenobot.language.question.asking import only_asks
from kenobot.language.signals import signal_level
from kenobot.language.words import fold, words
from kenobot.ports.identity import chat_scope
from kenobot.ports.names import SpokenLine, label_id, sanitize_name, split_line
from kenobot.ports.turns import ConversationTurn
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.state import read_state, replace_state

ExtractionDecision = Literal["keep_buffering", "extract_now", "extract_batch"]

_NAME = lazy.regex(r"(?<=\s)[A-ZÁÉÍÓÚÑ][^\W\d_]+")
_ROWS_BEFORE = 12  # messages and answers among which the last telling is looked for
_WAITING = "extracted:"  # a key of `state` begins so, the session follows


def decide_extraction(
    turns: Sequence[ConversationTurn], now: datetime, policy: ExtractPolicy, patterns: PatternSet
) -> ExtractionDecision:
    """Decide whether to extract the turns that wait, oldest first."""
    if turns and is_urgent(turns, policy, patterns):
        return "extract_now"
    return "extract_batch" if turns and is_enough(len(turns), turns[0].at, now, policy) else "keep_buffering"


def is_enough(turns: int, since: datetime, now: datetime, policy: ExtractPolicy) -> bool:
    """Return whether so many turns, the first of them said at `since`, are to be extracted whatever they say."""
    return turns >= policy.every_turns or now - since >= timedelta(minutes=policy.every_minutes)


def is_urgent(turns: Iterable[ConversationTurn], policy: ExtractPolicy, patterns: PatternSet) -> bool:
    """Return whether any of the turns is to be extracted at once by what it says. Hidden ones need no hurry."""
    seen = (turn.text for turn in turns if not turn.hidden)
    return policy.immediate and any(signal_level(text, patterns) == "high" for text in seen)


def sessions_with_pending(connection: Connection) -> list[str]:
    """Return the sessions in which something waits; costs a few index look-ups a session, however long they are."""
    return message_rows.sessions_past(connection, _WAITING)


def cursor(connection: Connection, session: str) -> int:
    """Return the newest message row of a session that has been read; 0 when none has."""
    return int(read_state(connection, _WAITING + session) or 0)


def advance_cursor(connection: Connection, session: str, before: int, last: int) -> bool:
    """Put the cursor of a session to `last`, inside a transaction; False when it no longer stands at `before`."""
    return replace_state(connection, _WAITING + session, str(before) if before else None, str(last))


def pending_turns(connection: Connection, session: str, limit: int) -> list[ConversationTurn]:
    """Return the next turns of a session that wait, oldest first, at most `limit`."""
    return turns_after(connection, session, cursor(connection, session), limit)


def turns_after(connection: Connection, session: str, message: int, limit: int) -> list[ConversationTurn]:
    """Return the turns of a session after a message, oldest first, at most `limit`."""
    rows = message_rows.iterate_messages(connection, session, after=message)
    return group_turns(islice(rows, 2 * limit + 1))[:limit]


def newest_pending_turns(connection: Connection, session: str, limit: int) -> list[ConversationTurn]:
    """Return the newest of the turns of a session that wait, oldest first, at most `limit`."""
    after = cursor(connection, session)
    rows = message_rows.iterate_messages(connection, session, after=after, newest_first=True)
    return group_turns(reversed(list(islice(rows, 2 * limit + 1))))[-limit:]


def find_said_before(connection: Connection, *, session: str, turn: ConversationTurn) -> str:
    """Return what the speaker of a turn of a session said right before it, "" where that is not to be found.

    Questions between, about nobody else, are left out: what somebody goes on about is what they told.
    """
    rows = message_rows.iterate_messages(connection, session, before=turn.last_message, newest_first=True)
    earlier = [
        each for each in group_turns(reversed(list(islice(rows, _ROWS_BEFORE)))) if each.inbox_id != turn.inbox_id
    ]
    own = [each for each in earlier if each.account == turn.account and each.trust == turn.trust and not each.hidden]
    named: set[str] = set()
    for each in reversed(own):
        if not only_asks(each.text):
            return each.text if named <= set(words(each.text)) else own[-1].text
        named.update(map(fold, _NAME.findall(each.text)))
    return own[-1].text if own else ""


def group_turns(rows: Iterable[MessageRow]) -> list[ConversationTurn]:
    """Group the messages of a session into turns."""
    turns: list[ConversationTurn] = []
    for row in rows:
        if row.role == "assistant":
            if turns and turns[-1].inbox_id == row.inbox_id:
                turns[-1] = _add_answer(turns[-1], row)
            else:
                turns.append(_make_unprompted(row))
            continue
        said = _split_line(row) if row.scope.startswith("chat:") else SpokenLine("", "", row.text)
        turns.append(
            ConversationTurn(
                last_message=row.id,
                inbox_id=row.inbox_id,
                text=said.text,
                answer="",
                at=datetime.fromisoformat(row.at),
                trust=row.trust,
                scope=row.effective_scope,
                speaker=said.name,
                speaker_id=said.id,
                hidden=bool(row.hidden) or said.text.strip() in ("", ERASED_TEXT),
            )
        )
    return turns


def _add_answer(turn: ConversationTurn, row: MessageRow) -> ConversationTurn:
    """Return a turn with its answer; written out, for it is done for every turn that is read."""
    return ConversationTurn(
        row.id,
        turn.inbox_id,
        turn.text,
        row.text,
        turn.at,
        turn.trust,
        turn.scope,
        turn.speaker,
        turn.speaker_id,
        turn.hidden,
        row.trust,
    )


def _split_line(row: MessageRow) -> SpokenLine:
    """Split a line of a group's conversation; a line without an id by what its mail says, while that is kept."""
    said = split_line(row.text)
    name = sanitize_name(row.sender_name or "") or row.sender or ""
    if not said.id and name:
        said = SpokenLine(name, label_id(row.sender or ""), row.text.removeprefix(f"{name}: "))
    return replace(said, text=said.text.replace("\n  ", "\n")) if said.name or said.id else said


def _make_unprompted(row: MessageRow) -> ConversationTurn:
    """Return a turn of something the bot said by itself."""
    at = datetime.fromisoformat(row.at)
    return ConversationTurn(row.id, row.inbox_id, "", row.text, at, "model", chat_scope(row.session), hidden=True)
