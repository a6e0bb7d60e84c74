"""Compose the offline provider's answer to a parsed request. Pure."""

import re
from collections.abc import Iterator
from datetime import date

from kenobot.core import lazy
from kenobot.core.common_words import PARTICLES, is_common_word, plausible_name
from kenobot.providers.offline import phrases
from kenobot.providers.offline.phrases import NAME_FACT, PHRASES, PHRASES_FOR_GUESTS, QUOTES, SOURCES, Phrase
from kenobot.providers.offline.request import Change, MemoryLine, ParsedRequest

MOST_LISTED = 30
_FEW = 2  # words that ask about what they name
_LONGEST_QUOTE = 300  # characters; a longer line is cut

_MENTION = lazy.regex(r"\A@\w+[\s,:]*")
_THANKS_AND_MORE = lazy.regex(rf"{phrases.THANKS.pattern}[.,;!]+\s*(?=[¿¡]?\w)", re.IGNORECASE)
_FINISHED = "<bootstrap-complete/>"
_TAG_OPENER = lazy.regex(r"<(?=[/!]?[^\W\d_])")
_QUOTATION = lazy.regex(
    r"\(quoted from ([a-z ]+?)(?: called ([^;\n]*?)(?: \(id [^)\n]*\))?)?; not an instruction\) “(.*?)”?\Z", re.DOTALL
)
_ASKS = lazy.regex(r"[?？؟]")


def answer(request: ParsedRequest) -> str:
    """Return the reply, with the tags that end onboarding."""
    return _onboarding(request) if request.onboarding else _reply(request)


def _say(reading: ParsedRequest, phrase: Phrase, *values: object, **named: object) -> str:
    phrases_here = PHRASES_FOR_GUESTS if reading.guest and phrase in PHRASES_FOR_GUESTS else PHRASES
    return phrases_here[phrase][reading.language].format(*values, **named)


def _reply(reading: ParsedRequest) -> str:
    said = _without_opening(reading)
    if repeated := phrases.REPEAT.match(said):
        return said[repeated.end() :].strip() or _say(reading, "cannot")
    if reading.changes:
        told = "\n".join(_describe_changes(reading))
        if phrases.REMINDER.match(said) or phrases.ALARM.match(said):
            told += f"\n{_say(reading, 'reminder_how')}"
        found = _escape_tags(reading.agenda) or (_quote_found(reading, asks=True) if reading.found else "")
        return f"{told}\n\n{found}" if found else told
    if reading.agenda:
        return _escape_tags(reading.agenda)
    if renamed := _take_name(reading, said):
        return renamed
    if talk := _small_talk(reading, said):
        return talk
    if phrases.EVERYTHING.match(said):
        return _everything(reading)
    if phrases.MY_NAME.match(said) and (name := _find_name(reading)):
        return _say(reading, "your_name", name)
    asks = reading.asks or bool(_ASKS.search(said) or phrases.QUESTION.match(said))
    if reading.found:
        return _quote_found(reading, asks=asks or len(said.split()) <= _FEW)
    thanked = phrases.THANKS.match(_MENTION.sub("", reading.message, count=1))
    if reading.unplanned and not thanked:
        return _say(reading, "unplanned")
    return _say(reading, "welcome" if thanked else "nothing" if asks else "cannot")


def _small_talk(reading: ParsedRequest, said: str) -> str:
    """Answer what is no matter of memory; "" for what may be. said: the message without its opening."""
    if phrases.HOW_ARE_YOU.match(reading.message):
        return _say(reading, "fine")
    if not said:
        greeted = not reading.message or phrases.GREETING.match(reading.message)
        return _say(reading, "hello" if greeted else "ready")
    if phrases.WHAT_TIME.match(said) and reading.clock:
        weekday = phrases.WEEKDAYS[reading.language][date.fromisoformat(reading.today).weekday()]
        return _say(reading, "now", time=reading.clock, weekday=weekday, day=reading.today)
    if (reminder := phrases.REMINDER.match(said)) and not _has_words(said[reminder.end() :]):
        return _say(reading, "reminder_how")
    if phrases.OWN_NAME.match(said):
        return _say(reading, "own_name", reading.bot_name)
    if phrases.FORGET_ALL.match(said):
        return _say(reading, "forget_all")
    if phrases.FORGET.match(said) and len(said.split()) > 1:
        lines = [_quote_line(line, reading) for line in reading.found]
        return "\n".join([_say(reading, "forget_which"), *lines]) if lines else _say(reading, "forget_none")
    return next((_say(reading, phrase) for pattern, phrase in _SHORT_ANSWERS if pattern.match(said)), "")


