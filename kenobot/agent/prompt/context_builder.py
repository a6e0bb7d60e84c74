"""Build prompts: identity, rules, preferences, memory, the conversation, the message, in that order.

A prompt has three stretches, so that a provider's prompt cache holds from turn to turn:
- a frozen beginning (the prefix): identity, and preferences and memory as they stood when the prefix was made;
- a log that only grows: messages, each with its time and the notes that had become known when it was sent;
- a tail that changes every turn and comes last: what was recalled for the message, working memory, guidance.
A prefix is made anew when it no longer tells the truth (a record on show was changed or forgotten), when the day
changes, or when the conversation rested so long that no cache holds it any more. When the log has grown too long, that
alone begins anew: the prefix stays, with what became known since behind it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

from kenobot.agent.media.message_words import message_pictures, select_pictures
from kenobot.agent.prompt import speakers
from kenobot.agent.prompt.runtime_block import escape_runtime_block, runtime_block
from kenobot.agent.prompt.shown_message import PersonText, ShownMessage, quotations, time_mark
from kenobot.agent.prompt.shown_talk import ShownTalk, ShownTalks, TalkFrame, TalkReader
from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.agent.safety.trifecta import Exposure
from kenobot.cognitive.memory import NO_MEMORY, MemoryPack, MemoryQuery, MemoryReader, SearchHints, SideIndex
from kenobot.core.history_window import HistoryWindow
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens
from kenobot.identity import onboarding
from kenobot.identity.identity_files import Identity, IdentityText
from kenobot.identity.preference_notes import note_preferences
from kenobot.language.calendar import describe_age
from kenobot.language.provenance import AttributedText, SpeechContext
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, Principal, chat_scope
from kenobot.ports.provider import Block, Content, Message, Request, ToolResult
from kenobot.ports.recall import MemoryEntry, Section
from kenobot.skills.library import SkillLibrary
from kenobot.storage import conversation, message_rows, prompt_prefix
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import StoredMessage
from kenobot.storage.inbox import PendingMessage
from kenobot.storage.prompt_prefix import PromptPrefix

TAG_INSTRUCTIONS = resources.files(__package__).joinpath("tag_instructions.md").read_text("utf-8").removesuffix("\n")
GROUP_INSTRUCTIONS = resources.files(__package__).joinpath("group_instructions.md").read_text("utf-8")
_MEMORY = f"## Memory\n{TAG_INSTRUCTIONS}"
_RULE = "\n\n---\n\n"
_REST = timedelta(hours=1)
_REDUCTION = 4
_REDUCED = (
    "budget_tokens", "memory_tokens", "recent_tokens", "message_tokens", "history_min", "history_max", "summary_tokens",
)  # fmt: skip
_PAD = "### Working memory"
_CHAT_CONTEXT = "### Chat context"
_HEADINGS: Mapping[Section, str] = {
    "long_term": "### Long-term memory",
    "recent": "### Recent notes",
    "chat": "### Chat-specific memory",
    "context": _CHAT_CONTEXT,
}
_NOTHING_YET = (
    "_Nothing was remembered when this conversation began. When asked for what does not stand in it since, say so; do "
    "not guess._"
)
_NOTHING_SHOWN = "_No notes are shown here. When asked for what this prompt does not show, say so; do not guess._"
_SEARCHED = "Those that fit a message are shown behind it. When asked for what neither shows, say so; do not guess."
_NOTED_PREFERENCES = 1000  # tokens that a note of new preferences may take; longer ones are worth a new prefix
_PRECEDING = 2  # messages from which a short one borrows search terms


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """Limits of a prompt; all but messages in tokens.

    memory_tokens: of memory in a prefix. recent_tokens: of its notes, once not all fit. history_min: messages that a
    new prefix begins with. history_max: messages before a new prefix is made. late_after: wait of a message from which
    on the model is told. always_new_prefix: make a new prefix for every prompt. summary_tokens: of the summary of
    messages that are not shown; 0 without summaries.
    """

    budget_tokens: int = 24_000
    memory_tokens: int = 6_000
    recent_tokens: int = 1_000
    message_tokens: int = 4_000
    history_min: int = 20
    history_max: int = 60
    max_tokens: int = 4096
    late_after: timedelta = timedelta(minutes=15)
    always_new_prefix: bool = False
    summary_tokens: int = 0

    @property
    def window(self) -> HistoryWindow:
        """Return how much of the conversation is shown."""
        room = max(self.message_tokens, self.budget_tokens - self.memory_tokens - 2 * self.message_tokens)
        return HistoryWindow(self.history_min, self.history_max, self.message_tokens, room, self.summary_tokens)

    def reduce(self) -> "PromptLimits":
        """Return limits of a quarter of the size, for a model that could not read a prompt of the usual one."""
        sizes = {name: getattr(self, name) // _REDUCTION for name in _REDUCED}
        return replace(self, always_new_prefix=True, **sizes)


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """The message that a prompt is for. reduced: make it much smaller than usual."""

    pending: PendingMessage
    principal: Principal
    now: datetime
    reduced: bool = False


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """Parts of a prompt besides what a search finds.

    memory: what this message shows of memory for the first time. texts: every memory text on show. query: the search
    for the message; None where the message is not searched for. preferences: a note of those that are new.
    """

    limits: PromptLimits
    identity: IdentityText
    prefix: PromptPrefix
    previous_prefix: PromptPrefix | None
    talk: ShownTalk
    memory: MemoryPack
    texts: tuple[str, ...]
    query: MemoryQuery | None = None
    preferences: str = ""

    @property
    def history(self) -> Sequence[ShownMessage]:
        """Return the messages of the conversation that the prompt shows."""
        return self.talk.lines

    @property
    def notes(self) -> str:
        """Return the notes that stay beside the message: of news since the prefix was made."""
        return _join_escaped(self.preferences, self.memory["updates"])

    @property
    def recalled(self) -> str:
        """Return the memories that are shown with this message alone, and with no later prompt."""
        return _join_escaped(self.memory["procedures"], self.memory["recalled"])

    @property
    def recalled_of_others(self) -> str:
        """Return them where they quote others, whose words a later reply may repeat; "" otherwise."""
        return self.recalled if any(quotations(self.recalled)) else ""

    @property
    def memory_on_show(self) -> tuple[str, ...]:
        """Return what the prompt shows of memory, as it stands there."""
        return (self.prefix.shown_text, *self.talk.later_contexts, self.notes, self.recalled)

    def quote_memory(self, tail: str) -> Iterator[AttributedText]:
        """Iterate over what memory shows of others' words."""
        yield from (*quotations(self.prefix.text), *quotations(self.prefix.later))
        yield from self.talk.quote_memory
        yield from (*quotations(self.notes), *quotations(self.recalled), *quotations(tail))

    def adding(self, pack: MemoryPack) -> "PromptPlan":
        """Return the plan with more of memory beside the message."""
        if pack is NO_MEMORY:
            return self
        return replace(self, memory=self.memory + pack, texts=(*self.texts, *pack.texts))


