"""Guide onboarding: observe a few messages, check with the person what they show, ask for red lines. Each once.

Each chat has its own state, in the state table. The model talks; this module tells it what to ask when.
"""

import re
import tomllib
import unicodedata
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ValidationError

from kenobot.core import lazy
from kenobot.core.i18n import Language, find_language
from kenobot.language.lexicon import alternatives
from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

OnboardingPhase = Literal["observing", "checkpoint", "boundaries", "complete"]

_WATCHED = 5
_LONGEST_ANSWER = 2_000
_KNOWS_NOTHING = "know nothing about your person yet"  # of BOOTSTRAP.md
_KNOWS_SOME = "know about your person only what is shown here"
_TEXTS = tomllib.loads(resources.files("kenobot.identity").joinpath("onboarding.toml").read_text("utf-8"))

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
    spanish: int = 0
    english: int = 0
    formal: int = 0
    with_emoji: int = 0

    def with_message(self, text: str) -> "MessageStats":
        if not any(map(str.isalpha, text)):
            return self
        language = find_language(text)
        return MessageStats(
            messages=self.messages + 1,
            spanish=self.spanish + (language == "es"),
            english=self.english + (language == "en"),
            formal=self.formal + bool(_FORMAL.search(text)),
            with_emoji=self.with_emoji
            + any(ord(char) >= 0x2600 and unicodedata.category(char) == "So" for char in text),
        )

    def profile(self) -> WritingProfile:
        """Conclude how the person writes, from what they wrote: what they did not write says nothing."""
        if not self.messages:
            return WritingProfile()
        majority: Language = "es" if self.spanish > self.english else "en"
        emoji: Literal["occasional", "frequent"] | None = "occasional" if self.with_emoji else None
        if self.with_emoji * 2 >= self.messages:
            emoji = "frequent"
        return WritingProfile(
            language=majority if self.spanish != self.english else None,
            tone="formal" if self.formal * 3 >= self.messages else None,
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
    """Question to ask in this turn."""

    phase: OnboardingPhase
    message: str | None = None

    def prompt(self) -> str:
        """Instruct the model; "" when it is free to talk about anything."""
        if self.message is None:
            return ""
        return (
            "### Onboarding\nAnswer what the person wrote first. Then ask this, once, in your own words and in the "
            f"person's language:\n\n{self.message}"
        )


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
        case _:  # who asks something instead is not asked again
            answer = "" if is_question(text) else text.strip()[:_LONGEST_ANSWER]
            return complete(state.model_copy(update={"boundaries": answer or None})), Guidance("complete")


def instructions(text: str, *, knows_person: bool) -> str:
    """Return BOOTSTRAP.md as a prompt shows it: it says that nothing is known only while that is true."""
    return text.replace(_KNOWS_NOTHING, _KNOWS_SOME).strip() if knows_person else text.strip()


def complete(state: BootstrapState) -> BootstrapState:
    """End the introductions."""
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
    """Word what the person showed, for them to check; where they showed nothing, ask how they like things."""
    language = _language(profile)
    emoji = f"emoji-{profile.emoji}" if profile.emoji in ("none", "frequent") else None
    names = (profile.verbosity, profile.tone, emoji)
    traits = [_TEXTS["traits"][name] for name in names if name is not None]
    if profile.tech:
        traits.append({kind: f"{verb} {profile.tech}" for kind, verb in _TEXTS["traits"]["tech"].items()})
    if not traits:
        asked: str = _TEXTS["ask"][language]
        return asked
    opening, closing = _TEXTS["check"][language]
    return "\n".join([opening, "", *(f"- {trait[language]} ✅" for trait in traits), "", closing])
