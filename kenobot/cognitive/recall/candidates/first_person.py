"""Rephrase a question about a speaker in the first person: "What did Ann cook?" as "What did I cook?".

Speakers say "I" where a question about them has a name, and the vector of a name lies near to whatever names them.
"""

from collections.abc import Collection, Sequence
from functools import partial

from kenobot.cognitive.recall.candidates.by_words import LONGEST_NAME, name_spans
from kenobot.cognitive.recall.index import conversation_rows
from kenobot.cognitive.recall.index.documents import name_key
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.core import lazy
from kenobot.core.i18n import find_language

_LONGEST = 300  # characters of a message that may be about a speaker
_WORD = lazy.regex(r"([^\W_]+)(['’]s\b)?")
_PRONOUNS = {"en": ("I", "my"), "es": ("yo", "mi")}
_NO_PRONOUN = ("", "")  # in other languages the name is left out


def as_speakers_say(
    index: SideIndex, scopes: Sequence[str] | None, text: str, spans: Sequence[str] | None = None
) -> str:
    """Rephrase a message in the first person of the speakers of `scopes` (None: of all) that it names; or return it.

    spans: what of it may be a name, where that is known.
    """
    if len(text) > _LONGEST:
        return text
    none, names = set[str](), name_spans(text) if spans is None else spans
    named = index.read(partial(conversation_rows.speakers_named, scopes=scopes, names=names), none)
    return in_first_person(text, named)


def in_first_person(text: str, names: Collection[str]) -> str:
    """Replace names by pronouns. names: as `name_key` writes them."""
    if not names:
        return text
    subject, possessive = _PRONOUNS.get(find_language(text) or "", _NO_PRONOUN)
    said = list(_WORD.finditer(text))
    keys = [name_key(word[1]) for word in said]
    parts, end, at = list[str](), 0, 0
    while at < len(said):
        sizes = range(LONGEST_NAME, 0, -1)
        size = next((size for size in sizes if " ".join(keys[at : at + size]) in names), 0)
        if size:
            last = said[min(at + size, len(said)) - 1]
            parts += [text[end : said[at].start()], possessive if last[2] else subject]
            end = last.end()
        at += size or 1
    return " ".join(f"{''.join(parts)}{text[end:]}".split())