_SHORT_ANSWERS: tuple[tuple[re.Pattern[str], Phrase], ...] = (
    (phrases.YES_OR_NO, "ready"),
    (phrases.HOW_ARE_YOU, "fine"),
    (phrases.INSULT, "sorry"),
    (phrases.FORGET, "forget"),
    (phrases.TASK, "task"),
    (phrases.DEED, "deed"),
    (phrases.ALARM, "alarm_how"),
    (phrases.WRONG, "wrong"),
    (phrases.WEATHER, "nothing"),
    (phrases.ABOUT_THE_BOT, "about"),
    (phrases.PRIVATE, "private"),
    (phrases.THANKS, "welcome"),
    (phrases.FAREWELL, "bye"),
    (phrases.LAUGHTER, "ready"),
)


def _without_opening(reading: ParsedRequest) -> str:
    """Strip greetings, politenesses and the bot's name: of "Hola, Keno, por favor, recuerda…" the request remains."""
    said = _MENTION.sub("", reading.message, count=1)
    called = rf"(?i)(?:{re.escape(reading.bot_name)}|keno(?:bot)?)(?!\w)[\s,;:.!?]*"
    for _ in range(4):
        opening = phrases.GREETING.match(said) or phrases.POLITE.match(said) or _THANKS_AND_MORE.match(said)
        if not opening:
            break
        rest = said[opening.end() :].lstrip(" \t\n,;:.!¡")
        name = re.match(called, rest)
        said = rest[name.end() :] if name else rest
    return said if _has_words(said) else ""


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


# ── what memory did, and what it holds ───────────────────────────────────────────────────────────────────────────


_CHANGES: dict[str, Phrase] = {
    "noted": "noted",
    "noted here": "noted_chat",
    "known": "known",
    "in place of": "in_place_of",
    "stays": "stays",
    "at odds with": "at_odds",
}


def _describe_changes(reading: ParsedRequest) -> Iterator[str]:
    """Say what the message changed, a line each; several new memories alone make a list."""
    if len(reading.changes) > 1 and all(change.label == "noted" for change in reading.changes):
        yield _say(reading, "noted_all")
        yield from (_quote_line(MemoryLine(change.text), reading) for change in reading.changes)
        return
    for change in reading.changes:
        if change.label in _CHANGES:
            yield _say(reading, _CHANGES[change.label], _clip(change.text))
        elif change.label == "refused":
            yield _say(reading, "refused")
        elif change.label == "not kept":
            yield _say(reading, "not_kept")


def _quote_found(reading: ParsedRequest, *, asks: bool) -> str:
    """Quote what memory holds. asks: the message asks for it, and told nothing that could have been kept."""
    heading: Phrase = "found" if asks else "nothing_kept"
    if asks and reading.level in ("none", "low"):
        heading = "found_unsure"
    elif asks and len(reading.found) > 1:
        heading = "found_several"
    may_disagree = asks and reading.level != "none" and len(reading.found) > 1
    lines = (_quote_line(line, reading, always_dated=may_disagree) for line in reading.found)
    return "\n".join([_say(reading, heading), *lines])


def _find_name(reading: ParsedRequest) -> str:
    """Return the person's name as memory has it; the one said last wins."""
    found = (line for line in reading.found if not line.until and not line.replaced)
    for line in (*found, *reversed(reading.memory_lines)):
        quotation = _QUOTATION.match(line.text)
        text = quotation[3] if quotation and quotation[1] == "an imported note" else line.text
        told = phrases.SAID_NAME.match(text) or phrases.THEIR_NAME.match(text)
        if told is not None and (name := plausible_name(told[1].rstrip(".,;"))):
            return _escape_tags(name)
    return ""


def _everything(reading: ParsedRequest) -> str:
    if not reading.memory_lines:
        return _say(reading, "nothing_at_all")
    shown = reading.memory_lines[-MOST_LISTED:]
    lines = [_say(reading, "everything"), *(_quote_line(line, reading) for line in shown)]
    if more := len(reading.memory_lines) - len(shown):
        lines.append(_say(reading, "more", more))
    return "\n".join(lines)


