"""Sentences, words and patterns of the offline provider, from phrases.toml.

Every pattern is anchored at its start and meant for `match` on NFC text, so that a long message costs linear time.
"""

import re
import tomllib
import unicodedata
from importlib import resources
from typing import Literal

from kenobot.core import lazy
from kenobot.core.i18n import Language

_TABLES = tomllib.loads(resources.files(__package__).joinpath("phrases.toml").read_text("utf-8"))
_HEARD = {name: "|".join(rows) for name, rows in _TABLES["heard"].items()}


def _opening(name: str) -> re.Pattern[str]:
    """Match a text that starts with one of the phrases, upper or lower case, at the end of a word."""
    return lazy.regex(rf"[¿¡\s]*(?:{_HEARD[name]})(?!\w)", re.IGNORECASE)


# ── how people begin ─────────────────────────────────────────────────────────────────────────────────────────────

GREETING = _opening("greeting")
POLITE = _opening("polite")
THANKS = _opening("thanks")
FAREWELL = _opening("farewell")
YES_OR_NO = lazy.regex(rf"[¡\s]*(?:{_HEARD['yes_or_no']})[\s.!]*\Z", re.IGNORECASE)

# ── what they ask for ────────────────────────────────────────────────────────────────────────────────────────────

FORGET = _opening("forget")
FORGET_ALL = lazy.regex(rf"[¿¡\s]*(?:{_HEARD['forget_all']})[\s?.!]*\Z", re.IGNORECASE)
REPEAT = lazy.regex(rf"[¡\s]*(?:{_HEARD['repeat']})(?!\w)[\s:,]*", re.IGNORECASE)
LAUGHTER = lazy.regex(rf"[¡\s]*(?:{_HEARD['laughter']})[\s.!]*\Z", re.IGNORECASE)
HOW_ARE_YOU = lazy.regex(rf"[¿\s]*(?:{_HEARD['how_are_you']})[\s?.!]*\Z", re.IGNORECASE)
WHAT_TIME = lazy.regex(rf"[¿\s]*(?:{_HEARD['what_time']})[\s?.!]*\Z", re.IGNORECASE)
INSULT = lazy.regex(rf"[¡\s]*(?:{_HEARD['insult']})[\s.!]*\Z", re.IGNORECASE)
TASK = _opening("task")
DEED = _opening("deed")
ALARM = _opening("alarm")
REMINDER = _opening("reminder")
WRONG = lazy.regex(rf"[¡\s]*(?:{_HEARD['wrong']})[\s.!]*\Z", re.IGNORECASE)
ABOUT_THE_BOT = _opening("about_the_bot")
PRIVATE = lazy.regex(rf"[¿\s]*(?:{_HEARD['private']})[\s?.!]*\Z", re.IGNORECASE)
_ABOUT_ME = r"(?:\s+(?:about (?:me|myself|us)|of me|(?:de|sobre) (?:m[ií]|nosotros)))?"
EVERYTHING = lazy.regex(rf"[¿\s]*(?:{_HEARD['everything']}){_ABOUT_ME}[\s?.!]*\Z", re.IGNORECASE)
MY_NAME = _opening("my_name")
OWN_NAME = lazy.regex(rf"[¿\s]*(?:(?:and|y) )?(?:{_HEARD['own_name']})[\s?.!]*\Z", re.IGNORECASE)
_WHEN = rf"(?: (?:{_HEARD['when']}))*"
WEATHER = lazy.regex(rf"[¿\s]*(?:{_HEARD['weather']}){_WHEN}[\s?.!]*\Z", re.IGNORECASE)
QUESTION = _opening("question")

# ── what they say about themselves ───────────────────────────────────────────────────────────────────────────────

NO_NAME = _opening("no_name")
# A full stop ends a name, but for one behind a letter or a title ("J. R. Ewing", "Dr. Who") or within a word.
_NAME = (
    r"((?:(?:[^\W\d_]|(?i:dra?|sra?|mrs?|ms|prof|st))\.|[^\W\d_](?:[\w'’-]|\.(?=\w)){0,39})"
    r"(?: [^\W\d_a-zà-ÿ](?:\.(?!\w)|[\w'’-]{0,39})){0,3})"
)
SAID_NAME = lazy.regex(rf"[¡\s]*(?i:{_HEARD['said_name']})\s+{_NAME}")
THEIR_NAME = lazy.regex(rf"(?i:{_HEARD['their_name']})\s+{_NAME}")
# These two only while we get to know one another; otherwise "soy Virgo" is no name.
PRESENTED = lazy.regex(rf"[¡\s]*(?i:{_HEARD['presented']})\s+(?=[^\W\d_a-zà-ÿ]){_NAME}")
NO_BUT = lazy.regex(
    rf"[¡\s]*(?i:{_HEARD['no_but']})[\s,.:;!]+(?=(?i:{_HEARD['name_again']}|{_HEARD['said_name']}|{_HEARD['presented']})\s)"
)
NAME_AGAIN = lazy.regex(rf"[¡\s]*(?i:{_HEARD['name_again']})\s+(?=\S+[\s.!]*\Z)")  # before a name in small letters
BARE_NAME = lazy.regex(r"[¡\s]*([^\W\d_][\w'’.-]{0,39}(?: [^\W\d_][\w'’.-]{0,39}){0,3})[\s.!]*\Z")

# ── what the provider says ───────────────────────────────────────────────────────────────────────────────────────

Phrase = Literal[
    "hello", "ready", "bye", "welcome", "about", "private", "noted", "noted_all", "noted_chat", "known",
    "in_place_of", "stays", "at_odds", "refused", "not_kept", "wrong", "nothing_kept", "forget", "forget_none",
    "forget_which", "forget_all", "reminder_how", "alarm_how", "deed", "task", "fine", "sorry", "now", "nothing",
    "nothing_at_all", "unplanned", "today", "found", "found_several", "found_unsure", "everything",
    "more", "own_name", "your_name", "confided", "until", "until_today", "replaced", "replaced_today", "partly",
    "cannot", "intro", "ask_name", "met", "met_word", "no_name",
]  # fmt: skip

PHRASES: dict[Phrase, dict[Language, str]] = _TABLES["phrases"]
PHRASES_FOR_GUESTS: dict[Phrase, dict[Language, str]] = _TABLES["phrases_for_guests"]
NAME_FACT: dict[Language, str] = _TABLES["name_fact"]
WEEKDAYS: dict[Language, list[str]] = {language: row.split() for language, row in _TABLES["weekdays"].items()}
QUOTES: dict[Language, str] = _TABLES["quotes"]
SOURCES: dict[str, dict[Language, str]] = _TABLES["sources"]
NOT_NAMES = frozenset(_TABLES["words"]["not_names"].split())


def fold(text: str) -> str:
    """Fold case, width and Latin accents."""
    opened = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", "".join(char for char in opened if not "\u0300" <= char <= "\u036f"))
