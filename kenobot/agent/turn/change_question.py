"""Ask a person whether their message takes the place of a memory, where no rule is sure that it does.

The question stands in the reply, and is opened in the transaction that stores that: it is put once or not at all. Only
the owner alone with the bot is asked, by a bot without a language model, of their own words, of no memory told
in confidence, of each pair of words once, and a few times a day at most.
"""

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda.focus_rows import last_spoken
from kenobot.agent.commands.changed import KIND, ChangePayload, open_change
from kenobot.agent.turn.report_data import ChangeQuestion
from kenobot.agent.turn.turn_data import TurnData
from kenobot.cognitive.memory import Memory, Promises, SideIndex, Telling
from kenobot.gateway.buttons import Choice
from kenobot.language.calendar import local_day
from kenobot.language.changes.bare_correction import corrects_value, join_correction
from kenobot.language.changes.corrected_time import corrects_time, find_corrected_day
from kenobot.language.changes.likely_change import StandingStatement, find_changed
from kenobot.language.changes.meant_clause import find_clause
from kenobot.language.changes.value_phrase import has_parts
from kenobot.language.fingerprint import key_of
from kenobot.language.statements.sentence_core import read_core
from kenobot.ports.identity import QUOTED_TRUST, Trust
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.memory_changes import ASKED, NOT_ASKED
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn
from kenobot.storage import approvals, message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

_SAME_MOMENT = timedelta(minutes=10)
_LATEST_ANSWERS = 12
_LEAN, _LEAST_LEAN, _MOST_LEAN = 1.0, -1.0, 1.5  # of the log odds of a yes, and its bounds
_COUNT = "change questions of the day"
_LONGEST_MESSAGE = 500  # characters: who writes more tells of more than one thing
_ENDING = ("superseded", "invalidated", "amended", "weakened")


class ChangeAsker:
    """Choose and open such questions. most: of a day, 0 for none."""

    def __init__(self, zone: ZoneInfo, most: int, index: SideIndex | None = None) -> None:
        """index: has the vectors of memories, by which they are compared as well; None: by words alone."""
        self._zone = zone
        self._most = most
        self._index = index

    def choose(
        self,
        connection: Connection,
        turn: ConversationTurn,
        decisions: Sequence[tuple[Candidate, Decision]],
        at: datetime,
    ) -> ChangeQuestion | None:
        """Choose the memory that a message probably changes, if there is one to be asked about.

        Where the day had enough questions, and both are noted, it is chosen without one.
        """
        if not self._most or not _is_own_word(turn):
            return None
        made = [decision.record for _, decision in decisions if decision.record is not None]
        if any(_has_ended_something(connection, record) for record in made):
            return None
        standing = [each for each in _standing(connection, turn) if each.id not in made]
        said = turn.at.astimezone(self._zone).date()
        known = [StandingStatement(each.text, each.attribute_map.get("due", ""), each.category) for each in standing]
        meanings, leaning = self._weigh_meanings(turn.text, standing), _lean(connection, at)
        place = find_changed(turn.text, said, known, meanings, leaning)
        if place is None:
            return None
        old, new = standing[place], made[-1] if made else None
        if new is None and _corrects(turn.text, old, said):  # "it's 900" is about what was just said, or unclear
            return None
        clause, is_put = find_clause(turn.text, said, old.text), self._has_questions_left(connection, at)
        question = ChangeQuestion(old, new, key_of(turn.text), turn.text.strip(), clause, is_put)
        if not is_put and new is None:
            return None
        return None if _was_asked(connection, question) else question

    def choose_corrected(
        self, connection: Connection, session: str, turn: ConversationTurn, at: datetime
    ) -> ChangeQuestion | None:
        """Choose the memory told a moment ago that a message of few words in a chat puts right.

        A guest, and whom the day has asked enough, is asked nothing: what is right is noted, and both are shown.
        """
        if not _is_own_word(turn, "owner", "guest"):
            return None
        said = turn.at.astimezone(self._zone).date()
        lately = (each for each in _list_last_told(connection, turn) if _corrects(turn.text, each, said))
        old = next(lately, None)
        if old is None or _spoke_of_reminder(connection, session, datetime.fromisoformat(old.created), at):
            return None
        due, is_put = Promises.due_on(old), turn.trust == "owner" and self._has_questions_left(connection, at)
        question = ChangeQuestion(
            old,
            None,
            key_of(turn.text),
            join_correction(old.text, turn.text),
            find_clause(turn.text, said, old.text),
            is_put,
            find_corrected_day(turn.text, due, said).isoformat() if due is not None else "",
        )
        return None if _was_asked(connection, question) else question

    def open(
        self, connection: Connection, data: TurnData, question: ChangeQuestion, at: datetime
    ) -> tuple[Choice, ...]:
        """Open a question in the transaction that stores its reply, behind it; return its buttons."""
        told = {"words": question.words, "new": question.new}
        if not question.is_put:
            Telling.note(connection, question.old.id, NOT_ASKED, at, data.pending.session, told)
            return ()
        pending, day, language = data.pending, local_day(at, self._zone), data.reply_language
        count = {"day": day, "count": self._count_today(connection, at) + 1}
        write_json(connection, _COUNT, count)
        Telling.note(connection, question.old.id, ASKED, at, pending.session, told)
        newest = message_rows.newest_message_id(connection, pending.session)
        payload = ChangePayload(question.old.id, question.new, newest, pending.id, language, question.clause)
        may_be_part = has_parts(question.clause or question.old.text)
        return open_change(connection, pending.inbound, payload, at, may_be_part=may_be_part)

    def _weigh_meanings(self, text: str, standing: Sequence[Record]) -> Sequence[float]:
        """Weigh by meaning how probably a message changes each memory; () without the vectors of all."""
        vectors = self._index.vectors if self._index is not None else None
        if vectors is None:
            return ()
        # Needs numpy, which comes with an embedder.
        from kenobot.language.changes.change_meaning import MODEL, weigh_meanings  # noqa: PLC0415

        found = vectors.get_beside(MODEL, text, [each.id for each in standing])
        return weigh_meanings(*found) if found is not None else ()

    def _has_questions_left(self, connection: Connection, at: datetime) -> bool:
        return self._count_today(connection, at) < self._most

    def _count_today(self, connection: Connection, at: datetime) -> int:
        known: dict[str, str | int] = read_json(connection, _COUNT, {})
        return int(known.get("count", 0)) if known.get("day") == local_day(at, self._zone) else 0


