"""Alert the owner in their private chat and language, and a chat whose message cannot be stored.

At most one alert a subject and hour, also across restarts. It leaves by the outbox; when that cannot be written, which
may be the very problem, it goes straight to the channel. It waits for an owner who has written nowhere in private yet.
No alert holds people's words.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kenobot.core import texts
from kenobot.core.i18n import Language, Text, guess_language
from kenobot.core.model_purposes import purpose_words
from kenobot.core.redaction import Redactor
from kenobot.core.worker import TaskSet
from kenobot.gateway.access import Access
from kenobot.gateway.bot_messages import HOUR, BotMessenger, HourlyOnce, MessageButtons
from kenobot.gateway.buttons import Choice, choices_of
from kenobot.gateway.kept_notices import KeptNotice, drop_notices, keep_notice, load_notices
from kenobot.gateway.personal_settings import PersonalSettings
from kenobot.ports.channel import Capabilities, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Outbound
from kenobot.ports.names import sanitize_name
from kenobot.ports.sentences import change_values, hide_mark, render
from kenobot.ports.signals import (
    APPROVAL_PROPOSED,
    BUDGET_NEAR,
    HEALTH_DEGRADED,
    MEMORY_FILES_MISSING,
    MEMORY_INTAKE_FINISHED,
    MEMORY_INTAKE_STARTED,
    MEMORY_REVIVED,
    MESSAGE_DEAD_LETTERED,
    MESSAGE_FAILED,
    MESSAGE_IN,
    MESSAGE_QUARANTINED,
    MESSAGE_STORE_FAILED,
    PAIRING_REQUESTED,
    SLEEP_FINISHED,
    UPDATE_FINISHED,
    Envelope,
    Signal,
    Signals,
    Unsubscribe,
)
from kenobot.storage import conversation, health_told, inbox_rows
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination
from kenobot.storage.state import read_json, write_json

_log = logging.getLogger(__name__)

_MOST = 20  # notices an hour to the owner, whatever happens
_CHATS = 200  # chats an hour that are told directly
_SCANNED = 2000  # of the newest messages, to find the owner's last one
_LABEL_NAME = 24  # characters of a name on a button
_READ = 5  # messages that tell a chat's language
_TOLD, _HOMES = "notices:told", "notices:homes"  # keys of the table `state`
_FIELDS = ("chat", "user", "language", "at")
_ALERTS: Mapping[Signal, tuple[str, Text]] = {
    APPROVAL_PROPOSED: ("proposals:{newest}", texts.NOTICE_PROPOSALS),
    BUDGET_NEAR: ("budget:{when}:{purpose}:{budget}:{percent}", texts.NOTICE_BUDGET_NEAR),
    HEALTH_DEGRADED: ("health:{problem}", texts.NOTICE_HEALTH),
    MEMORY_FILES_MISSING: ("lost:{at}", texts.NOTICE_MISSING_FILES),
    MEMORY_INTAKE_STARTED: ("intake:{path}", texts.NOTICE_INTAKE_STARTED),
    MEMORY_INTAKE_FINISHED: ("intake done:{at}", texts.NOTICE_INTAKE_FINISHED),
    MEMORY_REVIVED: ("revived:{at}", texts.NOTICE_REVIVED),
    MESSAGE_QUARANTINED: ("aside:{channel}", texts.NOTICE_QUARANTINED),
    MESSAGE_DEAD_LETTERED: ("dead", texts.NOTICE_DEAD_LETTER),
    MESSAGE_FAILED: ("failed:{channel}", texts.NOTICE_FAILED),
    MESSAGE_STORE_FAILED: ("disk", texts.NOTICE_DISK),
    PAIRING_REQUESTED: ("pairing:{channel}:{user}", texts.NOTICE_PAIRING),
    SLEEP_FINISHED: ("sleep:{run}", texts.NOTICE_SLEEP),
    UPDATE_FINISHED: ("update:{trial}", texts.NOTICE_UPDATED),
}
"""The subject and the sentence of each signal's alert."""
_MOMENTARY = (MEMORY_INTAKE_STARTED, MEMORY_INTAKE_FINISHED)  # of no use to who hears of it later


