"""`/forget`, and the same in plain words: find the memory that is meant, ask where it is not certain, forget.

An open question is a row of the database, so it outlives a restart. It is valid for one hour, for the person it was
put to, and until the conversation goes on: a later "yes" answers something else.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from kenobot.agent.commands import forget_unextracted
from kenobot.agent.commands.base import ChatCommand, CommandContext, may_change_memory, numbered_lines, one_line
from kenobot.agent.commands.forget_unextracted import UnextractedTurn
from kenobot.agent.commands.memory import MemoryOverviewCommand
from kenobot.agent.commands.natural_language import Answer, match_command, parse_answer
from kenobot.agent.commands.registry import Command, CommandCall
from kenobot.cognitive.control.find import certain_match, find_memories, parse_number
from kenobot.cognitive.control.forget import ForgetResult, forget
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import ControlPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store import turns as turn_rows
from kenobot.cognitive.store.records import Record
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question put to `user`, valid until `until` and while `after` is the conversation's last message.

    records: the memories it names. about: the wish, when it concerns a turn that is no memory yet.
    """

    user: str
    records: list[int]
    until: str
    after: int
    language: Language
    about: str = ""


class _Forgetting(ChatCommand):
    """Forget memories, or a turn that is not extracted yet, and report it."""

    def _forget(self, connection: Connection, records: Sequence[Record], call: CommandCall, language: Language) -> str:
        names = [call.inbound.user_name] if call.inbound.user_name else []
        reach, occasion = call.principal.read_scopes, self._context.admit_context(call)
        results = [
            forget(connection, record.id, reach, occasion, names=names, reason="a person said so") for record in records
        ]
        hidden = [result for result in results if result is not None]
        if not hidden:
            return texts.FORGET_NONE(language)
        lines = "\n".join(_hidden_line(connection, result, call, language) for result in hidden)
        if len(hidden) > 1:
            return texts.FORGOTTEN_SEVERAL(language, lines=lines)
        return texts.FORGOTTEN(language, lines=lines, event=hidden[0].event)

    def _forget_turn(
        self, connection: Connection, unread: UnextractedTurn, about: str, call: CommandCall, language: Language
    ) -> str:
        occasion = self._context.admit_context(call)
        number = forget_unextracted.admit_unextracted(connection, unread, about, occasion, self._context.zone)
        record = store.get(connection, number, call.principal.read_scopes) if number is not None else None
        if record is None or record.status != "active":
            inbox = unread.turn.inbox_id
            turn_rows.hide_turns(connection, [inbox] if inbox is not None else [], number or 0)
            return texts.FORGOTTEN_SAID(language)
        return self._forget(connection, [record], call, language)


class ForgetCommand(_Forgetting):
    """`/forget NUMBER` or `/forget WORDS`: forget at once when the memory is certain, ask otherwise.

    asking: ask even then, because the wish came in plain words.
    """

    names = ("forget", "olvida")

    def __init__(
        self, context: CommandContext, *, asking: bool = False, policy: ControlPolicy = DEFAULT.control
    ) -> None:
        super().__init__(context)
        self._asking = asking
        self._policy = policy

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        if not call.arguments:
            return texts.FORGET_HOW(language)
        reach = call.principal.read_scopes
        number = parse_number(call.arguments)
        if number is not None and not self._asking:
            record = store.get(connection, number, reach)
            if record is None or record.status != "active":
                return texts.FORGET_GONE(language, number=number)
            return self._forget(connection, [record], call, language)
        search = self._context.memory_search
        matches = find_memories(connection, call.arguments, reach, search=search, policy=self._policy)
        unread = forget_unextracted.find_unextracted(
            connection, call.arguments, call.inbound.session, reach, self._policy
        )
        if unread is not None and not any(each.exact or each.overlap >= unread.overlap for each in matches):
            if unread.certain and not self._asking:
                return self._forget_turn(connection, unread, call.arguments, call, language)
            self._ask(connection, call, [], language, about=call.arguments)
            return texts.FORGET_SAID(language, what=one_line(unread.text))
        if not matches:
            return texts.FORGET_NONE(language)
        certain = certain_match(matches)
        if certain is not None and not self._asking:
            return self._forget(connection, [certain], call, language)
        records = [certain] if certain is not None else [each.record for each in matches]
        self._ask(connection, call, records, language)
        question = texts.FORGET_ONE if len(records) == 1 else texts.FORGET_WHICH
        return question(language, lines=numbered_lines(records, language))

    def _ask(
        self, connection: Connection, call: CommandCall, records: Sequence[Record], language: Language, about: str = ""
    ) -> None:
        question = OpenQuestion(
            call.inbound.user,
            [record.id for record in records],
            store.stamp(call.at + self._policy.answer_within),
            turn_rows.last_message_id(connection, call.inbound.session),
            language,
            about,
        )
        write_state(connection, _key(call.inbound.session), json.dumps(asdict(question)))


