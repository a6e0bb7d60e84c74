"""Compose the offline provider's answer to a parsed request. Pure."""

import re

from kenobot.core import lazy
from kenobot.core.i18n import Language
from kenobot.providers.offline import phrases
from kenobot.providers.offline.matching import fold, rank
from kenobot.providers.offline.phrases import NAME_FACT, PHRASES, QUOTES, Phrase
from kenobot.providers.offline.request import MemoryLine, ParsedRequest

MOST_FOUND = 5
MOST_LISTED = 30
_LONGEST_QUOTE = 300  # characters; a longer line is cut
_LONGEST_STATEMENT = 600  # characters; beyond that it is a text, not something said about oneself

_MARKS = " .,;:!?¿¡…"
_SENTENCE_END = lazy.regex(r"(?<=[.!?…])\s+|\n+")
_MENTION = lazy.regex(r"\A@\w+[\s,:]*")
_THANKS_AND_MORE = lazy.regex(rf"{phrases.THANKS.pattern}[.,;!]+\s*(?=[¿¡]?\w)", re.IGNORECASE)
_FINISHED = "<bootstrap-complete/>"
_TAG_OPENER = lazy.regex(r"<(?=[/!]?[^\W\d_])")


def answer(request: ParsedRequest) -> str:
    """The reply, with the tags that make KenoBot remember."""
    return _onboarding(request) if request.onboarding else _reply(request)


def _say(reading: ParsedRequest, phrase: Phrase, *values: object) -> str:
    return PHRASES[phrase][reading.language].format(*values)


def _reply(reading: ParsedRequest) -> str:
    said = _without_opening(reading.message)
    if not said:
        greeted = not reading.message or phrases.GREETING.match(reading.message)
        return _say(reading, "hello" if greeted else "ready")
    if repeated := phrases.REPEAT.match(said):
        return said[repeated.end() :].strip() or _say(reading, "cannot")
    if stored := _remember(reading, said):
        return stored
    if phrases.YES_OR_NO.match(said):
        return _say(reading, "ready")
    for pattern, phrase in _SHORT_ANSWERS:
        if pattern.match(said):
            return _say(reading, phrase)
    if phrases.EVERYTHING.match(said):
        return _everything(reading)
    facts, question = _statements(said)
    stored = "\n".join(_noted(reading, fact) for fact in facts)
    if not facts and ("?" in said or "？" in said or phrases.QUESTION.match(said)):
        question = said
    if question:
        return f"{stored}\n\n{_recall(reading, question)}".strip()
    return stored or _recall(reading, said, otherwise="cannot")


_SHORT_ANSWERS: tuple[tuple[re.Pattern[str], Phrase], ...] = (
    (phrases.FORGET, "forget"),
    (phrases.ABOUT_THE_BOT, "about"),
    (phrases.THANKS, "welcome"),
    (phrases.FAREWELL, "bye"),
)


def _without_opening(said: str) -> str:
    """`said` after its greetings and politenesses: of "Hola, por favor, recuerda…" the request remains."""
    said = _MENTION.sub("", said, count=1)
    for _ in range(4):
        opening = phrases.GREETING.match(said) or phrases.POLITE.match(said) or _THANKS_AND_MORE.match(said)
        if not opening:
            break
        rest = said[opening.end() :].lstrip(" \t\n,;:.!¡")
        name = re.match(r"(?i)keno(?:bot)?\b[\s,;:.!?]*", rest)
        said = rest[name.end() :] if name else rest
    return "" if not any(char.isalnum() for char in said) else said


# ── storing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _remember(reading: ParsedRequest, said: str) -> str:
    """The answer to a request to remember; "" when `said` is none."""
    here = phrases.IN_THIS_CHAT.match(said)
    rest = said[here.end() :].lstrip(" ,:;") if here else said
    asked = phrases.REMEMBER.match(rest)
    if not asked:
        return _noted(reading, rest, here=True) if here and rest and "?" not in rest else ""
    fact = rest[asked.end() :]
    if inner := phrases.IN_THIS_CHAT.match(fact):
        here, fact = inner, re.sub(r"\A[\s,:;]*(?:(?:that|que)\b)?[\s,:;]*", "", fact[inner.end() :], flags=re.I)
    # "¿recuerda cuándo …?" wants to know something rather than have it stored.
    asks_back = rest.rstrip().endswith("?") and phrases.QUESTION.match(rest[asked.end() :])
    return _noted(reading, fact, here=here is not None) if _plain(fact) and not asks_back else ""


def _noted(reading: ParsedRequest, fact: str, *, here: bool = False) -> str:
    plain = _plain(fact)
    tag = "chat-memory" if here else "memory"
    return f"{_say(reading, 'noted_chat' if here else 'noted', plain)}\n<{tag}>{plain}</{tag}>"


def _plain(fact: str) -> str:
    """`fact` on one line, as said, without trailing politeness and without anything that could pass for a tag."""
    text = " ".join(fact.split()).rstrip(_MARKS)
    for _ in range(2):
        for ending in (*phrases.PLEASE, *phrases.AFTERTHOUGHTS):
            before = text[: -len(ending)]
            cut = before.endswith((" ", ",")) if ending in phrases.PLEASE else before.rstrip()[-1:] in _MARKS
            if text.casefold().endswith(ending) and before.strip() and cut:
                text = before.rstrip(_MARKS)
    return _inert(text)


