"""Find the sentence of a memory that words end, where it has several: the others stand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from kenobot.cognitive.remember.extract.changes import Change, KnownStatement, find_change
from kenobot.cognitive.text.named_days import days_named
from kenobot.cognitive.text.sentences import split_sentences
from kenobot.cognitive.text.words import fold

_KEPT = 1024  # memories whose sentences are kept: each is compared with every sentence that may end something
_MARKS = " .,;:!…"


@dataclass(frozen=True, slots=True)
class PartChange:
    """A change, by the place of its statement. part: the one sentence that it ends of several, "" for all of them."""

    change: Change
    part: str = ""


def find_part_change(
    sentence: str, said: date, known: Sequence[KnownStatement], *, corrects: bool = False
) -> PartChange | None:
    """Find the one statement of `known`, oldest first, of which a sentence ends something; None for none.

    What it says instead, in the words of a statement, is that statement with all its other sentences.
    """
    parts = [(place, part) for place, statement in enumerate(known) for part in _parts(statement, said)]
    found = find_change(sentence, said, [part for _, part in parts], corrects=corrects)
    if found is None:
        return None
    place, part = parts[found.place]
    whole = known[place].text
    if part.text == whole:
        return PartChange(replace(found, place=place))
    if found.in_place or found.text != sentence:
        return PartChange(replace(found, place=place, text=whole.replace(part.text, found.text)))
    return PartChange(replace(found, place=place), part.text)


@lru_cache(_KEPT)
def told_parts(text: str) -> tuple[str, ...]:
    """Return the sentences of a statement, without their end marks; the statement alone, where it is one."""
    parts = [bare for part in split_sentences(text) if (bare := part.strip(_MARKS))]
    return tuple(parts) if len(parts) > 1 else (text,)


def _parts(statement: KnownStatement, said: date) -> Iterator[KnownStatement]:
    """The sentences of a statement, each with the day that it is due if it names one, or none of them does."""
    texts = told_parts(statement.text)
    dated = [bool(statement.due) and len(texts) > 1 and _names_day(text, said) for text in texts]
    for text, has_day in zip(texts, dated, strict=True):
        yield replace(statement, text=text, due=statement.due if has_day or not any(dated) else "")


@lru_cache(_KEPT)
def _names_day(text: str, said: date) -> bool:
    return bool(days_named(fold(text), said))