def _quote_line(line: MemoryLine, reading: ParsedRequest, *, always_dated: bool = False) -> str:
    """Quote a memory, with whose words they are if not the speaker's, its day, and its other marks.

    always_dated: name the day also where it is today.
    """
    day = line.day if line.day != reading.today else _say(reading, "today") if always_dated and line.day else ""
    text, marks = line.text, [day] if day else []
    if ended := line.until or line.replaced:
        phrases: tuple[Phrase, Phrase] = ("until", "until_today") if line.until else ("replaced", "replaced_today")
        end = _say(reading, phrases[ended == reading.today], ended)
        marks.append(f"{_say(reading, 'partly')} {end}" if line.partly else end)
    marks += [_say(reading, "confided")] if line.confided else []
    if (quotation := _QUOTATION.match(text)) and quotation[1] in SOURCES:
        text, name = quotation[3], quotation[2] or ""
        marks.insert(0, SOURCES["named" if name else quotation[1]][reading.language].format(_escape_tags(name)))
    behind = f" ({', '.join(marks)})" if marks else ""
    return f"- {QUOTES[reading.language].format(_clip(text))}{behind}"


def _clip(text: str) -> str:
    text = _escape_tags(text)
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE].rstrip() + "…"


def _escape_tags(text: str) -> str:
    """Return `text` without anything that could pass for a tag."""
    return _TAG_OPENER.sub("‹", text)


# ── getting to know one another ──────────────────────────────────────────────────────────────────────────────────


def _onboarding(reading: ParsedRequest) -> str:
    """Introduce ourselves, ask for the name once, and finish when it was said or refused."""
    asked = [any(question in reply for question in PHRASES["ask_name"].values()) for reply in reading.replies]
    asked_now = asked[-1:] == [True]
    said = _without_opening(reading)
    name = _name_in(said, reading.changes, asked=asked_now)
    if name:
        return _greet_by_name(reading, said, name)
    if asked_now and phrases.NO_NAME.match(said):
        return f"{_say(reading, 'no_name')}\n{_FINISHED}"
    reply = _reply(reading)
    if any(asked):
        return reply
    if _find_name(reading):  # by an import, say
        return f"{reply}\n{_FINISHED}"
    introduction = f"{_say(reading, 'intro', reading.bot_name)}\n\n{_say(reading, 'ask_name')}"
    empty = {_say(reading, phrase) for phrase in _SAYS_NOTHING_NEW}
    empty.add(_say(reading, "own_name", reading.bot_name))
    return introduction if reply in empty else f"{reply}\n\n{introduction}"


def _greet_by_name(reading: ParsedRequest, said: str, name: str) -> str:
    """Greet by name, keep a name that the rules did not, and say what else was kept."""
    kept = [change for change in reading.changes if change.label in ("noted", "known")]
    named = any(name.casefold() in change.text.casefold() for change in kept)
    told = (said, *(change.text for change in kept))
    surely = any(map(phrases.SAID_NAME.match, told)) or phrases.PRESENTED.match(said)
    lines = [_say(reading, "met" if surely else "met_word", name)]
    lines += _describe_changes(reading) if len(kept) > named else ()
    lines += [] if named else [f"<memory>{NAME_FACT[reading.language].format(name)}</memory>"]
    return "\n".join([*lines, _FINISHED])


def _take_name(reading: ParsedRequest, said: str) -> str:
    """Take the name that puts right the one by which the last reply greeted; "" without one."""
    greetings = tuple(text.split("{")[0] for text in PHRASES["met"].values())
    if not reading.replies or not reading.replies[-1].startswith(greetings):
        return ""
    name = _name_in(said, reading.changes, asked=phrases.NAME_AGAIN.match(phrases.NO_BUT.sub("", said)) is not None)
    return f"{_say(reading, 'met', name)}\n<memory>{NAME_FACT[reading.language].format(name)}</memory>" if name else ""


def _name_in(said: str, changes: tuple[Change, ...], *, asked: bool) -> str:
    """Return the name that the person says is theirs; "" for none. "No, it's Ana" says one."""
    said = phrases.NO_BUT.sub("", said)
    if (told := phrases.SAID_NAME.match(said) or phrases.PRESENTED.match(said)) and (
        name := plausible_name(told[1].rstrip(".,;"))
    ):
        return _escape_tags(name)
    again = phrases.NAME_AGAIN.match(said)
    said = said[again.end() :] if again else said
    bare = phrases.BARE_NAME.match(said) if asked and not changes else None
    if not bare or any(pattern.match(said) for pattern in _NO_NAMES):
        return ""
    words = {phrases.fold(word) for word in bare[1].split()} - PARTICLES
    if not words or any(is_common_word(word) or word in phrases.NOT_NAMES for word in words):
        return ""
    name = _escape_tags(bare[1].rstrip("."))
    return name.title() if name.islower() else name


_NO_NAMES = (phrases.NO_NAME, *(pattern for pattern, _ in _SHORT_ANSWERS))
_SAYS_NOTHING_NEW: tuple[Phrase, ...] = ("hello", "ready", "cannot", "nothing", "about", "nothing_at_all")
