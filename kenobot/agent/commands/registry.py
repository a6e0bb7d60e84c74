"""Commands that a person gives in chat: answered at once, without a model, as a turn of their own.

A command runs inside the transaction that answers it, so it takes effect exactly once or not at all. Neither it nor
its answer enters the conversation that the model is shown.
"""

import importlib
import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from kenobot.agenda.open_wish_rows import has_wishes
from kenobot.agent.commands import guide
from kenobot.agent.commands.command import (
    REMINDER_QUESTION,
    WORDS_WANTED,
    Answer,
    Change,
    Command,
    CommandAnswer,
    CommandCall,
    CommandContext,
)
from kenobot.agent.commands.natural_language import (
    asks_for_calendar,
    asks_to_cancel_task,
    asks_to_show,
    asks_what_was_heard,
    match_command,
    match_without_model,
    parse_answer,
)
from kenobot.agent.commands.reminder_cues import LONGEST_ANSWER, may_order, may_tell_stay
from kenobot.agent.commands.stop import tell_stopped
from kenobot.agent.stop_words import STOP_WORDS, stop_word
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language, find_language, talk_language
from kenobot.gateway.buttons import OWNERS, find_button
from kenobot.gateway.personal_settings import PersonalSettings
from kenobot.language.facts.taking_back import takes_back
from kenobot.language.words import fold
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage import approvals, attachments, conversation, tasks
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.keyboards import take_keyboard

_log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

_COMMAND = lazy.regex(r"/([^\W\d_][\w-]{0,31})(?:\s+(.*))?", re.DOTALL)
_PEOPLE: frozenset[Change] = frozenset({"people"})
_SETTINGS: frozenset[Change] = frozenset({"settings"})
_SLEEP: frozenset[Change] = frozenset({"sleep"})
_TASKS: frozenset[Change] = frozenset({"tasks"})
_PROPOSALS: frozenset[Change] = frozenset({"memory", "proposals"})

_ANY_TIME = datetime.fromisoformat("2026-01-01T12:00")  # which day it is hardly decides what is an order
_SPOKEN = 24  # messages of a chat that tell which language is spoken there


