"""Offer to keep a secret that a person told, and follow their answer.

The question holds no word of it, only the number of the message: a yes reads it there, and keeps it word for word.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date, datetime, timedelta

from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, undo_button
from kenobot.agent.commands.open_questions import AnsweredQuestion, close_by_button, close_by_words
from kenobot.cognitive.memory import Memory
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.confidences import tags_of_confidence
from kenobot.language.facts.taking_back import takes_back
from kenobot.language.facts.written_marks import restore_marks
from kenobot.language.provenance import without_quotes
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.sentence_core import read_core
from kenobot.language.told_secrets import find_told_secret
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import KEPT_ON_YES, Candidate, Form
from kenobot.ports.messages import Inbound
from kenobot.storage import approvals, inbox_rows, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

KIND = "secret"
"""The kind of these questions among approvals."""

_ANSWER_WITHIN = timedelta(hours=1)
_COMMAND = lazy.regex(r"\s*/\w+\s+")


@dataclass(frozen=True, slots=True)
class SecretPayload:
    """Hold what a stored question is about.

    asked: inbox row of the message that tells the secret. after: the conversation's last message, behind which a plain
    answer counts. language: of the question, and of what follows its answer.
    """

    asked: int
    after: int
    language: Language


def offer_secret(
    connection: Connection, inbound: Inbound, asked: int, at: datetime, language: Language
) -> tuple[Choice, ...]:
    """Open the question whether the secret of a message is to be kept; return its buttons."""
    payload = SecretPayload(asked, message_rows.newest_message_id(connection, inbound.session), language)
    approval = Approval(inbound.session, inbound.user, KIND, asdict(payload), at + _ANSWER_WITHIN)
    number = approvals.open_approval(connection, approval)
    return (
        Choice(texts.BUTTON_KEEP_SECRET(language), "secret", f"{number} yes"),
        Choice(texts.BUTTON_LEAVE_SECRET(language), "secret", f"{number} no"),
    )


def answer_secret(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a plain yes or no to the question that is open here; words that take back are a no."""
    call = replace(call, arguments="no") if takes_back(call.arguments) else call
    answered = close_by_words(connection, call, KIND)
    return _follow(connection, answered, call, context) if answered is not None else texts.NO_QUESTION(call.language)


def answer_secret_by_button(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a pressed button, as long as the message is there."""
    answered = close_by_button(connection, call, KIND)
    return _follow(connection, answered, call, context) if answered is not None else texts.DECIDED(call.language)


def _follow(
    connection: Connection, answered: AnsweredQuestion, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    question = SecretPayload(**answered.payload)
    language = question.language
    if not answered.is_yes:
        return texts.SECRET_LEFT(language)
    said = _read_message(connection, question.asked)
    told = find_secret_parts(said, call.at.astimezone(context.zone).date())
    event = _keep(connection, told, said, question.asked, call, context)
    if event is None:
        return texts.SECRET_GONE(language)
    return CommandAnswer(texts.SECRET_KEPT(language), ((undo_button(event, language),),))


def _read_message(connection: Connection, asked: int) -> str:
    """Read a message as it came in, or, where what it tells was spoken, as it stands in the conversation."""
    turn = message_rows.messages_of_turns(connection, [asked])
    texts_of_it = [inbox_rows.read_text(connection, asked), *(each.text for each in turn if each.role == "user")]
    return next((text for text in texts_of_it if find_told_secret(text)), "")


def find_secret_parts(said: str, day: date) -> list[str]:
    """Return the parts of a message that tell a secret: what would be noted of it, or its sentences, or all of it."""
    from kenobot.language.facts import heuristic

    command = _COMMAND.match(said)
    said = said[command.end() :].strip() if command else without_quotes(said)
    if command and find_told_secret(said):
        return [said]
    noted = [fact.text for fact in heuristic.extract_facts(said, day)]
    sentences = [restore_marks(read_core(part.strip()).told, part.strip()) for part in split_sentences(said)]
    for parts in (noted, sentences, [said.strip()]):
        if found := [part for part in parts if part and find_told_secret(part)]:
            return found
    return []


def _keep(
    connection: Connection, told: Sequence[str], said: str, asked: int, call: CommandCall, context: CommandContext
) -> int | None:
    """Keep the words as their person's own; return the event by which that is undone, None where nothing was kept."""
    scope = call.principal.write_scope
    form: Form = "episode" if scope.startswith("chat:") else "note"
    tags = (KEPT_ON_YES, *tags_of_confidence([said]))
    event: int | None = None
    for text in told:
        candidate = Candidate(
            form, scope, text, source="command", trust=call.principal.trust, tags=tags, evidence=(asked,)
        )
        decision = Memory.remember(connection, candidate, context.admit_context(call))
        if decision.record is not None:
            event = Memory.history.last_decision(connection, decision.record) or event
    return event
