"""Match orders about reminders in plain Spanish and English: to set one, to list, to move, to skip and to cancel them.

Precision before recall: only a message that is nothing but such an order matches. Questions to memory ("remind me what
time lunch is", "recuérdame cuándo nació Ana") and what merely has its words ("you remind me of my mother") do not.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

from kenobot.core import lazy
from kenobot.core.i18n import Language
from kenobot.language.lexicon import STOPWORDS, fill_parts, load_tables
from kenobot.language.sentences import ends_sentence, split_sentences
from kenobot.language.when import Choice, Moment, When
from kenobot.language.when.read import read_when
from kenobot.language.when.repeats import ORDINAL, read_place
from kenobot.language.when.strip import strip_when
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

OrderKind = Literal["add", "again", "list", "cancel", "skip", "move", "done", "wish"]

_LONGEST = 500  # characters of an order
_SENTENCES = lazy.regex(r"[!?;][)\"'”»]?\s+\S|(?<!\b[ap])(?<!\bm)\.[)\"'”»]?\s+\S")
_LONGEST_TIME = 120
_PREPOSITION = lazy.regex(r"(?:a|al|el|para|to|for|until|till|hasta|on|por)\s", re.IGNORECASE)
_NAMES_HALF = lazy.regex(
    r"\d ?[ap]\.?m\b|\b(?:la mañana|tarde|noche|morning|evening|afternoon|night|noon|mediodia)\b"
    r"|\b(?:1[3-9]|2[0-3])(?:[:.h]\d\d)?\b|\b(?:in|en|dentro de) "
)
_STOPS = lazy.regex(r":(?=\s|$)|(?<=day)\s(?=to (?!(?:mon|tues|wednes|thurs|fri|satur|sun)day))", re.IGNORECASE)
_THING_OF_DAY = lazy.regex(r"(?:el|la|lo|los|las|del|al) (?:[^\W\d_]+ (?:de )?){1,3}(?=de mañana)", re.IGNORECASE)
_ADDRESSED = lazy.regex(r"@?\w{2,32}[,:]?\s+(?<=[,:]\s)|@\w{2,32}\s+")  # by whatever name the bot has
_ASIDE = lazy.regex(r"(?:por favor|porfa|please|temprano|early|tambien|also)[,\s]+")
_GREETING = lazy.regex(
    r"\W*(?:hola|buenas(?: tardes| noches)?|buenos d[ií]as|oye|hi|hey|hello|good (?:morning|afternoon|evening))\b"
    r"[\s,.!]+",
    re.IGNORECASE,
)
_NUMBER = lazy.regex(r"(?:#|n\.?º? ?|no\.? ?|number |n[uú]mero )?([1-9][0-9]{0,2})", re.IGNORECASE)
_CHOICE = lazy.regex(r"(?:the |el |la |los |las )?(?P<place>[^\W\d_]+)(?: one| reminder| recordatorio)?")
_MOST_PARTS = 8  # of a message that may begin an order
_NO_TIME = datetime.fromisoformat("2026-01-01T12:00")
_PART_ENDS = lazy.regex(r"(?<=[.!?…])\s+|\n+|[,;]\s+(?:(?:y|and|so|asi que|así que)\s+)?", re.IGNORECASE)
_EDGES = " \t\n,.;:!?…-–—¿¡"
_SUBJECTS: tuple[OrderKind, ...] = ("cancel", "skip", "move")


@dataclass(frozen=True, slots=True)
class ReminderOrder:
    """An order: "add" a reminder of `what`, do so "again" with what was just said or reminded of, "list" them all,
    "cancel", "skip" or "move" the one that `what` names ("" for the last one spoken of), take that as "done", or keep a
    "wish": to be told `what` when a message mentions `cue`.

    when: the words of its time, as read; None where there is none. sure: it can be nothing else, whatever is in store.
    all: it is about all there are. time: the words of the time that one is moved to. shift: by how much it moves, where
    that is said in place of a time. bare: it names nothing, not even "that".
    """

    kind: OrderKind
    language: Language
    what: str = ""
    when: When | None = None
    cue: str = ""
    sure: bool = True
    all: bool = False
    shift: timedelta = timedelta()
    time: str = ""
    bare: bool = False


class _Phrases:
    """The phrases of a language."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        parts: Mapping[str, str] = {**table["parts"], "ordinal": ORDINAL}
        lead: str = table["lead"]

        def compile_rows(name: str, before: str = lead) -> tuple[re.Pattern[str], ...]:
            rows = table[name]
            each = [rows] if isinstance(rows, str) else rows
            return tuple(lazy.regex(fill_parts(before + row, parts), re.DOTALL) for row in each)

        # bounded: the rows of the table; start
        self.names: Mapping[str, str] = dict(table["names"])
        self.early: str = table["early"]
        self.rise = lazy.regex(table["rise"])
        self.adding = {name: compile_rows(name) for name in ("again", "remind", "forget", "alarm", "call")}
        self.behind = compile_rows("remind", f"(?P<before>.{{2,80}}?),? {lead}") + compile_rows(
            "forget", f"(?P<before>.{{2,80}}?),? {lead}"
        )
        self.about = {name: compile_rows(name) for name in ("list", "cancel", "skip", "shift", "move", "did", "wish")}
        bare = {
            name: compile_rows(name, "")[0] for name in ("asks", "never", "bound", "thing", "lead_in", "bare", "more")
        }
        self.asks, self.never, self.bound, self.thing = bare["asks"], bare["never"], bare["bound"], bare["thing"]
        self.lead_in, self.bare, self.more = bare["lead_in"], bare["bare"], bare["more"]
        self.noun = lazy.regex(parts["noun"])
        self.offer = compile_rows("offer", parts["hello"])[0]
        self.please = compile_rows("please", "")[0]
        self.zone = compile_rows("zone", parts["hello"])[0]