def _load(module: str, function: str, **more: bool) -> Answer:
    """Return the function of a command whose module is imported when the command is first given."""

    def answer(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
        commands = importlib.import_module(f"kenobot.agent.commands.{module}")
        carry_out: Callable[..., str | CommandAnswer] = getattr(commands, function)
        return carry_out(connection, call, context, **more)

    return answer


COMMANDS = (
    Command(("help", "ayuda"), guide.show_help, texts.HELP_HELP, frozenset()),
    Command(("start", "empezar"), _load("greeting", "greet"), texts.HELP_START, frozenset(), openly=True),
    Command(
        ("new", "nueva", "reset", "nuevo"),
        _load("greeting", "begin_anew"),
        texts.HELP_NEW,
        frozenset(),
        openly=True,
    ),
    Command(tuple(STOP_WORDS), tell_stopped, texts.HELP_STOP, frozenset(), openly=True),
    Command(("status", "estado"), _load("status", "show_status"), texts.HELP_STATUS, frozenset()),
    Command(
        ("remember", "recuerda"),
        _load("memory", "remember"),
        texts.HELP_REMEMBER,
        stores_argument=True,
        openly=True,
    ),
    Command(
        ("remind", "recuerdame", "reminder", "recordatorio"),
        _load("reminders", "remind"),
        texts.HELP_REMIND,
        frozenset(),
        openly=True,
    ),
    Command(("reminders", "recordatorios"), _load("reminders", "list_reminders"), texts.HELP_REMINDERS, frozenset()),
    Command(("tasks", "tareas"), _load("tasks", "show_tasks"), texts.HELP_TASKS, _TASKS),
    Command(("memory", "memoria"), _load("browse", "show_memory"), texts.HELP_MEMORY),
    Command(("why", "porque"), _load("browse", "explain"), texts.HELP_WHY),
    Command(("correct", "corrige"), _load("correct", "correct"), texts.HELP_CORRECT),
    Command(("forget", "olvida"), _load("forget", "forget_memory"), texts.HELP_FORGET),
    Command(
        ("transcript", "transcripcion"),
        _load("transcript", "show_transcript"),
        texts.HELP_TRANSCRIPT,
        frozenset(),
    ),
    Command(("undo", "deshacer"), _load("memory", "undo_change"), texts.HELP_UNDO),
    Command(("settings", "ajustes"), _load("preferences", "show_settings"), texts.HELP_SETTINGS, _SETTINGS),
    Command(("sleep", "dormir"), _load("status", "sleep"), texts.HELP_SLEEP, _SLEEP, owner_only=True),
    Command(("missing", "perdidos", "lost"), _load("owner", "missing_memory"), texts.HELP_MISSING, owner_only=True),
    Command(("revived", "revividos"), _load("owner", "revive_memory"), texts.HELP_REVIVED, owner_only=True),
    Command(
        ("proposals", "propuestas"),
        _load("owner", "show_proposals"),
        texts.HELP_PROPOSALS,
        _PROPOSALS,
        owner_only=True,
    ),
    Command(("approve", "aprobar"), _load("owner", "approve"), texts.HELP_APPROVE, _PROPOSALS, owner_only=True),
    Command(("reject", "rechazar"), _load("owner", "reject"), texts.HELP_REJECT, _PROPOSALS, owner_only=True),
    Command(("cost", "gasto"), _load("cost", "show_cost"), texts.HELP_COST, frozenset(), owner_only=True),
    Command(("tools", "herramientas"), _load("tools", "show_tools"), texts.HELP_TOOLS, frozenset(), owner_only=True),
    Command(
        ("skills", "habilidades"),
        _load("skills", "show_skills"),
        texts.HELP_SKILLS,
        frozenset(),
        owner_only=True,
    ),
    Command(("people", "personas"), _load("people", "show_people"), texts.HELP_PEOPLE, _PEOPLE, owner_only=True),
    Command(("pair", "emparejar"), _load("people", "pair"), texts.HELP_PAIR, _PEOPLE, owner_only=True),
)
_BY_PLATFORM = frozenset({"start"})  # written by Telegram when a chat begins, so no sign of the person's language
_NAMED: Mapping[str, Command] = {
    name: replace(command, language=STOP_WORDS.get(name, ("en", "es")[at % 2]) if name not in _BY_PLATFORM else None)
    for command in COMMANDS
    for at, name in enumerate(command.names)
}
COMMAND_NAMES = tuple(_NAMED)
"""The names of all commands, in every language, without the slash."""

_WISHES: Mapping[str, Command] = {
    "tell": Command((), _load("browse", "show_memory"), openly=True),
    "forget": Command((), _load("forget", "forget_memory", asking=True)),
    "forget_known": Command((), _load("forget", "forget_memory", asking=True), if_known=True),
    "forget_all": Command((), _load("forget", "decline_everything")),
    "why": Command((), _load("browse", "explain")),
    "undo": Command((), _load("memory", "undo_change")),
    "take_back": Command((), _load("take_back", "ask_to_take_back"), points_back=True),
}
_ANSWER = Command((), _load("forget", "answer_question"))
_ANSWER_OF_CHANGE = Command((), _load("changed", "answer_change"))
_ANSWER_OF_TAKE_BACK = Command((), _load("take_back", "answer_take_back"))
_ANSWER_OF_SECRET = Command((), _load("kept_secret", "answer_secret"))
_ORDER = Command((), _load("obey_reminder", "obey"), changes=frozenset(), openly=True)
_ANSWER_OF_REMINDER = Command((), _load("reminder_changes", "answer"), changes=frozenset(), openly=True)
_ANSWER_OF_PROMISE = Command((), _load("promises", "answer"))
_ANSWER_OF_CALENDAR = Command((), _load("calendar_file", "answer"), changes=frozenset())
OFFER_CALENDAR = Command((), _load("calendar_file", "offer"), changes=frozenset())
"""Answers a calendar file by the events in it, which are the arguments."""
_CANCEL_TASK = Command((), _load("tasks", "cancel_that"), changes=_TASKS, openly=True)
_EXPORT = Command((), _load("calendar_export", "export"), changes=frozenset(), openly=True)
_SHOW_HELD = Command((), _load("held_back", "show_held"), changes=frozenset())
_WORDS = Command((), _load("correct", "correct_as_asked"))
_PRESSED: Mapping[str, Command] = {
    "answer": Command((), _load("forget", "answer_by_button")),
    "open": Command((), _load("browse", "open_memory")),
    "ask_admit": Command((), _load("people", "ask_to_admit"), owner_only=True),
    "admit": Command((), _load("people", "admit"), changes=_PEOPLE, owner_only=True),
    "turn_away": Command((), _load("people", "turn_away"), owner_only=True),
    "leave": Command((), _load("correct", "leave_as_is")),
    "changed": Command((), _load("changed", "answer_change_by_button")),
    "take_back": Command((), _load("take_back", "answer_take_back_by_button")),
    "reminder": Command((), _load("reminder_changes", "press"), changes=frozenset(), openly=True),
    "secret": Command((), _load("kept_secret", "answer_secret_by_button")),
    "promise": Command((), _load("promises", "answer_by_button")),
    "calendar": Command((), _load("calendar_file", "press"), changes=frozenset()),
    "tool": Command((), lambda *_: "", changes=frozenset(), for_model=True),
    "show_held": Command((), _load("held_back", "show_held_by_button"), changes=frozenset()),
    "task": Command((), _load("tasks", "press"), changes=_TASKS, openly=True),
}
"""What only buttons give."""
_TRANSCRIPT = Command((), _load("transcript", "show_transcript"), changes=frozenset())
_PRESSED_BEFORE = Command((), lambda *_: "", changes=frozenset())
_UNKNOWN = Command((), guide.decline_unknown, changes=frozenset())


CommandListener = Callable[[Collection[Change]], None]
"""Follows what a command may have changed; it is on disk."""


class CommandRegistry:
    """Find and run commands, given with a slash or in plain words."""

    def __init__(self, context: CommandContext, personal: PersonalSettings) -> None:
        self._personal = personal
        self._context = replace(context, commands=COMMANDS)
        self._awaiting = approvals.OpenSessions(WORDS_WANTED)
        self._asked_about_reminders = approvals.OpenSessions(REMINDER_QUESTION)

    async def find(
        self, database: Database, inbound: Inbound, principal: Principal, at: datetime, *, one_reader: bool = False
    ) -> tuple[Command, str] | None:
        """Find the command of a message, or of the answer that it gives to an open question, with its arguments.

        one_reader: of its channel's `Capabilities`. A forwarded message is not obeyed. Never raises, but for a press:
        StoreError when it cannot be looked up.
        """
        if inbound.kind == "action":
            return await self._press(database, inbound, principal, one_reader)
        if stop_word(inbound.text) and await self._awaits(database, inbound, principal, at):
            return _WORDS, inbound.text
        found = _match(inbound.text, without_model=self._context.without_model)
        if found is not None and not await self._is_meant(database, found, inbound, principal, at):
            found = None  # it is about something else
        if found is not None and found[0].points_back:
            if (answer := await self._is_answer(database, inbound, principal, at)) is not None:
                return answer, inbound.text
            found = found if inbound.private else None
        if found is not None and found[0].is_allowed(principal, inbound, one_reader=one_reader):
            # In a group it may be meant for another bot.
            return found if found[0] is not _UNKNOWN or inbound.private else None
        if await self._is_order(database, inbound, principal, at):
            return _ORDER, inbound.text
        if await self._awaits(database, inbound, principal, at):
            return _WORDS, inbound.text
        if await self._is_answer_about_reminder(database, inbound, principal, at):
            return _ANSWER_OF_REMINDER, inbound.text
        if (answer := await self._is_answer(database, inbound, principal, at)) is not None:
            return answer, inbound.text
        if asks_what_was_heard(inbound.text) and await self._hears(database, inbound):
            return _TRANSCRIPT, ""
        stop = _NAMED.get(stop_word(inbound.text))  # where a question is open, "cancel" answers that
        return (stop, "") if stop is not None and stop.is_allowed(principal, inbound) else None

    async def _press(
        self, database: Database, inbound: Inbound, principal: Principal, one_reader: bool
    ) -> tuple[Command, str]:
        """Find the command that a pressed button gives; one without an answer for a button that was pressed before."""
        access = self._context.access
        button = await database.read(lambda connection: find_button(connection, inbound, access))
        name = button.command.removeprefix(OWNERS) if button is not None else ""
        command = _PRESSED.get(name) or _NAMED.get(name)
        if button is None or command is None:
            return _PRESSED_BEFORE, ""
        owner_only = command.owner_only or name != button.command
        command = replace(command, language=button.language, owner_only=owner_only)
        if not command.is_allowed(principal, inbound, one_reader=one_reader):
            return _PRESSED_BEFORE, ""
        return command, button.arguments

    async def _awaits(self, database: Database, inbound: Inbound, principal: Principal, at: datetime) -> bool:
        """Return whether a message is the words that a question of the bot's asked for. Never raises."""
        try:
            is_asked = await self._awaiting.may_hold(database, inbound.session)
            awaited = inbound.kind == "edit" or is_asked
            if not awaited or not inbound.text or not _WORDS.is_allowed(principal, inbound):
                return False
            from kenobot.agent.commands import correct

            question = await database.read(lambda connection: correct.words_wanted(connection, inbound, at))
        except StoreError as error:
            _log.warning("open questions cannot be read: %s", error)
            return False
        if question is None and inbound.private and inbound.kind == "message":
            self._awaiting.drop(inbound.session)
        return question is not None

    async def _is_answer(
        self, database: Database, inbound: Inbound, principal: Principal, at: datetime
    ) -> Command | None:
        """Return what follows the answer that a message gives to an open question, None for another. Never raises."""
        back = takes_back(inbound.text)
        answer, asks = parse_answer(inbound.text), asks_to_show(inbound.text)
        if not _ANSWER.is_allowed(principal, inbound) or (answer is None and not asks and not back):
            return None
        from kenobot.agenda import overdue
        from kenobot.agent.commands import changed, forget, held_back, kept_secret, take_back
        from kenobot.agent.commands.open_questions import find_question

        answers: tuple[tuple[str, Command], ...] = (
            (take_back.KIND, _ANSWER_OF_TAKE_BACK),
            (changed.KIND, _ANSWER_OF_CHANGE),
            (kept_secret.KIND, _ANSWER_OF_SECRET),
            (overdue.KIND, _ANSWER_OF_PROMISE),
            ("calendar", _ANSWER_OF_CALENDAR),
        )
        if back:  # "forget it" is a yes to whether to forget, a no to a secret's offer, and no answer to a change
            answers = (answers[0], answers[2])

        def find_asked(connection: Connection) -> Command | None:
            if asks:
                return _SHOW_HELD if held_back.find_held(connection, inbound, principal, at) is not None else None
            if not back and forget.open_question(connection, inbound, principal, at) is not None:
                return _ANSWER
            if answer not in ("yes", "no", "part") and not back:
                return None
            put = (command for kind, command in answers if find_question(connection, inbound, at, kind) is not None)
            return next(put, None)

        return await _read_or(None, database, find_asked, "open questions")

    async def _is_order(self, database: Database, inbound: Inbound, principal: Principal, at: datetime) -> bool:
        """Return whether a message is an order about reminders; one that may be meant otherwise only where it is
        about one there is. Never raises.
        """
        if not may_order(inbound.text) or not _ORDER.is_allowed(principal, inbound):
            return False
        from kenobot.agent.commands.reminder_orders import match_order

        order = match_order(inbound.text, at.astimezone(self._context.zone).replace(tzinfo=None))
        if order is None or order.sure:
            return order is not None

        def refers(connection: Connection) -> bool:
            from kenobot.agent.commands import reminder_changes

            return reminder_changes.refers(connection, order, inbound, principal, at, self._context.zone)

        return await _read_or(False, database, refers, "reminders")

    async def _is_answer_about_reminder(
        self, database: Database, inbound: Inbound, principal: Principal, at: datetime
    ) -> bool:
        """Return whether a message answers a question about a reminder. Never raises."""
        if not inbound.text or len(inbound.text) > LONGEST_ANSWER or not _ORDER.is_allowed(principal, inbound):
            return False

        def answers(connection: Connection) -> bool:
            question = approvals.find_approval(connection, inbound.session, at)
            if not inbound.reply_to and (question is None or question.kind != REMINDER_QUESTION):
                return False
            from kenobot.agent.commands import reminder_changes

            return reminder_changes.answers(connection, inbound, principal, at, self._context.zone)

        try:
            may_answer = inbound.reply_to or await self._asked_about_reminders.may_hold(database, inbound.session)
        except StoreError as error:
            _log.warning("reminders cannot be read: %s", error)
            return False
        return bool(may_answer) and await _read_or(False, database, answers, "reminders")

    async def _hears(self, database: Database, inbound: Inbound) -> bool:
        """Return whether somebody has just sent a recording in private. Never raises."""
        if not inbound.private or inbound.forwarded:
            return False

        def was_recorded(connection: Connection) -> bool:
            return attachments.was_recorded_lately(connection, inbound.session, inbound.user)

        return await _read_or(False, database, was_recorded, "recordings")

    async def _has_tasks(self, database: Database, inbound: Inbound, principal: Principal) -> bool:
        """Return whether a task is under way that somebody may cancel here. Never raises."""
        sender = "" if principal.role == "owner" else inbound.user
        session = "" if inbound.private else inbound.session

        def are_open(connection: Connection) -> bool:
            return any(each.is_open for each in tasks.tasks_of(connection, inbound.channel, sender, session, 100))

        return await _read_or(False, database, are_open, "tasks")

    async def _is_meant(
        self,
        database: Database,
        found: tuple[Command, str],
        inbound: Inbound,
        principal: Principal,
        at: datetime,
    ) -> bool:
        """Return whether a command that has something to be about has it. Never raises."""
        command, topic = found
        if command.answer is _CANCEL_TASK.answer:
            return await self._has_tasks(database, inbound, principal)
        if not command.if_known:
            return True
        is_order = await self._is_order(database, inbound, principal, at)  # "delete the second one"
        return not is_order and await self._knows(database, topic, inbound, principal)

    async def _knows(self, database: Database, topic: str, inbound: Inbound, principal: Principal) -> bool:
        """Return whether memory has all words of a topic, in private. Never raises.

        With no model to answer it otherwise, many of them suffice: what is meant is asked.
        """
        if not inbound.private:
            return False
        from kenobot.agent.commands import forget

        memory, is_whole = self._context.memory, not self._context.without_model

        def is_known(connection: Connection) -> bool:
            return forget.is_known(connection, topic, principal, memory, is_whole=is_whole)

        return await _read_or(False, database, is_known, "what is to be forgotten")

    def run(self, connection: Connection, command: Command, call: CommandCall) -> tuple[CommandAnswer, Language]:
        """Carry out a command inside the turn's transaction, in the writer's thread; returns answer and language.

        A press takes its buttons away: of two presses under way at once the second does nothing.
        """
        chosen = self._context.language or self._personal.of(call.inbound).language
        call = replace(call, language=chosen or _language(connection, command, call))
        if call.inbound.kind == "action":
            button = find_button(connection, call.inbound, self._context.access)
            if button is None or not take_keyboard(connection, button.keyboard):
                return CommandAnswer(""), call.language
        self._asked_about_reminders.note(call.inbound.session)  # any command may end in such a question
        given = command.answer(connection, call, self._context)
        answer = CommandAnswer(given) if isinstance(given, str) else given
        if answer.awaits_words:
            self._awaiting.note(call.inbound.session)
        elif self._awaiting.may_know(call.inbound.session):
            from kenobot.agent.commands import correct

            correct.want_words_no_more(connection, call)
        return answer, call.language

    def follow_reply(self, connection: Connection, call: CommandCall, *, asked: bool) -> list[CommandAnswer]:
        """Return what is said about reminders behind the reply to a message, inside the turn's transaction.

        asked: the reply asks a question already.
        """
        text = call.inbound.text
        if not may_order(text) and not may_tell_stay(text) and not has_wishes(connection):
            return []
        from kenobot.agent.commands import beside_reply

        answers = beside_reply.follow_reply(connection, call, self._context, asked=asked)
        if answers:
            self._asked_about_reminders.note(call.inbound.session)
        return answers


async def _read_or(default: ResultT, database: Database, query: Callable[[Connection], ResultT], what: str) -> ResultT:
    """Read something out of the database; `default` where that fails, which is logged. what: that is read."""
    try:
        return await database.read(query)
    except StoreError as error:
        _log.warning("%s cannot be read: %s", what, error)
        return default


def _language(connection: Connection, command: Command, call: CommandCall) -> Language:
    """Return the language of a wish or a button, else of what follows a command, of the chat, of its spelling."""
    if command.language is not None and (not command.names or call.inbound.kind == "action"):
        return command.language
    # A single word may be a code or a name, whose letters look like a word of either language.
    written = find_language(call.arguments) if " " in call.arguments else None
    told = written or find_spoken_language(connection, call.inbound.session)
    return told or command.language or call.language


def find_spoken_language(connection: Connection, session: str) -> Language | None:
    """Return the language of a chat: of the last message that tells one, else of the last answers; None without one."""
    lines = conversation.load_latest(connection, session, _SPOKEN)[::-1]
    said, replies = ([line.text for line in lines if line.role == role] for role in ("user", "assistant"))
    return talk_language(said, replies)


def is_command_text(text: str) -> bool:
    """Return whether a text is nothing but a command, in plain words too, or an answer that a command may wait for."""
    answers = (stop_word(text), parse_answer(text) is not None, asks_to_show(text), takes_back(text))
    return any(answers) or _match(text) is not None or _is_order_text(text)


def _is_order_text(text: str) -> bool:
    if not may_order(text):
        return False
    from kenobot.agent.commands.reminder_orders import match_order

    return match_order(text, _ANY_TIME) is not None


def _match(text: str, *, without_model: bool = False) -> tuple[Command, str] | None:
    """Match a text that is nothing but a command; returns it with its arguments.

    without_model: also wishes that a model would answer itself.
    """
    match = _COMMAND.fullmatch(text.strip())
    if match is not None:
        command = _NAMED.get(fold(match[1]))
        return (command, (match[2] or "").strip()) if command is not None else (_UNKNOWN, match[1].lower())
    if asks_for_calendar(text):
        return _EXPORT, text
    if (number := asks_to_cancel_task(text)) is not None:
        return replace(_CANCEL_TASK, language="es" if "tarea" in fold(text) else "en"), number
    wish = (match_without_model(text) if without_model else None) or match_command(text)
    return (replace(_WISHES[wish.kind], language=wish.language), wish.topic) if wish is not None else None