def _is_own_word(turn: ConversationTurn, *trusts: Trust) -> bool:
    """Return whether a turn is a person's own word, and no wish to be reminded, which changes nothing.

    trusts: of whom; without any the owner's.
    """
    is_own = turn.trust in (trusts or ("owner",)) and len(turn.text) <= _LONGEST_MESSAGE
    return is_own and not read_core(turn.text.strip()).reminds


def _lean(connection: Connection, at: datetime) -> float:
    """Weigh the owner's earlier answers, in log odds: after more yes than no they are asked sooner."""
    yes, no = approvals.count_answers(connection, KIND, _LATEST_ANSWERS, at)
    return min(_MOST_LEAN, max(_LEAST_LEAN, _LEAN * math.log((1 + yes) / (1 + no))))


def _may_be_asked_about(record: Record, inbox_id: int | None) -> bool:
    """Return whether a memory is the speaker's own word of before."""
    return record.trust not in QUOTED_TRUST and inbox_id not in record.source_message_ids


def _standing(connection: Connection, turn: ConversationTurn) -> list[Record]:
    """Select the memories that a turn may be asked about, oldest first."""
    found = Telling.list_changeable(connection, turn.scope, turn.text)
    return [record for record in found if _may_be_asked_about(record, turn.inbox_id)]


def _list_last_told(connection: Connection, turn: ConversationTurn) -> list[Record]:
    """List the memories of the message that told any last, a moment before a turn, the newest first."""
    told = _standing(connection, turn)
    if not told or turn.at - datetime.fromisoformat(told[-1].created) > _SAME_MOMENT:
        return []
    sources = {*told[-1].source_message_ids}
    return [each for each in reversed(told) if each is told[-1] or sources & {*each.source_message_ids}]


def _spoke_of_reminder(connection: Connection, session: str, since: datetime, at: datetime) -> bool:
    """Return whether a chat has spoken of a reminder since a moment: that may be what is put right."""
    spoken = last_spoken(connection, session, at)
    return spoken is not None and datetime.fromisoformat(spoken[1]) >= since.replace(microsecond=0)


def _corrects(message: str, record: Record, said: date) -> bool:
    """Return whether a message, said on a day, names only another value, day or hour for what a memory says."""
    return corrects_value(message, record.text) or corrects_time(message, record.text, said)


def _has_ended_something(connection: Connection, record: int) -> bool:
    root = Memory.history.last_decision(connection, record)
    return root is not None and any(each.kind in _ENDING for each in Memory.history.list_decision(connection, root))


def _was_asked(connection: Connection, question: ChangeQuestion) -> bool:
    happened = Memory.history.list_events(connection, question.old.id)
    return any(each.kind == ASKED and each.data.get("words") == question.words for each in happened)