@dataclass(frozen=True, slots=True)
class _NewLog:
    """A log as it begins anew.

    shown: the messages in it. first_message: where it begins. newest: the last message that there is.
    summary: of messages that are not shown; summary_records: its own.
    """

    shown: Sequence[StoredMessage]
    first_message: int
    newest: int
    summary: str
    summary_records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PromptContext:
    """A prompt, and what is stored with the turn so that the next prompt repeats its bytes.

    asked_at: the time that it tells. untrusted_texts: texts whose tags must not act. speech: who said what of it.
    shows_private: it shows memory, preferences or history. shows_untrusted: it shows, or may show, words of others than
    the speaker. only_recalled: it shows none of them but in memory. reported, has_agenda: it has a report of memory, or
    what answers a question for days. shows_skills: it lists skills. private_results: of tools that read memory.
    recall_seconds: what finding memories took of the time.
    """

    request: Request
    plan: PromptPlan
    asked_at: datetime
    untrusted_texts: tuple[str, ...]
    bootstrap: onboarding.BootstrapState | None
    speech: SpeechContext
    shows_private: bool
    shows_untrusted: bool
    only_recalled: bool = False
    reported: bool = False
    has_agenda: bool = False
    shows_skills: bool = False
    private_results: tuple[str, ...] = ()
    recall_seconds: float = 0.0

    def with_report(self, request: Request, text: str, found: MemoryPack) -> "PromptContext":
        """Return the same prompt as `request` with a report of memory. found: the memories that its text shows."""
        texts = (*self.untrusted_texts, text)
        plan = self.plan.adding(found)
        return replace(self, request=request, plan=plan, untrusted_texts=texts, shows_private=True, reported=True)

    def with_agenda(self, request: Request, text: str, found: MemoryPack, *, of_others: bool) -> "PromptContext":
        """Return the same prompt as `request`, with the agenda of the days that a question asks for.

        of_others: in words of others, too.
        """
        return replace(
            self,
            request=request,
            plan=self.plan.adding(found),
            untrusted_texts=(*self.untrusted_texts, text),
            shows_private=True,
            shows_untrusted=self.shows_untrusted or of_others,
            has_agenda=True,
        )

    def with_recall_time(self, seconds: float) -> "PromptContext":
        """Return the same prompt, for whose search models were asked for so long beforehand."""
        return replace(self, recall_seconds=self.recall_seconds + seconds)

    @property
    def exposure(self) -> Exposure:
        """Return what meets in this turn, before the model has written anything."""
        return Exposure(self.shows_private, self.shows_untrusted, way_out=False)

    @property
    def shown(self) -> ShownTexts:
        """Return the prompt's texts as the guard compares a reply with them."""
        speech, plan = self.speech, self.plan
        own = (*speech.earlier_messages, *speech.model_replies, plan.identity.preferences)
        theirs = tuple(voice.text for voice in speech.other_texts)
        private = self.private_results
        return ShownTexts(
            self.texts,
            private=lambda: (*plan.memory_on_show, *private, *own),
            others=lambda: (speech.message, *theirs),
            own=lambda: (speech.message, *speech.earlier_messages),
            replies=lambda: speech.model_replies,
            recalled=lambda: theirs,
            only_recalled=self.only_recalled,
        )

    def texts(self) -> Iterator[str]:
        """Yield every text of the prompt."""
        yield from (block.text for block in self.request.system)
        for message in self.request.messages:
            yield message.text
            yield from (content.text for content in message.blocks if isinstance(content, ToolResult))


