"""Restore the marks around what was read of a sentence: rules read bare words, and a note keeps words as written.

Left out is only what ends or joins sentences: one full stop, a comma, a colon, a dash after a blank, a question mark
outside a quotation, and a quotation mark without its partner. The stop of an abbreviation stays.
"""

from dataclasses import replace

from kenobot.core import lazy
from kenobot.language.facts.parse_facts import ExtractedFact
from kenobot.language.sentences import LONGEST

_BEHIND = lazy.regex(r"[^\w\s]*(?=\s|\Z)")
_BEFORE = lazy.regex(r"[¡¿(\[\"'“«‘]*\Z")
_WORDS = lazy.regex(r"(?<!\S)\S")
_ABBREVIATED = lazy.regex(
    r"(?:\b\w\.\w+|\b(?i:inc|ltd|corp|co|bros|jr|sr|ph\.d|etc|esq|st|ave|rd|blvd|avda|izq|dcha|no|núm|vol|pag|pág))\Z"
)
_CLOSES = {"”": "“", "»": "«", '"': '"', "'": "'", "’": "‘", ")": "(", "]": "["}
_OPENS = {opening: closing for closing, opening in _CLOSES.items()}
_BLANKS = lazy.regex(r"(?<=\S)[^\S\n]+(?=\S)|[^\S\n]+(?=\n)")


def join_blanks(text: str) -> str:
    """Return a text with one blank for each run of blanks within a line; lines and their indents stay."""
    head, tail = text[:LONGEST], text[LONGEST:]
    return _BLANKS.sub(lambda run: "" if head.startswith("\n", run.end()) else " ", head) + tail


def restore_fact(fact: ExtractedFact, sentence: str) -> ExtractedFact:
    """Return a fact with the marks around its words, and with the minus behind a value ("A-")."""
    attributes = tuple(
        (name, f"{value}-" if f"{value}- " in f"{sentence} " else value) for name, value in fact.attributes
    )
    return replace(fact, text=restore_marks(fact.text, sentence), attributes=attributes)


def restore_marks(told: str, sentence: str) -> str:
    """Return a part of a sentence with the marks that belong to its words; as it is where it is no part of it.

    Of one that says more than the sentence, its end counts.
    """
    starts = (begins.start() for begins in _WORDS.finditer(told))
    start = next((start for start in starts if told[start:] in sentence), None)
    if not told or start is None:
        return told
    at = sentence.index(told[start:])
    end = at + len(told) - start
    behind = _BEHIND.match(sentence, end)
    whole = told + _fitting(told, behind[0] if behind else "", sentence[:at])
    before = _BEFORE.search(sentence[:at]) if start == 0 else None
    for mark in reversed(before[0] if before else ""):
        if not _is_wanted(mark, whole):
            break
        whole = mark + whole
    return whole


def _fitting(told: str, marks: str, before: str) -> str:
    """Return the first of the marks behind some words that belong to them. before: what stands before the words."""
    for at, mark in enumerate(marks):
        text, rest = told + marks[:at], marks[at:]
        opening = _CLOSES.get(mark)
        quoted = any(_is_open(text, each, _OPENS[each]) for each in _OPENS)
        if opening is not None:
            fits = _is_open(text, opening, mark) or not _is_open(before, opening, mark)
        elif mark == ".":
            fits = rest.startswith("..") or text.endswith(".") or quoted or _ABBREVIATED.search(text) is not None
        else:
            fits = mark in "!…-+#%" or (mark == "?" and quoted)
        if not fits:
            return marks[:at]
    return marks


def _is_wanted(mark: str, text: str) -> bool:
    """Return whether an opening mark belongs to the text behind it."""
    if mark in "¡¿":
        return {"¡": "!", "¿": "?"}[mark] in text
    return not _is_open(text, mark, _OPENS[mark]) and _last_close(text, mark, _OPENS[mark]) >= 0


def _is_open(text: str, opening: str, closing: str) -> bool:
    """Return whether a text opens what it does not close."""
    at = next((at for at in range(len(text) - 1, -1, -1) if text[at] == opening and _opens(text, at)), -1)
    return at >= 0 and _last_close(text[at + 1 :], opening, closing) < 0


def _last_close(text: str, opening: str, closing: str) -> int:
    """Find the last mark of a text that closes something; -1 for none."""
    places = range(len(text) - 1, 0, -1)
    return next((at for at in places if text[at] == closing and (opening != closing or _closes(text, at))), -1)


def _opens(text: str, at: int) -> bool:
    return not text[at - 1 : at].isalnum()


def _closes(text: str, at: int) -> bool:
    return not text[at - 1].isspace() and not text[at + 1 : at + 2].isalnum()
