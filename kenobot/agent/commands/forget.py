"""`/forget`, and the wishes of people who use plain words: what may need a question first, and the answer to it.

The question is a row of the database, so it outlives a restart. It is good for one hour, for the person whom it was
put to, and only until the conversation goes on: a later "yes" is an answer to something else.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from kenobot.agent.commands import forget_unextracted
from kenobot.agent.commands.forget_unextracted import UnextractedTurn
from kenobot.agent.commands.memory import MemoryOverviewCommand
from kenobot.agent.commands.memory_base import (
    MemoryCommand,
    MemoryCommandContext,
    may_change_memory,
    numbered_lines,
    one_line,
    record_line,
)
from kenobot.agent.commands.natural_language import Answer, match_command, parse_answer
from kenobot.agent.commands.registry import Command, CommandCall
from kenobot.cognitive.control.find import certain_match, find_memories
from kenobot.cognitive.control.forget import ForgetResult, forget_record
from kenobot.cognitive.control.refs import parse_number
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import ControlPolicy
from kenobot.cognitive.store import history
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Json, Record
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state


class ForgetCommand(MemoryCommand):
    """`/forget NUMBER` or `/forget WORDS`: out of sight at once when it is certain what is meant; otherwise it asks.

    asking: ask even then, because nobody gave an order with a slash.
    """

    names = ("forget", "olvida")

    def __init__(
        self, hands: MemoryCommandContext, *, asking: bool = False, policy: ControlPolicy = DEFAULT.control
    ) -> None:
        super().__init__(hands)
        self._asking = asking
        self._policy = policy

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        if not order.arguments:
            return texts.FORGET_HOW(language)
        reach = order.principal.read_scopes
        number = parse_number(order.arguments)
        if number is not None and not self._asking:
            record = store.get(connection, number, reach)
            if record is None or record.status != "active":
                return texts.FORGET_GONE(language, number=number)
            return forget_and_report(connection, [record], order, self._hands, language)
        found = find_memories(connection, order.arguments, reach, search=self._hands.memory_search, policy=self._policy)
        said = forget_unextracted.find_unextracted(
            connection, order.arguments, order.inbound.session, reach, self._policy
        )
        if said is not None and not any(meant.exact or meant.overlap >= said.overlap for meant in found):
            if said.certain and not self._asking:
                return forget_turn_and_report(connection, said, order.arguments, order, self._hands, language)
            store_question(connection, order, [], language, self._policy.answer_within, about=order.arguments)
            return texts.FORGET_SAID(language, what=one_line(said.text))
        if not found:
            return texts.FORGET_NONE(language)
        certain = certain_match(found)
        if certain is not None and not self._asking:
            return forget_and_report(connection, [certain], order, self._hands, language)
        records = [certain] if certain is not None else [meant.record for meant in found]
        store_question(connection, order, records, language, self._policy.answer_within)
        return (texts.FORGET_ONE if len(records) == 1 else texts.FORGET_WHICH)(
            language, lines=numbered_lines(records, language)
        )


class ForgetAnswerCommand(MemoryCommand):
    """What somebody says to the question that is open here."""

    names = ("answer", "respuesta")

    def run(self, connection: Connection, order: CommandCall) -> str:
        said = parse_answer(order.arguments)
        question = _open(connection, order.inbound, order.at)
        language: Language = "es" if question and question["language"] == "es" else "en"
        language = self._hands.language or language
        if question is None or said is None:
            return texts.NO_QUESTION(self._hands.language or order.language)
        if said == "no":
            close_question(connection, order.inbound.session)
            return texts.FORGET_DECLINED(language)
        if about := str(question.get("about") or ""):
            close_question(connection, order.inbound.session)
            return self._unsaid(connection, about, order, language)
        asked = _numbers(question["records"])
        chosen = _chosen(said, asked)
        records = store.by_ids(connection, chosen, order.principal.read_scopes)
        live = [records[number] for number in chosen if number in records and records[number].status == "active"]
        if not chosen:
            known = store.by_ids(connection, asked, order.principal.read_scopes)
            return texts.FORGET_WHICH(language, lines=numbered_lines(list(known.values()), language))
        close_question(connection, order.inbound.session)
        if not live:
            return texts.FORGET_NONE(language)
        return forget_and_report(connection, live, order, self._hands, language)

    def _unsaid(self, connection: Connection, about: str, order: CommandCall, language: Language) -> str:
        """Forget what was said; it may have been read for memories since the question."""
        reach = order.principal.read_scopes
        said = forget_unextracted.find_unextracted(connection, about, order.inbound.session, reach)
        if said is not None:
            return forget_turn_and_report(connection, said, about, order, self._hands, language)
        found = find_memories(connection, about, reach, search=self._hands.memory_search)
        if not found:
            return texts.FORGET_NONE(language)
        return forget_and_report(connection, [found[0].record], order, self._hands, language)


class KnownFactsCommand(MemoryCommand):
    """What is known about somebody who asks for it in plain words, or would have it all forgotten."""

    names = ("tell", "cuenta")

    def __init__(self, hands: MemoryCommandContext, *, forgetting: bool = False) -> None:
        super().__init__(hands)
        self._memory = MemoryOverviewCommand(hands)
        self._forgetting = forgetting

    def run(self, connection: Connection, order: CommandCall) -> str:
        wish = match_command(order.inbound.text)
        language = self._hands.language or (wish.language if wish is not None else order.language)
        if self._forgetting:
            return texts.FORGET_EVERYTHING(language)
        return self._memory.overview(connection, order, language)


class MemoryPhraseMatcher:
    """Hears wishes about memory that carry no slash; see `kenobot.agent.commands.registry.NaturalLanguageMatcher`."""

    def __init__(self, hands: MemoryCommandContext) -> None:
        self._forget = _InPlainWords(hands)
        self._tell = KnownFactsCommand(hands)
        self._everything = KnownFactsCommand(hands, forgetting=True)
        self._answered = ForgetAnswerCommand(hands)

    def match(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        """The wish that a message is, and nothing but that."""
        wish = match_command(inbound.text)
        if wish is None or not may_change_memory(principal, inbound):
            return None
        match wish.kind:
            case "tell":
                return self._tell, ""
            case "forget_all":
                return self._everything, ""
            case "forget":
                return self._forget, wish.topic

    def may_be_answer(self, inbound: Inbound) -> bool:
        """Whether it is worth looking for an open question."""
        return not inbound.forwarded and parse_answer(inbound.text) is not None

    def match_answer(
        self, connection: Connection, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        """The answer that a message gives to an open question."""
        if not may_change_memory(principal, inbound) or _open(connection, inbound, at) is None:
            return None
        return self._answered, inbound.text


class _InPlainWords(ForgetCommand):
    """As `/forget`, but it always asks, and in the language of the wish."""

    def __init__(self, hands: MemoryCommandContext) -> None:
        super().__init__(hands, asking=True)

    def run(self, connection: Connection, order: CommandCall) -> str:
        wish = match_command(order.inbound.text)
        if wish is None:
            return super().run(connection, order)
        return super().run(
            connection,
            CommandCall(order.inbound, order.principal, order.arguments, wish.language, order.at, order.inbox_id),
        )


# ── the deed ─────────────────────────────────────────────────────────────────────────────────────────────────────


def forget_and_report(
    connection: Connection,
    records: Sequence[Record],
    order: CommandCall,
    hands: MemoryCommandContext,
    language: Language,
) -> str:
    """Take `records` out of sight, and say so."""
    names = [order.inbound.user_name] if order.inbound.user_name else []
    done = []
    for record in records:
        hidden = forget_record(
            connection,
            record.id,
            order.principal.read_scopes,
            hands.admit_context(order),
            names=names,
            reason="a person said so",
        )
        if hidden is not None:
            done.append(hidden)
    if not done:
        return texts.FORGET_NONE(language)
    lines = "\n".join(_line(connection, hidden, order, language) for hidden in done)
    if len(done) > 1:
        return texts.FORGOTTEN_SEVERAL(language, lines=lines)
    return texts.FORGOTTEN(language, lines=lines, event=done[0].event)


def forget_turn_and_report(
    connection: Connection,
    said: UnextractedTurn,
    about: str,
    order: CommandCall,
    hands: MemoryCommandContext,
    language: Language,
) -> str:
    """Take out of sight what was said and not read yet, and say so."""
    number = forget_unextracted.admit_unextracted(connection, said, about, hands.admit_context(order), hands.zone)
    record = store.get(connection, number, order.principal.read_scopes) if number is not None else None
    if record is None or record.status != "active":
        history.hide_turns(connection, [said.turn.inbox_id] if said.turn.inbox_id is not None else [], number or 0)
        return texts.FORGOTTEN_SAID(language)
    return forget_and_report(connection, [record], order, hands, language)


def _line(connection: Connection, hidden: ForgetResult, order: CommandCall, language: Language) -> str:
    line = texts.RECORD_LINE(language, number=hidden.record.id, what=record_line(hidden.record))
    turns = history.count_turns(connection, order.inbound.session, hidden.turns)
    along = [texts.ALSO_COPIES(language, count=len(hidden.copies))] if hidden.copies else []
    along += [texts.ALSO_MESSAGES(language, count=turns)] if turns else []
    return texts.RECORD_LINE_ALSO(language, line=line, along=", ".join(along)) if along else line


# ── the question ─────────────────────────────────────────────────────────────────────────────────────────────────


def store_question(
    connection: Connection,
    order: CommandCall,
    records: Sequence[Record],
    language: Language,
    patience: timedelta,
    about: str = "",
) -> None:
    """Keep what was asked, for the next thing that this person says here. about: what was said and is no record yet."""
    question: dict[str, Json] = {
        "user": order.inbound.user,
        "records": [record.id for record in records],
        "until": store.stamp(order.at + patience),
        "after": history.last_message_id(connection, order.inbound.session),
        "language": language,
        "about": about,
    }
    write_state(connection, _key(order.inbound.session), json.dumps(question))


def close_question(connection: Connection, session: str) -> None:
    """No question is open here any more."""
    write_state(connection, _key(session), "{}")


def _open(connection: Connection, inbound: Inbound, at: datetime) -> dict[str, Json] | None:
    """The question that the sender of `inbound` may answer; None when there is none, or the talk has gone on."""
    question: dict[str, Json] = json.loads(read_state(connection, _key(inbound.session)) or "{}")
    if not question or question["user"] != inbound.user or str(question["until"]) <= store.stamp(at):
        return None
    return question if question["after"] == history.last_message_id(connection, inbound.session) else None


def _key(session: str) -> str:
    return f"question:{session}"


def _numbers(told: Json) -> list[int]:
    return [number for number in told if isinstance(number, int)] if isinstance(told, list) else []


def _chosen(said: Answer, asked: Sequence[int]) -> list[int]:
    """The records that an answer means; none when it does not say which of several."""
    if said == "all" or (said == "yes" and len(asked) == 1):
        return list(asked)
    if isinstance(said, frozenset):
        return [number for number in asked if number in said] if said <= set(asked) else []
    return []