_TABLES = load_tables(__package__, "reminder_orders.toml")
_HALVES = {half: lazy.regex(pattern) for half, pattern in _TABLES["halves"].items()}
_PHRASES: Mapping[Language, _Phrases] = {"en": _Phrases(_TABLES["en"]), "es": _Phrases(_TABLES["es"])}


@dataclass(frozen=True, slots=True)
class _Message:
    """A message without its outer signs. plain: folded, of the same length."""

    said: str
    plain: str
    now: datetime

    def part(self, match: re.Match[str], name: str) -> "_Message":
        """Return the part of it that a group matched."""
        return self.cut(match.start(name), match.end(name))

    def cut(self, start: int, end: int) -> "_Message":
        """Return a stretch of it without blanks around."""
        piece = self.said[start:end]
        start += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        return _Message(self.said[start:end], self.plain[start:end], self.now)


def match_order(text: str, now: datetime) -> ReminderOrder | None:
    """Return the order about reminders that a message is; None for any other message. now: in the owner's zone."""
    whole = unicodedata.normalize("NFC", text.strip())
    if not whole or len(whole) > _LONGEST or whole.startswith(("/", ">", '"', "“", "«")):
        return None
    whole = _GREETING.sub("", whole).strip(_EDGES)
    message = _Message(whole, _fold_aligned(whole), now)
    ends = (match.start() for match in _SENTENCES.finditer(message.plain))
    if any(message.plain[at] != "." or ends_sentence(whole, at) for at in ends):
        return None
    found = _match_any(message)
    if found is None and (name := _ADDRESSED.match(message.plain)) is not None:
        found = _match_any(message.cut(name.end(), len(message.plain)))
    return found


def _match_any(message: _Message) -> ReminderOrder | None:
    """Match the orders of both languages."""
    for language, phrases in _PHRASES.items():
        order = _match_in(_without_please(message, phrases), phrases, language)
        if order is not None:
            return order
    return None