def _inert(text: str) -> str:
    return _TAG_OPENER.sub("‹", text)


def _statements(said: str) -> tuple[list[str], str]:
    """Return what `said` tells about the person, a fact each, and the question that comes with it, if any."""
    facts: list[str] = []
    questions: list[str] = []
    if len(said) > _LONGEST_STATEMENT:
        return [], ""
    for sentence in _SENTENCE_END.split(said):
        if sentence.rstrip().endswith("?"):
            questions.append(sentence)
        elif phrases.STATEMENT.match(sentence):
            facts.append(sentence)
        elif facts:  # an abbreviation cut it, or it goes on about the same thing
            facts[-1] += f" {sentence}"
    return facts, (" ".join(questions) if facts else "")


# ── recalling ────────────────────────────────────────────────────────────────────────────────────────────────────


def _recall(reading: ParsedRequest, question: str, otherwise: Phrase = "nothing") -> str:
    """Return what memory has to say to `question`, quoted; the phrase `otherwise` when it has nothing."""
    if phrases.MY_NAME.match(question) and (name := _known_name(reading)):
        return _say(reading, "your_name", name)
    lines = [line.text for line in reading.memory_lines]
    own = bool(phrases.ABOUT_ONESELF.search(question))
    best = rank(question, lines, MOST_FOUND, lambda line: own and phrases.STATEMENT.match(line) is not None)
    found = [reading.memory_lines[at] for at in best]
    if not found:
        return _say(reading, otherwise)
    return "\n".join([_say(reading, "found"), *(_quoted(line, reading.language) for line in found)])


def _known_name(reading: ParsedRequest) -> str:
    """The person's name as memory has it; the one said last wins."""
    for line in reversed(reading.memory_lines):
        if name := phrases.SAID_NAME.match(line.text) or phrases.THEIR_NAME.match(line.text):
            return _inert(name[1].rstrip(".,;"))
    return ""


def _everything(reading: ParsedRequest) -> str:
    if not reading.memory_lines:
        return _say(reading, "nothing_at_all")
    shown = reading.memory_lines[-MOST_LISTED:]
    lines = [_say(reading, "everything"), *(_quoted(line, reading.language) for line in shown)]
    if more := len(reading.memory_lines) - len(shown):
        lines.append(_say(reading, "more", more))
    return "\n".join(lines)


def _quoted(line: MemoryLine, language: Language) -> str:
    text = _inert(line.text)
    text = text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE].rstrip() + "…"
    return f"- {QUOTES[language].format(text)}" + (f" ({line.day})" if line.day else "")


# ── getting to know one another ──────────────────────────────────────────────────────────────────────────────────


def _onboarding(reading: ParsedRequest) -> str:
    """Introduce ourselves, ask for the name once, and finish when it was said or refused."""
    asked = [any(question in reply for question in PHRASES["ask_name"].values()) for reply in reading.replies]
    asked_now = asked[-1:] == [True]
    said = _without_opening(reading.message)
    fact, name = _name_in(said, reading.language, asked=asked_now)
    if name:
        facts, _ = _statements(said)
        kept = [_plain(each) for each in facts]
        if not any(phrases.SAID_NAME.match(each) for each in kept):
            kept = [fact, *(each for each in kept if name not in each)]
        met: Phrase = "met" if facts or phrases.PRESENTED.match(said) else "met_word"
        return "\n".join([_say(reading, met, name), *(f"<memory>{each}</memory>" for each in kept), _FINISHED])
    if asked_now and phrases.NO_NAME.match(said):
        return f"{_say(reading, 'no_name')}\n{_FINISHED}"
    reply = _reply(reading)
    if any(asked):
        return reply
    introduction = f"{_say(reading, 'intro')}\n\n{_say(reading, 'ask_name')}"
    empty = {_say(reading, phrase) for phrase in _SAYS_NOTHING_NEW}
    return introduction if reply in empty else f"{reply}\n\n{introduction}"


def _name_in(said: str, language: Language, *, asked: bool) -> tuple[str, str]:
    """The fact to remember and the name in it; two "" when no name was said."""
    if told := phrases.SAID_NAME.match(said) or phrases.PRESENTED.match(said):
        name = _inert(told[1].rstrip(".,;"))
        return NAME_FACT[language].format(name), name
    bare = phrases.BARE_NAME.match(said) if asked else None
    if not bare or any(pattern.match(said) for pattern in _NO_NAMES):
        return "", ""
    words = {fold(word) for word in bare[1].split()} - phrases.NAME_PARTICLES
    if not words or words & (phrases.STOP_WORDS | phrases.NOT_NAMES):
        return "", ""
    name = _inert(bare[1].rstrip("."))
    name = name.title() if name.islower() else name
    return NAME_FACT[language].format(name), name


_NO_NAMES = (phrases.NO_NAME, phrases.STATEMENT, phrases.REMEMBER, *(pattern for pattern, _ in _SHORT_ANSWERS))
_SAYS_NOTHING_NEW: tuple[Phrase, ...] = ("hello", "ready", "cannot", "nothing", "about", "nothing_at_all")
