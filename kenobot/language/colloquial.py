"""Write out what people leave away as they chat: apostrophes ("im", "dont"), the ends of days, and letters drawn out.

Rules read the words of careful writers; so they read those of hasty ones as well. What is read is kept: names, figures,
addresses, code, quotations, and whatever may be another word or another language, stay as written.
"""

import re
from functools import lru_cache

from kenobot.core import lazy

_LONGEST = 4000  # characters that are looked at, as of what is read for facts
_BEGINS = r"(?<![\w/\\.@#:&=?%+~'’-])"
_ENDS = r"(?![\w/\\@=&%'’-]|[.:]\w)"  # so that no part of an address or of a handle is a word
_SPARED = lazy.regex(r"""(`[^`\n]*`|"[^"\n]*"|“[^“”\n]*”|«[^«»\n]*»)""")
# Words of German, French and Polish, of which "im" and "dont" are words too.
_FOREIGN = lazy.regex(
    r"\b(?:ich|und|der|das|dem|ist|nicht|wir|meine?[nmr]?|eine[nmrs]?|habe|wohne|arbeite|nach|zum|beim|(?:bin|ist) im|"
    r"je|une|nous|vous|qui|dans|avec|sont|cette|jest|się|że|nie|dla|dałem|dałam)\b",
    re.IGNORECASE,
)


def _pattern_after(words: str, mark: str) -> str:
    """Return a pattern for right behind one of some words (mark "="), or none of them ("!")."""
    behind = [rf"(?<{mark}\b{word} )" for word in words.split()]
    return f"(?:{'|'.join(behind)})" if mark == "=" else "".join(behind)


_OTHERS = _pattern_after("his her its my our their is was as", "!")  # who have a wont
_HEALTH = _pattern_after(  # who is ill
    "am are is was were be been being fell fall felt feel feels feeling get got gets taken look very really seriously "
    "too the i'm he's she's",
    "!",
)
_LEFT_AWAY = lazy.regex(  # what stands before the apostrophe
    rf"{_BEGINS}(?=[acdhistwyACDHISTWY])("
    r"(?i:(?:do|does|did|is|are|was|were|have|has|had|could|would|should)n|can"
    rf"|(?=w){_OTHERS}won(?!t to\b))(?=[tT]{_ENDS})"
    rf"|(?i:he|she|that|what|there|who|where)(?=[sS]{_ENDS})|(?i:they|you)(?=(?i:re|ve){_ENDS})"
    rf"|[iI](?=m{_ENDS})|i(?=ve{_ENDS})|I(?=ve (?:been|got|had|just|never|always|already|moved|started)\b)"
    rf"|(?=[iI]ll ){_HEALTH}[iI]"
    r"(?=ll (?:be|go|get|have|let|see|do|try|take|call|ask|need|start|pay|send|probably|just|never)\b)"
    rf"|(?:(?<=\A)|(?<=[,.;!] )|{_pattern_after('and but so cos think', '=')})(?i:it)"
    r"(?=s (?i:an?|the|my|our|on|at|in|not|no|now|been|off|over|gone|called|just|only|actually|still|going|due|\d|"
    r"[£$€]\d|(?:mon|tue|wed|thu|fri|sat|sun)\w*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*)(?!\w)))"
)
# At the end of a word alone: within it, "goood" may be "god". Nor "coffeee", nor "xviii".
_MAY_BE_DRAWN_OUT = lazy.regex(r"([aiouyáéíóú])\1\1")
_DRAWN_OUT = lazy.regex(
    rf"{_BEGINS}(?!tooo|zooo|booo)([^\W\d_]{{0,24}}?[a-zñáéíóú])(?<![vx])([aiouyáéíóú])\2{{2,40}}{_ENDS}"
)
# Who "weds" marries, unless it stands where only a day does.
_BEFORE_DAYS = _pattern_after("on this next last every by to for til till until from is it's its", "=")
_DAYS = lazy.regex(
    rf"{_BEGINS}(?=[tTwW])(?i:(tue)s|(thu)rs?"
    rf"|(?=w){_BEFORE_DAYS}(wed)s"
    rf"|(wed)s(?=[\s,.;!?)]*\Z|[,.;!?)]| (?:at|morning|afternoon|evening|night|now|instead|not|\d)\b)){_ENDS}"
)
_MARKS = " .,;:!?()\"'“”«»…"
_ENDS_OF_DAYS = ("sday", "rsday", "nesday", "nesday")


@lru_cache(16)  # bounded: a message is asked for some three times in its turn
def write_out(text: str) -> str:
    """Return a text with its apostrophes, the names of days whole, and one letter for each drawn out at an end."""
    head, tail = text[:_LONGEST], text[_LONGEST:]
    parts = _SPARED.split(head)
    parts[::2] = map(_in_part, parts[::2])  # what is spared stands between
    return "".join(parts) + tail


def _in_part(text: str) -> str:
    if _MAY_BE_DRAWN_OUT.search(text):
        text = _DRAWN_OUT.sub(r"\1\2", text)
    if _LEFT_AWAY.search(text) and not _FOREIGN.search(text):
        text = _LEFT_AWAY.sub(r"\1'", text)
    return _DAYS.sub(lambda day: day[day.lastindex or 0] + _ENDS_OF_DAYS[(day.lastindex or 1) - 1], text)


def as_written(text: str, said: str) -> str:
    """Return a text with the words of `said` that `write_out` changed as they stand there.

    A word that stands there in both ways is left.
    """
    own = [word.strip(_MARKS) for word in said.split()]
    whole = [word.strip(_MARKS) for word in write_out(said).split()]
    changed = {new: old for new, old in zip(whole, own, strict=False) if new != old and new not in own}
    if not changed:
        return text
    pattern = "|".join(map(re.escape, sorted(changed, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda word: changed[word[0]], text)