def match_offer(text: str, now: datetime) -> ReminderOrder | None:
    """Return the reminder to offer for a message that asks to remember a deed with its hour; None for any other."""
    said = unicodedata.normalize("NFC", text).strip(_EDGES)
    if len(said) > _LONGEST:
        return None
    message = _Message(said, _fold_aligned(said), now)
    for language, phrases in _PHRASES.items():
        match = phrases.offer.fullmatch(message.plain)
        order = _read_timed(message.part(match, "body"), phrases, language, has_hour=True) if match else None
        if order is not None and order.kind == "add" and order.when is not None and _names_hour(order.when):
            return order
    return None


def read_deed(text: str, now: datetime, language: Language) -> ReminderOrder | None:
    """Return the reminder to offer for words that name a deed and its hour; None for any other."""
    order = read_typed(text, now, language)
    if order is None or order.when is None or not _names_hour(order.when):
        return None
    deed = _fold_aligned(order.what)
    is_deed = _PHRASES[order.language].bound.match(f"to {deed}" if order.language == "en" else deed)
    return order if is_deed and deed.split()[0] not in STOPWORDS else None


@dataclass(frozen=True, slots=True)
class SaidStay:
    """The words of a stay: the place as written and folded, and until when, "" for an open end."""

    place: str
    plain: str
    until: str


def match_stay(sentence: str) -> SaidStay | None:
    """Return the words of the stay that a sentence tells of; None for another."""
    said = unicodedata.normalize("NFC", sentence).strip(_EDGES)
    message = _Message(said, _fold_aligned(said), _NO_TIME)
    for phrases in _PHRASES.values():
        if len(said) <= _LONGEST_TIME and (match := phrases.zone.fullmatch(message.plain)) is not None:
            place = message.part(match, "place")
            return SaidStay(place.said, place.plain, message.part(match, "until").said if match["until"] else "")
    return None


def find_order(text: str, now: datetime) -> tuple[ReminderOrder, str] | None:
    """Return the order to remind that is one of several sentences or the end of one, and what is said before it.

    Where it names nothing itself ("…, remind me at 9"), it is about what is said before.
    """
    ends = [end for end in _PART_ENDS.finditer(text) if not _is_cut_short(text, end.start())]
    for end in ends[-_MOST_PARTS:]:
        before, after = text[: end.start()].strip(), text[end.end() :].strip()
        order = match_order(after, now) if before else None
        if order is None or not order.sure or order.kind not in ("add", "again"):
            continue
        if order.kind == "again" and order.when is None:
            continue
        said = split_sentences(before)[-1].strip(_EDGES)
        return (order if order.kind == "add" else replace(order, kind="add", what=said)), before
    return None


def _is_cut_short(text: str, at: int) -> bool:
    """Return whether a full stop before a place of a text cuts a word short, and ends no sentence."""
    return text[max(0, at - 1) : at] == "." and not ends_sentence(text, at - 1)


def read_typed(text: str, now: datetime, language: Language) -> ReminderOrder | None:
    """Return the order to set a reminder that the words behind a command are; None for none."""
    whole = unicodedata.normalize("NFC", text).strip().strip(_EDGES)
    if not whole:
        return None
    order = match_order(whole, now)
    if order is not None and order.kind == "add":
        return order
    phrases = _PHRASES[language]
    body = _Message(whole, _fold_aligned(whole), now)
    when = _read(body)
    what = _without_lead_in(body if when is None else _strip_time(body, when), phrases)
    return ReminderOrder("add", language, what, when) if what else None


def read_whole_time(text: str, now: datetime) -> When | None:
    """Read a message that is nothing but a time, with or without its preposition; None for any other."""
    text = text.strip(_EDGES)
    if not text or len(text) > _LONGEST_TIME:
        return None
    shorter = text.partition(" ")[2] if _PREPOSITION.match(text) else text
    texts_tried = (text, shorter, *(f"{before}{shorter}" for before in ("at ", "a las ", "in ", "en ")))
    return next((when for each in texts_tried if (when := _read_all_of(each, now)) is not None), None)