class ContextBuilder:
    """Build the prompt of a turn from one snapshot of the database and the identity files.

    Every method blocks; it runs in a reader's thread.
    """

    def __init__(
        self,
        identity: Identity,
        zone: ZoneInfo,
        limits: PromptLimits,
        index: SideIndex | None = None,
        skills: SkillLibrary | None = None,
    ) -> None:
        """index: finds what the prefix has no room for; without one, nothing is searched for. skills: to be listed."""
        self._identity = identity
        self._zone = zone
        self._limits = limits
        self._talks = ShownTalks(zone)
        self._skills = skills
        self.memory = MemoryReader(index)

    @property
    def may_search(self) -> bool:
        """Return whether there may be messages that are searched for."""
        return self.memory.searches(omitted=1)

    def searches_for(self, text: str) -> bool:
        """Return whether a message is searched for whatever its prompt shows."""
        return self.memory.searches(omitted=0, text=text)

    def query(self, text: str, principal: Principal, session: str, now: datetime) -> MemoryQuery:
        """Return the query of memory for a text that is no message."""
        return MemoryQuery(text, principal.read_scopes, now, self._zone, session, force=True)

    def build(self, connection: Connection, request: PromptRequest, hints: SearchHints | None = None) -> PromptContext:
        """Assemble the prompt of a message. hints: of models, for its search."""
        plan, seconds = self.plan(connection, request), 0.0
        if plan.query is not None:
            began = time.perf_counter()
            plan = plan.adding(
                self.memory.search(connection, hints.add_to(plan.query) if hints is not None else plan.query)
            )
            seconds = time.perf_counter() - began
        return self._assemble(connection, request, plan, seconds)

    def plan(self, connection: Connection, request: PromptRequest) -> PromptPlan:
        """Decide what the prompt of a message shows, and what to search for; nothing is searched or rendered yet."""
        limits = self._limits.reduce() if request.reduced else self._limits
        identity, text, reach = self._identity.read(), request.pending.inbound.text, request.principal.read_scopes
        base = MemoryQuery(
            text,
            reach,
            request.now,
            self._zone,
            request.pending.session,
            prefix_tokens=limits.memory_tokens,
            recent_tokens=limits.recent_tokens,
            account="" if request.pending.inbound.private else request.pending.inbound.user,
        )
        reader = TalkReader.of(request.pending.inbound, request.principal)
        given = base, limits, identity, reader
        plan = self._continue_log(connection, *given) or self._new(connection, *given)
        plan = plan.adding(self.memory.procedures(connection, base, lambda: _join_texts(plan.memory_on_show)))
        if not self.memory.searches(plan.prefix.omitted, text):
            return plan
        query = replace(
            base,
            preceding_text=" ".join(line.text for line in plan.history[-_PRECEDING:]),
            prompt_text=_join_texts((*plan.memory_on_show, identity.preferences, *plan.talk.said)),
            from_message=plan.history[0].id if plan.history else None,
            all_shown=not self.memory.searches(plan.prefix.omitted),
        )
        return replace(plan, query=query)

    def _assemble(
        self, connection: Connection, request: PromptRequest, plan: PromptPlan, recall_seconds: float
    ) -> PromptContext:
        pending, principal, identity = request.pending, request.principal, plan.identity
        inbound, talk, notes = pending.inbound, plan.talk, plan.notes
        state, guidance = self._onboarding(connection, request, identity)
        tail = self._tail(connection, request, guidance)
        message = escape_runtime_block(speakers.message_text(inbound, principal.role))
        clipped = clip_to_tokens(message, plan.limits.message_tokens)
        if clipped != message:
            clipped += f"\n\n[… the message is {len(message)} characters long; the rest is not shown]"
        time = time_mark(request.now.astimezone(self._zone), plan.prefix.day)
        blocks: list[Content] = [Block(runtime_block(notes))] if notes else []
        blocks += [Block(clipped or " "), *select_pictures(message_pictures(inbound)), Block(time, cache=True)]
        if behind := runtime_block("\n\n".join(part for part in (plan.recalled, tail) if part)):
            blocks.append(Block(behind))
        skills = self._skill_list(connection, request)
        system = (
            Block(self._who(connection, plan, request, state, skills), cache=True),
            Block(f"{_day_line(plan.prefix.day, self._zone)}\n\n{_MEMORY}\n\n{plan.prefix.text}", cache=True),
            *([Block(plan.prefix.later)] if plan.prefix.later else []),
        )
        spoken = PersonText(speakers.list_spoken_words(inbound))
        speech = speakers.speech_context(inbound, spoken, principal, talk, tuple(plan.quote_memory(tail)))
        shows_private = (
            bool(talk.lines)
            or any(plan.texts)
            or _CHAT_CONTEXT in plan.prefix.shown_text
            or self.memory.has_summary(plan.prefix.later)
            or _PAD in tail
            or _has_preferences(identity, principal)
            or bool(skills)
        )
        markup = speakers.texts_with_markup(talk, speech)
        in_talk = speakers.shows_untrusted_words(spoken, talk, speech)
        return PromptContext(
            request=Request(system, (*talk.messages, Message("user", tuple(blocks))), plan.limits.max_tokens),
            plan=plan,
            asked_at=request.now,
            untrusted_texts=(spoken.text, plan.prefix.shown_text, notes, plan.recalled, tail, skills, *markup),
            bootstrap=state,
            speech=speech,
            shows_private=shows_private,
            shows_untrusted=in_talk or bool(speech.other_texts),
            only_recalled=not in_talk and bool(speech.other_texts),
            shows_skills=bool(skills),
            recall_seconds=recall_seconds,
        )

    # ── the frozen beginning ─────────────────────────────────────────────────────────────────────────────────────

    def _who(
        self,
        connection: Connection,
        plan: PromptPlan,
        request: PromptRequest,
        state: onboarding.BootstrapState | None,
        skills: str,
    ) -> str:
        """Render identity, rules, who is who in a group; for the owner in private skills, preferences, onboarding."""
        identity = plan.identity
        sections = [identity.core, identity.rules]
        if not request.pending.inbound.private:
            sections.append(GROUP_INSTRUCTIONS)
        sections.append(skills)
        if OWNER_SCOPE in request.principal.read_scopes:
            if plan.prefix.preferences:
                sections.append(f"## Preferences\n{escape_runtime_block(plan.prefix.preferences)}")
            if state is not None and identity.bootstrap:
                known = _has_preferences(identity, request.principal) or self.memory.knows_anything(
                    connection, request.principal.read_scopes
                )
                text = onboarding.instructions(identity.bootstrap, knows_person=known)
                sections.append(f"## First Conversation — Bootstrap\n{text}")
        return _RULE.join(section.strip() for section in sections if section.strip()) + _RULE.rstrip("\n")

    def _skill_list(self, connection: Connection, request: PromptRequest) -> str:
        """List the owner's skills to the owner: some may hold what was learned from memory."""
        if self._skills is None or request.reduced or OWNER_SCOPE not in request.principal.read_scopes:
            return ""
        return escape_runtime_block(self._skills.prompt_section(connection))

    def _continue_log(
        self,
        connection: Connection,
        base: MemoryQuery,
        limits: PromptLimits,
        identity: IdentityText,
        reader: TalkReader,
    ) -> PromptPlan | None:
        """Return the plan that goes on with the session's prefix; None when a new one has to be made."""
        prefix, scopes = prompt_prefix.load_prefix(connection, base.session), " ".join(base.scopes)
        if prefix is None or (prefix.scopes, prefix.day) != (scopes, base.day) or limits.always_new_prefix:
            return None
        stored = conversation.load_since(connection, base.session, prefix.first_message, limits.history_max + 1)
        if not stored or base.now - datetime.fromisoformat(stored[-1].at) > _REST:
            return None
        talk = self._show(stored, limits, reader, prefix)
        if not limits.window.fits(len(talk.lines), talk.tokens, self.memory.count_summary(prefix.later)):
            return self._with_new_log(connection, base, limits, identity, reader, prefix)
        preferences = _preferences(identity, base)
        added = _note_preferences(prefix.known_preferences, preferences)
        updates = self.memory.updates(connection, base, prefix)
        if added is None or updates.stale or updates.prefix is None:
            return None
        told = replace(updates.prefix, known_preferences=preferences) if added else updates.prefix
        texts = (prefix.shown_text, escape_runtime_block(updates["updates"]), *talk.contexts)
        return PromptPlan(limits, identity, told, prefix, talk, updates, texts, preferences=added)

    def _with_new_log(
        self,
        connection: Connection,
        base: MemoryQuery,
        limits: PromptLimits,
        identity: IdentityText,
        reader: TalkReader,
        prefix: PromptPrefix,
    ) -> PromptPlan | None:
        """Plan a log that begins anew behind the session's prefix and what became known since that was made."""
        preferences = _preferences(identity, base)
        added = _note_preferences(prefix.preferences, preferences)
        made = replace(prefix, last_event=prefix.made_event, last_record=prefix.made_record)
        updates = self.memory.updates(connection, base, made)
        shown = self.memory.list_in_prefix(connection, base.session)
        if added is None or updates.stale or updates.prefix is None or shown is None:
            return None
        log = self._new_log(connection, base, limits)
        kept = tuple(MemoryEntry(number, "recent") for number in dict.fromkeys([*shown, *log.summary_records]))
        memory = MemoryPack({"recent": ""}, entries=(*kept, *updates.entries))
        later = [escape_runtime_block(text) for text in (added, updates["updates"], log.summary)]
        again = replace(
            updates.prefix,
            known_preferences=preferences,
            later="\n\n".join(text for text in later if text),
            first_message=log.first_message,
            last_message=log.newest,
        )
        talk = self._show(log.shown, limits, reader, again)
        return PromptPlan(limits, identity, again, prefix, talk, memory, (again.shown_text,))

    def _new(
        self,
        connection: Connection,
        base: MemoryQuery,
        limits: PromptLimits,
        identity: IdentityText,
        reader: TalkReader,
    ) -> PromptPlan:
        """Return the plan with a new prefix."""
        memory = self.memory.load(connection, base)
        log, preferences = self._new_log(connection, base, limits), _preferences(identity, base)
        event, record = self.memory.last_numbers(connection)
        is_empty = not memory.omitted and not _has_entries(preferences)
        is_empty = is_empty and not message_rows.has_earlier_talk(
            connection, base.session, log.first_message, base.scopes
        )
        prefix = PromptPrefix(
            session=base.session,
            scopes=" ".join(base.scopes),
            text=_render(memory, _NOTHING_YET if is_empty else _NOTHING_SHOWN),
            day=base.day,
            last_event=event,
            last_record=record,
            first_message=log.first_message,
            last_message=log.newest,
            omitted=memory.omitted,
            preferences=preferences,
            known_preferences=preferences,
            later=escape_runtime_block(log.summary),
            made_event=event,
            made_record=record,
        )
        memory += MemoryPack(entries=tuple(MemoryEntry(number, "chat") for number in log.summary_records))
        talk = self._show(log.shown, limits, reader, prefix)
        return PromptPlan(limits, identity, prefix, None, talk, memory, memory.texts)

    def _show(
        self, stored: Sequence[StoredMessage], limits: PromptLimits, reader: TalkReader, prefix: PromptPrefix
    ) -> ShownTalk:
        frame = TalkFrame(reader, limits.message_tokens, prefix.day, prefix.last_message)
        return self._talks.show(prefix.session, frame, stored)

    def _new_log(self, connection: Connection, base: MemoryQuery, limits: PromptLimits) -> _NewLog:
        window, session = limits.window, base.session
        summary = self.memory.load_summary(connection, session, window.summary_budget, base.scopes)
        stored = conversation.load_latest(connection, session, limits.history_min + window.summary_batch + 1)
        begun = prompt_prefix.find_beginning(connection, session)
        latest = self._talks.messages.of([message for message in stored if message.id > begun])
        shown = window.select_shown(latest, summary.cursor, summary.tokens)
        newest = latest[-1].id if latest else begun
        return _NewLog(
            [line.stored for line in shown],
            shown[0].id if shown else newest + 1,
            newest,
            summary.section(latest[: len(latest) - len(shown)]),
            (summary.record,) if summary.record is not None else (),
        )

    # ── the tail ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _onboarding(
        self, connection: Connection, request: PromptRequest, identity: IdentityText
    ) -> tuple[onboarding.BootstrapState | None, str]:
        """Return the chat's onboarding after this message, and its next step; None when there is none."""
        if identity.bootstrap is None or OWNER_SCOPE not in request.principal.read_scopes:
            return None, ""
        before = onboarding.load(connection, request.pending.session)
        if before.phase == "complete":
            return None, ""
        if request.pending.inbound.forwarded:  # another's words answer nothing
            return before, ""
        state, guidance = onboarding.advance(before, request.pending.inbound.text)
        return state, guidance.prompt()

    def _tail(self, connection: Connection, request: PromptRequest, guidance: str) -> str:
        pending, now = request.pending, request.now
        sections: list[str] = []
        waited = now - pending.inbound.sent_at
        if waited > self._limits.late_after:
            sent = pending.inbound.sent_at.astimezone(self._zone)
            sections.append(
                f"_The message above was sent {describe_age(waited)} (on {sent:%A %Y-%m-%d at %H:%M}) "
                "and could not be answered before. Answer with that in mind: what it speaks of may be over._"
            )
        pad = self.memory.read_scratchpad(connection, chat_scope(pending.session))
        if pad is not None:
            sections.append(f"{_PAD} (updated {describe_age(now - pad.updated)})\n{escape_runtime_block(pad.text)}")
        if guidance:
            sections.append(guidance)
        return "\n\n".join(sections)


