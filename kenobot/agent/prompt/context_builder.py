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
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from importlib import resources
from zoneinfo import ZoneInfo

from kenobot.agent.media.message_words import message_pictures, select_pictures
from kenobot.agent.prompt import speakers
from kenobot.agent.prompt.prefix_planner import CHAT_CONTEXT, PlannedTurn, PrefixPlanner
from kenobot.agent.prompt.prompt_context import PromptContext, PromptLimits, PromptPlan, PromptRequest
from kenobot.agent.prompt.runtime_block import escape_runtime_block, runtime_block
from kenobot.agent.prompt.shown_message import PersonText, time_mark
from kenobot.agent.prompt.shown_talk import TalkReader
from kenobot.cognitive.memory import MemoryQuery, MemoryReader, SearchHints, SideIndex
from kenobot.core.token_estimate import clip_to_tokens
from kenobot.identity import onboarding
from kenobot.identity.identity_files import Identity, IdentityText
from kenobot.identity.preference_notes import has_entries
from kenobot.language.calendar import describe_age
from kenobot.ports.identity import OWNER_SCOPE, Principal, chat_scope
from kenobot.ports.provider import Block, Content, Message, Request
from kenobot.skills.library import SkillLibrary
from kenobot.storage.connection import Connection

TAG_INSTRUCTIONS = resources.files(__package__).joinpath("tag_instructions.md").read_text("utf-8").removesuffix("\n")
GROUP_INSTRUCTIONS = resources.files(__package__).joinpath("group_instructions.md").read_text("utf-8")
_MEMORY = f"## Memory\n{TAG_INSTRUCTIONS}"
_RULE = "\n\n---\n\n"
_PAD = "### Working memory"
_PRECEDING = 2  # messages from which a short one borrows search terms


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
        self._skills = skills
        self.memory = MemoryReader(index)
        self._prefixes = PrefixPlanner(self.memory, zone)

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
            plan = plan.add_memory(
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
        plan = self._prefixes.plan(connection, PlannedTurn(base, limits, identity, reader))
        plan = plan.add_memory(self.memory.procedures(connection, base, lambda: _join_texts(plan.memory_on_show)))
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
            or CHAT_CONTEXT in plan.prefix.shown_text
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


def _day_line(day: str, zone: ZoneInfo) -> str:
    """Word the day, and the meaning of the times behind messages."""
    return (
        f"_Today is {date.fromisoformat(day):%A} {day}, {zone.key}. In brackets behind each message of a person is the "
        "time when it came in; write none yourself._"
    )


def _has_preferences(identity: IdentityText, principal: Principal) -> bool:
    """Return whether preferences are shown that hold more than headings."""
    return OWNER_SCOPE in principal.read_scopes and has_entries(identity.preferences)