def _read_all_of(text: str, now: datetime) -> When | None:
    when = read_when(text, now)
    if when is None or when.meaning is None:
        return None
    left = _fold_aligned(strip_when(text, when).strip(_EDGES))
    return when if not left or any(_is_lead_in(left, phrases) for phrases in _PHRASES.values()) else None


def read_number(what: str) -> int | None:
    """Read the number that a reminder has in the list, from 1, or from -1 at its end; None for other words."""
    plain = fold(what)
    if (found := _NUMBER.fullmatch(plain)) is not None:
        return int(found[1])
    return read_place(plain)


def read_choice(text: str) -> int | None:
    """Read the place in a list that an answer names: "the second one", "la primera"; None for another."""
    found = _CHOICE.fullmatch(fold(text).strip(_EDGES))
    return read_number(found["place"]) if found is not None else None


def read_what(text: str, language: Language) -> str:
    """Read the text of a reminder from an answer: "to call Luis", "lo del médico"."""
    said = unicodedata.normalize("NFC", text).strip(_EDGES)
    return _without_lead_in(_Message(said, _fold_aligned(said), _NO_TIME), _PHRASES[language])


def names_half(text: str) -> bool:
    """Return whether words of a time tell which half of the day is meant."""
    return _NAMES_HALF.search(_fold_aligned(text)) is not None


def read_half(text: str) -> str:
    """Return which half of the day a message names and nothing else: "am", "pm", or "" for neither."""
    plain = fold(text).strip(_EDGES)
    return next((half for half, pattern in _HALVES.items() if pattern.fullmatch(plain)), "")


def _fold_aligned(text: str) -> str:
    """Fold a text sign by sign, so that places in it are those of the text."""
    if text.isascii():
        return fold(text)
    folded = (fold(sign) for sign in text)
    return "".join(plain if len(plain) == 1 else sign for sign, plain in zip(text, folded, strict=True))


def _without_please(message: _Message, phrases: _Phrases) -> _Message:
    found = phrases.please.search(message.plain)
    return message.cut(0, found.start()) if found is not None else message


def _match_in(message: _Message, phrases: _Phrases, language: Language) -> ReminderOrder | None:
    """Match the orders of one language."""
    wish = _match_wish(message, phrases, language)
    if wish is not None:
        return wish
    for kind, patterns in phrases.about.items():
        for match in (pattern.fullmatch(message.plain) for pattern in patterns):
            if match is not None and (order := _read_about_one(kind, message, match, language)) is not None:
                return order
    if phrases.more.search(message.plain):
        return None
    for form, patterns in phrases.adding.items():
        for match in (pattern.fullmatch(message.plain) for pattern in patterns):
            if match is not None and (order := _read_adding(form, message, match, phrases, language)) is not None:
                return order
    return _read_behind_time(message, phrases, language)


def _match_wish(message: _Message, phrases: _Phrases, language: Language) -> ReminderOrder | None:
    for pattern in phrases.about["wish"]:
        if match := pattern.fullmatch(message.plain):
            cue, what = message.part(match, "cue").said, _without_lead_in(message.part(match, "body"), phrases)
            return ReminderOrder("wish", language, what, cue=cue.strip(_EDGES)) if what and cue else None
    return None