@dataclass(frozen=True, slots=True)
class OwnerChat:
    """The private chat in which the owner last wrote, when, and in which language."""

    channel: str
    chat: str
    user: str
    language: Language
    at: str


@dataclass(frozen=True, slots=True)
class _Notice:
    """An alert, at most one a subject and hour. about: the chat that it is about, which is not told."""

    signal: Signal
    subject: str
    sentence: Text
    values: Mapping[str, str]
    about: tuple[str, str]


class OwnerAlerts:
    """Alert the owner, in their private chat; `attach` it to the bus.

    language: None goes by the owner. personal: the language that they chose, and the hours in which alerts wait.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        messenger: BotMessenger,
        access: Access,
        redact: Redactor,
        language: Language | None = None,
        personal: PersonalSettings | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._messenger = messenger
        self._access = access
        self._redact = redact
        self._language = language
        self._personal = personal or PersonalSettings(database)
        self._home: OwnerChat | None = None
        self._kept: OwnerChat | None = None
        self._recent = HourlyOnce(clock, _MOST)
        self._chats = HourlyOnce(clock, _CHATS)
        self._signals: Signals | None = None
        self._await_no_more: Unsubscribe | None = None
        self.under_way = TaskSet("notice")

    def attach(self, signals: Signals) -> None:
        """Alert the owner of these signals from now on."""
        self._signals = signals
        signals.subscribe(tuple(_ALERTS), self._hear)

    # ── the alerts ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _hear(self, envelope: Envelope) -> None:
        payload = {key: str(value) for key, value in envelope.payload.items()}
        channel, chat = payload.get("channel", ""), payload.get("chat", "")
        if envelope.signal is MESSAGE_STORE_FAILED and self._chats.is_news((channel, chat)):
            self.under_way.begin(self._tell_chat(channel, chat, payload.get("session", "")))
        notice = _notice(envelope.signal, payload)
        if notice is not None and self._recent.is_news(notice.subject):
            self.under_way.begin(self._deliver(notice, envelope.trace))

    async def _deliver(self, notice: _Notice, trace: str) -> None:
        """Put an alert into the outbox; when that cannot be written, send it directly."""
        at = self._clock.now()
        try:
            parts = await self._database.write(lambda connection: self._enqueue(connection, notice, trace, at))
        except StoreError as error:
            _log.warning("a notice could not be stored: %s", error)
            home = await self._find_home_or_last()
            if home is not None and notice.about != (home.channel, home.chat):
                await self._send(home.channel, home.chat, self._words(notice, home.language))
        except Exception:
            _log.exception("a notice could not be made")
        else:
            if parts is None:
                self._await_owner()
            self._messenger.dispatch(parts or [])

    def _enqueue(self, connection: Connection, notice: _Notice, trace: str, at: datetime) -> list[Outbound] | None:
        """Put an alert into the outbox, or keep it; None where it is kept."""
        home = self.find_home(connection, broken=(notice.values["channel"],))
        if home is None and notice.signal in _MOMENTARY:
            return []
        if home is None:
            _log.warning("an alert is kept until the owner writes in private: %s", notice.subject)
            payload = {name: self._redact(value) for name, value in notice.values.items()}
            keep_notice(connection, KeptNotice(notice.subject, notice.signal, payload, trace, at))
            return None
        return self._enqueue_to(connection, home, notice, trace, at)

    def _enqueue_to(
        self, connection: Connection, home: OwnerChat, notice: _Notice, trace: str, at: datetime, since: str = ""
    ) -> list[Outbound]:
        """Put an alert into the outbox, for a chat. since: when it came about, where that was some time ago."""
        sent = _within_the_hour(read_json(connection, _TOLD, {}), at)
        if notice.subject in sent or len(sent) >= _MOST or notice.about == (home.channel, home.chat):
            return []
        write_json(connection, _TOLD, sent | {notice.subject: at.isoformat()})
        if cause := notice.values.get("cause"):
            health_told.note(connection, cause, at)
        language, not_before = self._language_of(home), self._find_quiet_end(home, at)
        to = Destination(home.channel, home.chat, trace, not_before=not_before)
        buttons = MessageButtons(_buttons(notice, language), home.user, language)
        words = self._words(notice, language)
        words = texts.NOTICE_KEPT(language, since=since, notice=words) if since else words
        return self._messenger.enqueue(connection, to, words, buttons)

    # ── alerts that wait ─────────────────────────────────────────────────────────────────────────────────────────────

    async def send_kept(self) -> None:
        """Send the alerts that were kept, in order, once it is known where the owner is. A failure can wait."""
        at = self._clock.now()
        try:
            if not await self._database.read(load_notices):
                self._await_owner_no_more()
                return
            if await self._database.read(self.find_home) is None:
                self._await_owner()
                return
            parts = await self._database.write(lambda connection: self._enqueue_kept(connection, at))
        except StoreError as error:
            _log.warning("the alerts that wait cannot be sent now: %s", error)
            self._await_owner()
        else:
            self._await_owner_no_more()
            self._messenger.dispatch(parts)

    def _enqueue_kept(self, connection: Connection, at: datetime) -> list[Outbound]:
        home, parts = self.find_home(connection), list[Outbound]()
        if home is None:
            return []
        for kept in load_notices(connection):
            notice = _notice(kept.signal, kept.payload) if kept.signal in _ALERTS else None
            if notice is not None:
                since = self._personal.say_when(kept.at)
                parts += self._enqueue_to(connection, home, notice, kept.trace, at, since)
        drop_notices(connection)
        return parts

    def _await_owner(self) -> None:
        """Look where the owner is with each message that comes in, as long as alerts wait."""
        if self._await_no_more is None and self._signals is not None:
            self._await_no_more = self._signals.subscribe(MESSAGE_IN, self._hear_message)

    def _await_owner_no_more(self) -> None:
        if self._await_no_more is not None:
            self._await_no_more()
            self._await_no_more = None

    async def _hear_message(self, envelope: Envelope) -> None:
        if self._await_no_more is not None and self._access.is_owner(
            str(envelope.payload.get("channel", "")), str(envelope.payload.get("user", ""))
        ):
            await self.send_kept()

    # ── health ───────────────────────────────────────────────────────────────────────────────────────────────────

    def enqueue_health(
        self,
        connection: Connection,
        words: Callable[[Language], str],
        broken: Collection[str],
        at: datetime,
        *,
        urgent: bool,
    ) -> list[Outbound] | None:
        """Put what became of the bot's health into the outbox, inside a transaction; `dispatch` it after the commit.

        broken: channels that something is wrong with. None: nobody can be told yet, or the owner has quiet hours and
        it is not `urgent`; then it is to be tried again.
        """
        home = self.find_home(connection, broken)
        if home is None or (not urgent and self._find_quiet_end(home, at) is not None):
            return None
        to = Destination(home.channel, home.chat)
        return self._messenger.enqueue(connection, to, self._redact(words(self._language_of(home))))

    def reach_owner(self, connection: Connection, at: datetime) -> OwnerChat | None:
        """Return where the owner may be asked something now, and in which language; None in their quiet hours."""
        home = self.find_home(connection)
        if home is None or self._find_quiet_end(home, at) is not None or self._is_of_programs(home.channel):
            return None
        return replace(home, language=self._language_of(home))

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        """Send what was just committed."""
        self._messenger.dispatch(parts)

    async def send_health(self, words: Callable[[Language], str]) -> None:
        """Send it around the outbox, for when that cannot be written. Never raises."""
        home = await self._find_home_or_last()
        if home is not None:
            await self._send(home.channel, home.chat, self._redact(words(self._language_of(home))))

    def find_language(self) -> Language:
        """Return the owner's language, as far as it is known; else English."""
        home = self._home or self._kept
        return self._language or ("en" if home is None else self._language_of(home))

    def _language_of(self, home: OwnerChat) -> Language:
        return self._language or self._personal.language_of(home.channel, home.user) or home.language

    def _find_quiet_end(self, home: OwnerChat, at: datetime) -> datetime | None:
        quiet = self._personal.quiet_hours_of(home.channel, home.user)
        return quiet.find_end(at) if quiet is not None else None

    def _words(self, notice: _Notice, language: Language) -> str:
        values, language = dict(notice.values), self._language or language
        if "problem" in values:
            values["problem"] = render(hide_mark(values["problem"]), language).rstrip(".")
        if values.get("purpose"):
            values["purpose"] = f" ({purpose_words(values['purpose'], language)})"
        return self._redact(notice.sentence(language, **values))

    async def _tell_chat(self, channel: str, chat: str, session: str) -> None:
        """Tell a chat that its message could not be stored."""
        try:
            lines = await self._database.read(
                lambda connection: conversation.load_latest(connection, session, 2 * _READ)
            )
        except StoreError:
            lines = []
        written = " ".join(line.text[:400] for line in lines if line.role == "user")
        await self._send(channel, chat, texts.STORE_FAILED(self._language or guess_language(written)))

    async def _send(self, channel: str, chat: str, text: str) -> None:
        """Send around the outbox. A failure is only logged: what is wrong comes up again within the hour."""
        if channel not in self._messenger.channels:
            return
        try:
            await self._messenger.send_directly(channel, chat, text)
        except Exception as error:
            _log.warning("a notice could not be sent: %s: %s", type(error).__name__, error)

    # ── where the owner is ───────────────────────────────────────────────────────────────────────────────────────

    async def save_owner_chat(self) -> None:
        """Store the owner's chat, for when their messages have left the inbox. A failure can wait."""
        home = self._home = await self._find_home_or_last()
        if home is None or home == self._kept:
            return
        try:
            await self._database.write(lambda connection: _keep(connection, home))
        except StoreError as error:
            _log.warning("where the owner is to be found could not be kept: %s", error)
        else:
            self._kept = home

    async def _find_home_or_last(self) -> OwnerChat | None:
        try:
            return await self._database.read(self.find_home) or self._home
        except StoreError:
            return self._home

    def find_home(self, connection: Connection, broken: Collection[str] = ()) -> OwnerChat | None:
        """Return the private chat in which the owner wrote last, among the channels of this run.

        broken: channels that something is wrong with; a chat of another one comes first.
        """
        homes = {}
        for channel, kept in _homes(connection).items():
            if (home := _home(channel, kept)) is not None:
                homes[channel] = home
        for newest in self._newest_homes(connection, homes):
            homes[newest.channel] = newest
        mine = [
            home
            for home in homes.values()
            if home.channel in self._messenger.channels and self._access.is_owner(home.channel, home.user)
        ]
        return max(
            map(self._choose_chat, mine),
            key=lambda home: (home.channel not in broken, not self._capabilities(home).keeps_answers, home.at),
            default=None,
        )

    def _newest_homes(self, connection: Connection, kept: Mapping[str, OwnerChat]) -> list[OwnerChat]:
        """Return the chats of the owner's newest private messages in the inbox: in a channel, and by a program."""
        newest: dict[bool, tuple[str, str, str, str]] = {}
        said: dict[bool, list[str]] = {False: [], True: []}
        for channel, chat, user, text, at in inbox_rows.newest_private(connection, _SCANNED):
            if channel not in self._messenger.channels or not self._access.is_owner(channel, user):
                continue
            kind = capabilities_of(self._messenger.channels[channel]).keeps_answers
            if (channel, chat) == newest.setdefault(kind, (channel, chat, user, at))[:2]:
                said[kind].append(text)
            if len(said[False]) == _READ:
                break
        homes = []
        for kind, (channel, chat, user, at) in newest.items():
            before: Language = kept[channel].language if channel in kept else "en"
            language = self._language or guess_language(" ".join(said[kind][:_READ]), before)
            homes.append(OwnerChat(channel, chat, user, language, at))
        return homes

    def _capabilities(self, home: OwnerChat) -> Capabilities:
        return capabilities_of(self._messenger.channels[home.channel])

    def _choose_chat(self, home: OwnerChat) -> OwnerChat:
        """Return the chat of a channel in which its owner reads alerts, where there is one that is meant for them."""
        chat = self._capabilities(home).owner_chat
        return replace(home, chat=chat) if chat else home

    def _is_of_programs(self, channel: str) -> bool:
        """Return whether a program may be what writes in the chats of a channel, which answers no questions."""
        declared = capabilities_of(self._messenger.channels[channel])
        return declared.keeps_answers and not declared.owner_chat


