"""Match wishes about memory in plain Spanish and English: to forget something, or to tell what is known or why.

Precision before recall: only a message that is nothing but such a wish matches; all others go to the model. A wish to
forget leads to a question first: see `kenobot.agent.commands.forget`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from kenobot.core import lazy
from kenobot.core.i18n import Language, find_language
from kenobot.language.facts.taking_back import takes_back
from kenobot.language.lexicon import fill_parts, load_tables
from kenobot.language.sentences import ends_sentence
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

_LONGEST = 240  # characters of a wish
_LONGEST_ANSWER = 40


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """A wish: "forget" what `topic` says, "forget_all", "tell" what is known of the person, "why", "undo", or
    "take_back" what was last remembered.

    "forget_known" is a wish only where memory has the topic: "forget the pizza" is talk elsewhere.
    """

    kind: Literal["forget", "forget_known", "forget_all", "tell", "why", "undo", "take_back"]
    topic: str
    language: Language | None


Answer = Literal["yes", "no", "part", "all"] | frozenset[int]
"""An answer to a question: yes, no, all of it, or the chosen numbers."""

_TABLES = load_tables(__package__, "natural_language.toml")


class _Phrases:
    """The phrases of a language. asks: the beginning of a question that is a wish.

    forget_words, tell_words: a text without any of them is no such wish, so that none of its patterns is compiled.
    """

    def __init__(self, language: Language) -> None:
        table = _TABLES[language]
        forget = [table["forget_lead"] + fill_parts(wish, table["parts"]) for wish in table["forget"]]
        loose = [table["forget_lead"] + fill_parts(wish, table["parts"]) for wish in table["loose"]]
        tell = [table["tell_lead"] + fill_parts(wish, table["parts"]) + table["tail"] for wish in table["tell"]]
        self.forget = tuple(map(lazy.regex, forget))
        self.loose = tuple(map(lazy.regex, loose))
        self.tell = lazy.regex("|".join(f"(?:{wish})" for wish in tell))
        self.drop = lazy.regex(table["forget_lead"] + fill_parts(table["drop"], table["parts"]))
        self.any_forget = lazy.regex("|".join(f"(?:{wish})" for wish in forget).replace("(?P<about>", "(?:"))
        self.idioms = lazy.regex("|".join(table["idioms"]))
        self.more = lazy.regex("|".join(table["more"]))
        self.asks = lazy.regex(table["asks"])
        self.alone: Mapping[Literal["why", "undo"], re.Pattern[str]] = {
            "why": lazy.regex(table["why"]),
            "undo": lazy.regex(table["undo"]),
        }
        self.forget_words, self.tell_words = table["forget_words"], table["tell_words"]


_PHRASES: Mapping[Language, _Phrases] = {"en": _Phrases("en"), "es": _Phrases("es")}
_PLEASE = lazy.regex(r"[,]? (?:please|thanks|thank you|now|right now|por favor|porfa|gracias|ya|ahora|ok|vale)$")
_I_FORGOT = lazy.regex(r"\W*(?:me )?olvid(?:é|e\u0301)\b", re.IGNORECASE)  # only an accent parts it from an order
_EVERYTHING = frozenset({"me", "mi", "myself", "mi persona", "me and everything", "mi todo"})
_ENDS = lazy.regex(r"[.!?;:][)\"'”»]?\s+\S|[\r\n]")


def match_command(text: str) -> MemoryRequest | None:
    """Return the wish that a message is; None for any other message."""
    whole = text.strip()
    if _I_FORGOT.match(whole) or not whole or len(whole) > _LONGEST or whole.startswith(("/", ">", '"', "“", "«")):
        return None
    plain = fold(whole).replace("’", "'").lstrip("¿¡ ")
    if any(plain[each.start()] != "." or ends_sentence(plain, each.start()) for each in _ENDS.finditer(plain)):
        return None
    asked = plain.endswith("?")
    plain = _PLEASE.sub("", plain.rstrip(".!?… ").rstrip())
    for language, phrases in _PHRASES.items():
        if _has_any(phrases.tell_words, plain) and phrases.tell.fullmatch(plain):
            return MemoryRequest("tell", "", language)
        if _has_any(phrases.forget_words, plain) and phrases.any_forget.fullmatch(plain):
            return _forgetting(plain, language, asked)
    for language, phrases in _PHRASES.items():
        if _has_any(phrases.forget_words, plain) and any(pattern.fullmatch(plain) for pattern in phrases.loose):
            return _forgetting(plain, language, asked)
    return None


def match_without_model(text: str) -> MemoryRequest | None:
    """Return the wish to know why, to undo, to take back or to delete, that a message is; None for any other.

    Where a model answers, these are as likely about what it said, so that it is to answer them.
    """
    whole = text.strip()
    if not whole or len(whole) > _LONGEST:
        return None
    plain = _PLEASE.sub("", fold(whole).replace("’", "'").strip("¿¡ .!?…"))
    for language, phrases in _PHRASES.items():
        for kind, pattern in phrases.alone.items():
            if pattern.fullmatch(plain):
                return MemoryRequest(kind, "", language)
        if (dropped := phrases.drop.fullmatch(plain)) is not None and not phrases.idioms.match(dropped["about"]):
            return match_command(text) or MemoryRequest("forget_known", dropped["about"], language)
    return MemoryRequest("take_back", "", find_language(text)) if takes_back(text) else None


def _has_any(texts: Sequence[str], plain: str) -> bool:
    return any(map(plain.__contains__, texts))


def _forgetting(plain: str, language: Language, asked: bool) -> MemoryRequest | None:
    phrases = _PHRASES[language]
    for pattern in (*phrases.forget, *phrases.loose):
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        about = match["about"].strip(" ,.")
        if asked and not phrases.asks.search(plain[: match.start("about")]):
            return None  # "forget that I live in Paris?" wonders
        if phrases.idioms.match(about) or phrases.more.search(plain):
            return None
        if pattern in phrases.loose:
            return MemoryRequest("forget_known", about, language)
        return MemoryRequest("forget_all" if about in _EVERYTHING else "forget", about, language)
    return None


# ── answers to a question ────────────────────────────────────────────────────────────────────────────────────────

_YES, _NO, _PART, _ALL = (frozenset(_TABLES["answers"][kind]) for kind in ("yes", "no", "part", "all"))
_NUMBERS = lazy.regex(_TABLES["answers"]["numbers"])
_DIGITS = lazy.regex(r"[0-9]+")
_HEARD = lazy.regex(_TABLES["answers"]["heard"])
_CALENDAR = lazy.regex(_TABLES["answers"]["calendar"])
_SHOW = lazy.regex(_TABLES["answers"]["show"])
_CANCEL_TASK = lazy.regex(_TABLES["answers"]["cancel_task"])


def asks_to_show(text: str) -> bool:
    """Return whether a short message is nothing but the wish to see what a reply held back."""
    return len(text) <= _LONGEST_ANSWER and _SHOW.fullmatch(_PLEASE.sub("", fold(text).strip(" .!¡¿?"))) is not None


def asks_to_cancel_task(text: str) -> str | None:
    """Return the number of the task that a message wants cancelled, and nothing else; "" for the one there is."""
    if len(text) > _LONGEST_ANSWER:
        return None
    match = _CANCEL_TASK.fullmatch(_PLEASE.sub("", fold(text).replace("’", "'").strip(" .!¡¿?")))
    return (match["number"] or "") if match is not None else None


def asks_for_calendar(text: str) -> bool:
    """Return whether a message is nothing but the wish to get reminders as a calendar file."""
    return len(text) <= _LONGEST and _CALENDAR.fullmatch(_PLEASE.sub("", fold(text).strip(" .!¡¿?"))) is not None


def asks_what_was_heard(text: str) -> bool:
    """Return whether a message is nothing but the wish to see the transcript of a recording."""
    return len(text) <= _LONGEST and _HEARD.fullmatch(_PLEASE.sub("", fold(text).strip(" .!¡¿?"))) is not None


def parse_answer(text: str) -> Answer | None:
    """Return the answer that a short message gives to a question of the bot's; None for any other message."""
    return _parse_short_answer(text) if len(text) <= _LONGEST_ANSWER else None


@lru_cache(maxsize=64)  # several parts of a turn ask about its message
def _parse_short_answer(text: str) -> Answer | None:
    plain = " ".join(fold(text).replace("’", "'").replace(",", " , ").strip(" .!¡¿?").split()).replace(" , ", ", ")
    bare = plain.replace(",", "")
    if bare in _YES:
        return "yes"
    if bare in _NO:
        return "no"
    if bare in _PART:
        return "part"
    if bare in _ALL:
        return "all"
    if _NUMBERS.fullmatch(plain):
        return frozenset(int(number) for number in _DIGITS.findall(plain))
    return None