def _read_about_one(kind: str, message: _Message, match: re.Match[str], language: Language) -> ReminderOrder | None:
    """Return an order about a reminder there is."""
    if kind == "list":
        return ReminderOrder("list", language)
    if kind == "did":
        return ReminderOrder("done", language, sure=False)
    if kind == "shift":
        return _read_shift(message, match, language)
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    bodies = [message.part(match, name).said for name in groups if name.startswith("body")]
    when = None
    if "when" in groups and (when := read_whole_time(message.part(match, "when").said, message.now)) is None:
        return None
    what = next((body.strip(_EDGES) for body in bodies if body.strip(_EDGES)), "")
    found = next((each for each in _SUBJECTS if each == kind), None)
    is_of_all = not what and groups.get("named", "").endswith("s")
    time = message.part(match, "when").said if when is not None else ""
    if found is None:
        return None
    # Of alarms there are those of cars and of fire.
    is_numbered = read_number(what) is not None and _PHRASES[language].noun.search(message.plain) is not None
    is_sure = is_numbered or ("named" in groups and (not what or not groups["named"].startswith("alarm")))
    return ReminderOrder(found, language, what, when, sure=is_sure, all=is_of_all, time=time)


def _read_shift(message: _Message, match: re.Match[str], language: Language) -> ReminderOrder | None:
    """Return the order to move a reminder by a span of time."""
    span = message.part(match, "span").said
    when = _read_all_of(f"{'in' if language == 'en' else 'en'} {span}", message.now)
    if when is None or not isinstance(when.meaning, Moment):
        return None
    later = when.meaning.at - message.now
    what = message.part(match, "body").said if match["body"] else ""
    return ReminderOrder(
        "move", language, what, sure=False, shift=-later if match["early"] or match["forward"] else later
    )


def _read_behind_time(message: _Message, phrases: _Phrases, language: Language) -> ReminderOrder | None:
    """Match an order that begins with its time: "tomorrow at 8, remind me to …"."""
    for match in (pattern.fullmatch(message.plain) for pattern in phrases.behind):
        if match is None:
            continue
        before = message.part(match, "before")
        if read_whole_time(before.said, message.now) is None:
            continue
        body = message.part(match, "body")
        said = f"{before.said}, {body.said}"  # "at 8 of the bins" would name no hour
        if phrases.asks.match(body.plain) or phrases.asks.match(body.said.lower()):
            return None
        return _read_timed(_Message(said, _fold_aligned(said), message.now), phrases, language, has_hour=False)
    return None


def _read_adding(
    form: str, message: _Message, match: re.Match[str], phrases: _Phrases, language: Language
) -> ReminderOrder | None:
    """Return the order to set a reminder that the words behind its verb make; None where they make none."""
    body = message.part(match, "body")
    if any(phrases.asks.match(text) or phrases.never.match(text) for text in (body.plain, body.said.lower())):
        return None
    if form == "again":
        when = read_whole_time(body.said, message.now) if body.said else None
        return ReminderOrder("again", language, when=when) if when is not None or not body.said else None
    if match.groupdict().get("timer"):
        said = f"{'in' if language == 'en' else 'en'} {body.said}"
        body = _Message(said, _fold_aligned(said), message.now)
    if form in ("alarm", "call"):
        return _read_alarm(form, body, match, phrases, language)
    has_noun = phrases.noun.search(match.string[: match.start("body")]) is not None
    return _read_timed(body, phrases, language, has_hour=form == "remind" and not has_noun) or _read_untimed(
        form, body, phrases, language
    )


def _read_alarm(
    form: str, body: _Message, match: re.Match[str], phrases: _Phrases, language: Language
) -> ReminderOrder | None:
    """Return the order of a verb that says nothing of a reminder without its time; an alarm needs no more than that."""
    when = _read(body)
    if when is None or when.meaning is None:
        return _read_untimed(form, body, phrases, language) if form == "alarm" else None
    name = _name_alarm(match, phrases)
    if name == phrases.names["wake"]:
        when = _read_early(body, when, phrases)
    what = _without_lead_in(_strip_time(body, when), phrases)
    if form == "call":
        starts = when.spans[0][0] <= len("at the ")
        rest = _strip_time(body, when)
        return ReminderOrder("add", language, what, when) if starts and phrases.bound.match(rest.plain) else None
    if not what and name == phrases.names[""]:
        return ReminderOrder("again", language, when=when, bare=True)
    return ReminderOrder("add", language, what or name, when)