def _notice(signal: Signal, payload: Mapping[str, str]) -> _Notice | None:
    """Build the alert that a signal calls for, if any."""
    subject, sentence = _ALERTS[signal]
    values = {"channel": "", "chat": "", "user": "", **payload}
    if signal is HEALTH_DEGRADED:
        values["problem"] = change_values(payload.get("reason", ""), lambda text: " ".join(text.split())[:300])
    elif signal is PAIRING_REQUESTED:
        values["name"] = sanitize_name(payload.get("name", "")) or sanitize_name(values["user"]) or "?"
    elif signal is BUDGET_NEAR and payload["percent"] == "100":
        sentence = texts.NOTICE_BUDGET_USED
    elif signal is UPDATE_FINISHED and payload["taken"] != "True":
        sentence, values["problem"] = texts.NOTICE_NOT_UPDATED, payload["reason"]
    elif signal is SLEEP_FINISHED and not payload.get("large"):
        return None
    elif signal is MEMORY_FILES_MISSING and payload["event"] != "0":
        sentence = texts.NOTICE_FORGOTTEN_FILES
    about = (values["channel"], values["chat"]) if signal in (MESSAGE_FAILED, MESSAGE_STORE_FAILED) else ("", "")
    return _Notice(signal, subject.format(**values), sentence, values, about)


