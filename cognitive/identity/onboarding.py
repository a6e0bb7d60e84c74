"""Guide onboarding: observe a few messages, check the conclusions with the person, ask for red lines.

Each chat has its own state, in the state table. The model talks; this module tells it what to ask when.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ValidationError

from kenobot.cognitive.text.lexicon import alternatives
from kenobot.core import lazy
from kenobot.core.i18n import Language, told_language
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

OnboardingPhase = Literal["observing", "checkpoint", "boundaries", "complete"]

_WATCHED = 5
_LONG_WORDS = 25
_ENOUGH = 3
_LONGEST_ANSWER = 2_000
_TEXTS = tomllib.loads(resources.files("kenobot.cognitive.identity").joinpath("onboarding.toml").read_text("utf-8"))

_FORMAL = lazy.regex(rf"\b({alternatives('formal')})\b", re.IGNORECASE)
_QUESTION = lazy.regex(rf"({alternatives('question_starts')})\b", re.IGNORECASE)
_QUESTION_MARKS = ("?", "？", "؟")


class WritingProfile(BaseModel, frozen=True):
    """Writing style of a person; None where the messages do not tell."""

    language: Language | None = None
    tone: Literal["casual", "formal"] | None = None
    verbosity: Literal["concise", "detailed"] | None = None
    emoji: Literal["none", "occasional", "frequent"] | None = None
    tech: str | None = None


class MessageStats(BaseModel, frozen=True):
    """Counts over the person's messages, without those that have no letters."""

    messages: int = 0
    words: int = 0
    spanish: int = 0
    english: int = 0
    formal: int = 0
    with_emoji: int = 0

    def with_message(self, text: str) -> "MessageStats":
        words = sum(any(char.isalpha() for char in word) for word in text.split())
        if not words:
            return self
        language = told_language(text)
        return MessageStats(
            messages=self.messages + 1,
            words=self.words + words,
            spanish=self.spanish + (language == "es"),
            english=self.english + (language == "en"),
            formal=self.formal + bool(_FORMAL.search(text)),
            with_emoji=self.with_emoji
            + any(ord(char) >= 0x2600 and unicodedata.category(char) == "So" for char in text),
        )

    def profile(self) -> WritingProfile:
        """Conclude how the person writes."""
        if not self.messages:
            return WritingProfile()
        majority: Language = "es" if self.spanish > self.english else "en"
        emoji: Literal["none", "occasional", "frequent"] | None = "occasional" if self.with_emoji else None
        if self.with_emoji * 2 >= self.messages:
            emoji = "frequent"
        elif not self.with_emoji and self.messages >= _ENOUGH:
            emoji = "none"
        return WritingProfile(
            language=majority if self.spanish != self.english else None,
            tone="formal" if self.formal * 3 >= self.messages else "casual",
            verbosity="detailed" if self.words >= _LONG_WORDS * self.messages else "concise",
            emoji=emoji,
        )


class BootstrapState(BaseModel, frozen=True):
    """Progress of onboarding in one chat. boundaries: the person's red lines in their own words."""

    phase: OnboardingPhase = "observing"
    messages: int = 0
    observed: MessageStats = MessageStats()
    boundaries: str | None = None


@dataclass(frozen=True, slots=True)
class Guidance:
    """Question to ask in this turn. again: the person answered it with a question before."""

    phase: OnboardingPhase
    message: str | None = None
    again: bool = False

    def prompt(self) -> str:
        """Instruct the model; "" when it is free to talk about anything."""
        if self.message is None:
            return ""
        before = "Answer the person's question first. Then ask this again" if self.again else "Ask this now"
        return f"### Onboarding\n{before}, in your own words and in the person's language:\n\n{self.message}"


def advance(state: BootstrapState, text: str, profile: WritingProfile | None = None) -> tuple[BootstrapState, Guidance]:
    """Advance the state by the person's message, and choose the guidance for its answer. Pure.

    profile: known from elsewhere; by default that of the observed messages.
    """
    if state.phase == "complete":
        return state, Guidance("complete")
    # Observation ends with the checkpoint, so that the language stays the same until the end.
    observed = state.observed.with_message(text) if state.phase == "observing" else state.observed
    state = state.model_copy(update={"messages": state.messages + 1, "observed": observed})
    profile = profile or state.observed.profile()
    match state.phase:
        case "observing" if state.messages <= _WATCHED:
            return state, Guidance("observing")
        case "observing":
            return _enter(state, "checkpoint"), Guidance("checkpoint", _checkpoint(profile))
        case "checkpoint":
            return _enter(state, "boundaries"), Guidance("boundaries", _TEXTS["red_lines"][_language(profile)])
        case "boundaries" if is_question(text):
            return state, Guidance("boundaries", _TEXTS["red_lines"][_language(profile)], again=True)
        case _:
            answer = text.strip()[:_LONGEST_ANSWER]
            return completed(state.model_copy(update={"boundaries": answer or None})), Guidance("complete")


def completed(state: BootstrapState) -> BootstrapState:
    return _enter(state, "complete")


def load(connection: Connection, session: str) -> BootstrapState:
    """Load the state of a chat; a fresh one when there is none, or none that can be read."""
    value = read_state(connection, f"bootstrap:{session}")
    try:
        return BootstrapState.model_validate_json(value) if value else BootstrapState()
    except ValidationError:
        return BootstrapState()


def save(connection: Connection, session: str, state: BootstrapState) -> None:
    write_state(connection, f"bootstrap:{session}", state.model_dump_json())


def is_question(text: str) -> bool:
    text = text.strip()
    return text.endswith(_QUESTION_MARKS) or text.startswith("¿") or _QUESTION.match(text) is not None


def _enter(state: BootstrapState, phase: OnboardingPhase) -> BootstrapState:
    return state.model_copy(update={"phase": phase})


def _language(profile: WritingProfile) -> Language:
    return profile.language or "es"


# ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────


def _checkpoint(profile: WritingProfile) -> str:
    language = _language(profile)
    traits = [
        _TEXTS["traits"]["concise" if profile.verbosity == "concise" else "detailed"],
        _TEXTS["traits"]["formal" if profile.tone == "formal" else "casual"],
    ]
    if profile.emoji in ("none", "frequent"):
        traits.append(_TEXTS["traits"][f"emoji-{profile.emoji}"])
    if profile.tech:
        traits.append({kind: f"{verb} {profile.tech}" for kind, verb in _TEXTS["traits"]["tech"].items()})
    opening, closing = _TEXTS["check"][language]
    return "\n".join([opening, "", *(f"- {trait[language]} ✅" for trait in traits), "", closing])