def _name_alarm(match: re.Match[str], phrases: _Phrases) -> str:
    """Return what an alarm says that was given no words."""
    head = match.string[: match.start("body")] + (match.groupdict().get("timer") or "")
    return next(said for word, said in phrases.names.items() if word in head)


def _read_timed(body: _Message, phrases: _Phrases, language: Language, *, has_hour: bool) -> ReminderOrder | None:
    """Return the order of words that name a time. has_hour: what is no deed needs an hour to be sure."""
    when = _read(body)
    if when is None or _is_over(when, body.now):
        return None
    rest = _strip_time(body, when)
    if aside := _ASIDE.match(rest.plain):
        rest = rest.cut(aside.end(), len(rest.plain))
    what = _without_lead_in(rest, phrases)
    if not what or phrases.bare.fullmatch(fold(what)):
        return ReminderOrder("again", language, when=when, bare=not what)
    if phrases.rise.match(fold(what)):
        when = _read_early(body, when, phrases)
    is_thing = phrases.thing.match(rest.plain) and not phrases.bound.match(rest.plain)
    if has_hour and is_thing and not _names_hour(when):
        return None
    return ReminderOrder("add", language, what, when)


def _read_early(body: _Message, when: When, phrases: _Phrases) -> When:
    """Read the hour at which somebody gets up: one of the morning, unless the words tell."""
    return when if _NAMES_HALF.search(body.plain) else _read(body, phrases.early) or when


def _read_untimed(form: str, body: _Message, phrases: _Phrases, language: Language) -> ReminderOrder | None:
    """Return the order of words without a time, which is asked for."""
    what = _without_lead_in(body, phrases)
    if phrases.bound.match(body.plain) or (form == "forget" and what and not phrases.bare.fullmatch(fold(what))):
        return ReminderOrder("add", language, what)
    return None


def _is_over(when: When, now: datetime) -> bool:
    """Return whether a time is a day that has passed, as of what a question to memory is about."""
    return isinstance(when.meaning, Moment) and when.meaning.at.date() < now.date()


def _names_hour(when: When) -> bool:
    if when.meaning is None:
        return False
    options = when.meaning.options if isinstance(when.meaning, Choice) else (when.meaning,)
    return all(option.has_time for option in options)


def _read(body: _Message, suffix: str = "") -> When | None:
    """Read the time that words name. suffix: words behind them that tell which half of the day is meant."""
    text = _STOPS.sub(",", body.said)  # "at 9: call Luis" names no minutes, "Monday to pay" no span
    when = read_when(text + suffix, body.now)
    if when is None:
        return None
    spans = tuple(_without_thing(text, start, min(end, len(text))) for start, end in when.spans if start < len(text))
    return replace(when, spans=spans)


def _without_thing(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave what a day belongs to out of the words of that: of "la cena de mañana", the day alone."""
    found = _THING_OF_DAY.match(text, start, end)
    return (found.end(), end) if found is not None else (start, end)


def _strip_time(body: _Message, when: When) -> _Message:
    """Return the words besides those of the time."""
    said = strip_when(body.said, when).strip(_EDGES)
    return _Message(said, _fold_aligned(said), body.now)


def _without_lead_in(rest: _Message, phrases: _Phrases) -> str:
    """Return what is to be said, without the words that lead to it."""
    said, plain = rest.said.strip(_EDGES), rest.plain.strip(_EDGES)
    found = phrases.lead_in.match(plain)
    return (said[found.end() :] if found is not None else said).strip(_EDGES)


def _is_lead_in(plain: str, phrases: _Phrases) -> bool:
    found = phrases.lead_in.match(plain)
    return found is not None and found.end() == len(plain)