def _join_texts(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n" for text in texts if text)


def _join_escaped(*parts: str) -> str:
    return "\n\n".join(escape_runtime_block(part) for part in parts if part)


def _day_line(day: str, zone: ZoneInfo) -> str:
    """Word the day, and the meaning of the times behind messages."""
    return (
        f"_Today is {date.fromisoformat(day):%A} {day}, {zone.key}. In brackets behind each message of a person is the "
        "time when it came in; write none yourself._"
    )


def _render(memory: MemoryPack, nothing: str) -> str:
    """Render the memory of a prefix. nothing: said where it holds no notes."""
    parts = [
        f"{heading}\n{escape_runtime_block(memory[section])}"
        for section, heading in _HEADINGS.items()
        if memory[section]
    ]
    if not (memory["long_term"] or memory["recent"] or memory["chat"]):
        parts.insert(0, nothing)
    if memory.omitted:
        parts.append(f"_({memory.omitted} older notes are remembered but did not fit here. {_SEARCHED})_")
    return "\n\n".join(parts)


def _note_preferences(told: str, current: str) -> str | None:
    """Return the note of new preferences; None when they are worth a new prefix."""
    added = note_preferences(told, current)
    return added if added is not None and estimate_tokens(added) <= _NOTED_PREFERENCES else None


def _preferences(identity: IdentityText, query: MemoryQuery) -> str:
    """Return the preferences that a reader of these scopes is shown."""
    return identity.preferences.strip() if OWNER_SCOPE in query.scopes else ""


def _has_preferences(identity: IdentityText, principal: Principal) -> bool:
    """Return whether preferences are shown that hold more than headings."""
    return OWNER_SCOPE in principal.read_scopes and _has_entries(identity.preferences)


def _has_entries(preferences: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in preferences.splitlines())