class ForgetAnswerCommand(_Forgetting):
    """The answer to the question that is open here."""

    names = ("answer", "respuesta")

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        session, reach = call.inbound.session, call.principal.read_scopes
        answer, question = parse_answer(call.arguments), _open_question(connection, call.inbound, call.at)
        if question is None or answer is None:
            return texts.NO_QUESTION(language)
        language = self._context.language or question.language
        chosen = _chosen(answer, question.records)
        if answer != "no" and not question.about and not chosen:
            records = store.by_ids(connection, question.records, reach)
            return texts.FORGET_WHICH(language, lines=numbered_lines(list(records.values()), language))
        write_state(connection, _key(session), "{}")
        if answer == "no":
            return texts.FORGET_DECLINED(language)
        if question.about:
            return self._forget_wish(connection, question.about, call, language)
        records = store.by_ids(connection, chosen, reach)
        live = [records[number] for number in chosen if number in records and records[number].status == "active"]
        return self._forget(connection, live, call, language)

    def _forget_wish(self, connection: Connection, about: str, call: CommandCall, language: Language) -> str:
        """Forget what was said; it may have been extracted since the question."""
        reach = call.principal.read_scopes
        unread = forget_unextracted.find_unextracted(connection, about, call.inbound.session, reach)
        if unread is not None:
            return self._forget_turn(connection, unread, about, call, language)
        matches = find_memories(connection, about, reach, search=self._context.memory_search)
        return self._forget(connection, [each.record for each in matches[:1]], call, language)


class ForgetEverythingCommand(ChatCommand):
    """The wish, in plain words, to forget everything: declined."""

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        return texts.FORGET_EVERYTHING(language)


class MemoryPhraseMatcher:
    """Match wishes about memory in plain words; see `kenobot.agent.commands.registry.NaturalLanguageMatcher`."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context

    def match(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        wish = match_command(inbound.text)
        if wish is None or not may_change_memory(principal, inbound):
            return None
        context = replace(self._context, language=self._context.language or wish.language)
        match wish.kind:
            case "tell":
                return MemoryOverviewCommand(context), ""
            case "forget_all":
                return ForgetEverythingCommand(context), ""
            case "forget":
                return ForgetCommand(context, asking=True), wish.topic

    def may_be_answer(self, inbound: Inbound) -> bool:
        return not inbound.forwarded and parse_answer(inbound.text) is not None

    def match_answer(
        self, connection: Connection, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        if not may_change_memory(principal, inbound) or _open_question(connection, inbound, at) is None:
            return None
        return ForgetAnswerCommand(self._context), inbound.text


def _hidden_line(connection: Connection, hidden: ForgetResult, call: CommandCall, language: Language) -> str:
    line = texts.RECORD_LINE(language, number=hidden.record.id, what=one_line(hidden.record.text))
    turns = turn_rows.count_turns(connection, call.inbound.session, hidden.turns)
    along = [texts.ALSO_COPIES(language, count=len(hidden.copies))] if hidden.copies else []
    along += [texts.ALSO_MESSAGES(language, count=turns)] if turns else []
    return texts.RECORD_LINE_ALSO(language, line=line, along=", ".join(along)) if along else line


def _open_question(connection: Connection, inbound: Inbound, at: datetime) -> OpenQuestion | None:
    """Return the question that the sender of `inbound` may answer, if one is open."""
    stored = json.loads(read_state(connection, _key(inbound.session)) or "{}")
    question = OpenQuestion(**stored) if stored else None
    if question is None or question.user != inbound.user or question.until <= store.stamp(at):
        return None
    return question if question.after == turn_rows.last_message_id(connection, inbound.session) else None


def _key(session: str) -> str:
    return f"question:{session}"


def _chosen(answer: Answer, records: Sequence[int]) -> list[int]:
    """Return the records that an answer means; none when it does not say which of several."""
    if answer == "all" or (answer == "yes" and len(records) == 1):
        return list(records)
    if isinstance(answer, frozenset):
        return [number for number in records if number in answer] if answer <= set(records) else []
    return []