def _buttons(notice: _Notice, language: Language) -> tuple[tuple[Choice, ...], ...]:
    """Return the buttons of an alert on which the owner can decide at once."""
    if notice.sentence is texts.NOTICE_PROPOSALS:
        return ((Choice(texts.BUTTON_SHOW(language), "proposals"),),)
    if notice.sentence is texts.NOTICE_FORGOTTEN_FILES:
        return ((Choice(texts.BUTTON_UNDO(language), "undo", notice.values["event"]),),)
    if notice.sentence in (texts.NOTICE_MISSING_FILES, texts.NOTICE_REVIVED):
        question = "missing" if notice.sentence is texts.NOTICE_MISSING_FILES else "revived"
        return ((Choice(texts.BUTTON_SHOW(language), question),), *choices_of(question, language))
    if notice.sentence is texts.NOTICE_PAIRING:
        account = f"{notice.values['channel']} {notice.values['user']}"
        who = notice.values["name"][:_LABEL_NAME]
        return (
            (
                Choice(texts.BUTTON_ADMIT(language, who=who), "ask_admit", account),
                Choice(texts.BUTTON_TURN_AWAY(language), "turn_away", account),
            ),
        )
    return ()


def _within_the_hour(told: Mapping[str, object], at: datetime) -> dict[str, str]:
    """Keep the subjects of the last hour; one dated in the future is from before the clock was set right."""
    horizon = (at - timedelta(seconds=HOUR)).isoformat()
    return {
        subject: then for subject, then in told.items() if isinstance(then, str) and horizon < then <= at.isoformat()
    }


def _home(channel: str, kept: object) -> OwnerChat | None:
    """Read a stored chat; None when it is damaged."""
    if not isinstance(kept, dict) or not all(isinstance(kept.get(name), str) for name in _FIELDS):
        return None
    language: Language = "es" if kept["language"] == "es" else "en"
    return OwnerChat(channel, kept["chat"], kept["user"], language, kept["at"])


def last_owner_chat(connection: Connection) -> OwnerChat | None:
    """Return the private chat in which the owner wrote last, as far as it is stored; None before the first hour."""
    homes = (_home(channel, kept) for channel, kept in _homes(connection).items())
    return max((home for home in homes if home is not None), key=lambda home: home.at, default=None)


def _keep(connection: Connection, home: OwnerChat) -> None:
    homes = _homes(connection)
    homes[home.channel] = {name: getattr(home, name) for name in _FIELDS}
    write_json(connection, _HOMES, homes)


def _homes(connection: Connection) -> dict[str, object]:
    return read_json(connection, _HOMES, {})
