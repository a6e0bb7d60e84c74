"""Whose words is a memory made of? The model writes it, but what others said must not become the speaker's word.

A memory counts as somebody else's when more of its words come from their texts alone than from what the speaker said;
and when the speaker only agreed ("yes, do that") or quoted, others' texts being in view, and nothing of it was said by
the speaker or asked by the model itself. Words are compared by their beginnings, without case, accents and function
words; in scripts without blanks, pairs of letters are.

This tells copied words, not copied meaning: what says the same quite differently is taken for what the speaker wants.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kenobot.ports.identity import LEAST_TRUSTED_FIRST, Trust, trust_rank
from kenobot.ports.memory import Candidate

_STOP = frozenset(
    # Spanish
    "el la los las lo un una unos unas de del al a que y e o u ni en con sin por para como cuando donde quien cual "
    "cuyo es son era eran fue ser sido esta estan estaba estar hay ha han he has habia se si no me te le les nos os "
    "mi mis tu tus su sus yo ella ellos ellas nosotros usted ustedes pero porque muy mas menos tambien tan ya hoy "
    "ahora esto eso este ese estos esos estas esas aquel aqui alli todo toda todos todas nada algo cada otro otra "
    "sobre entre hasta desde segun contra hacia tras ante bajo durante "
    # English
    "the a an of to in on at for with without by from and or nor but not is are was were be been being am i you he "
    "she it we they them him me my your yours his her hers its our ours their theirs this that these those what who "
    "whom whose when where why how which do does did done can could will would shall should may might must have has "
    "had having so as if then than there here just only also too very more most all any some no each other about "
    "into over under until s t d ll re ve m "
    # what every memory of somebody says of them
    "owner user person dueno duena usuario usuaria persona propietario propietaria "
    # agreeing, and asking for something to be done or kept
    "si vale ok okay okey dale claro bueno bien venga adelante perfecto genial exacto hecho gracias favor porfa haz "
    "hazlo hagas hacer hace guarda guardalo guardala guardar apunta apuntalo anota anotalo recuerda recuerdalo "
    "recordar acuerdate memoriza sigue siguelo mensaje texto dice decia pone ponia yes yeah yep sure fine right "
    "good great perfect thanks thank please go ahead make sense agreed save note keep store remember memorize "
    "memorise follow message text say says said tell told it's let's ".split()
)
_WORD = re.compile(r"\w+")
# Scripts that put no blanks between words: CJK, kana, Thai, Lao, Khmer, Burmese.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{2,}")
_LONGEST = 100_000
_SHORTEST_BEGINNING = 3
_ENDING = 3
_FEW = 1

_TAGS_BLOCK = range(0xE0020, 0xE007F)  # ASCII that models read and people do not see

_QUOTED_LINE = re.compile(r"^[ \t]{0,3}>[^\n]*+", re.MULTILINE)
_FENCE = r"[ \t]{0,3}(?:```|~~~)[^\n]*+"
_FENCED = re.compile(rf"^{_FENCE}\n(?:(?!{_FENCE})[^\n]*+\n)*+(?:{_FENCE})?", re.MULTILINE)
_IN_MARKS = re.compile(r"«[^«»]*+»|“[^“”]*+”|\"[^\"]*+\"|「[^「」]*+」|『[^『』]*+』|„[^„“”]*+[“”]")
_PASSAGE = 60
_LONG = 500


@dataclass(frozen=True, slots=True)
class AttributedText:
    """A text and how far the one who said it is trusted."""

    trust: Trust
    text: str


def quoted_passages(text: str) -> list[str]:
    """What a person marked as somebody else's words: lines after `>`, fenced blocks, long passages in quotation marks.

    Everything else that a person writes, or pastes without such a mark, counts as their own.
    """
    found = [match[0] for match in _FENCED.finditer(text)]
    rest = _FENCED.sub("\n", text)
    found += [match[0] for match in _QUOTED_LINE.finditer(rest)]
    marked = (match[0] for match in _IN_MARKS.finditer(_QUOTED_LINE.sub("", rest)))
    return [*found, *(passage for passage in marked if len(passage) >= _PASSAGE)]


def without_quotes(text: str) -> str:
    """`text` without what `quoted` finds in it."""
    rest = _QUOTED_LINE.sub("", _FENCED.sub("\n", text))
    return _IN_MARKS.sub(lambda match: " " if len(match[0]) >= _PASSAGE else match[0], rest)


def may_be_pasted(text: str) -> bool:
    """Whether somebody else may have written part of `text`: it is quoted, or longer than people type in a chat."""
    return len(text) > _LONG or bool(quoted_passages(text))


def content_words(text: str) -> frozenset[str]:
    """The words of `text` that mean something, as they are compared."""
    plain = text[:_LONGEST]
    if not plain.isascii():
        plain = "".join(map(_letter, plain))
    plain = plain.casefold()
    found: set[str] = set()
    for run in _UNSPACED.findall(plain):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
    found.update(word for word in _WORD.findall(_UNSPACED.sub(" ", plain)) if word not in _STOP)
    return frozenset(found)


@lru_cache(maxsize=4096)
def _letter(char: str) -> str:
    """A character without its accents; nothing for one that is not seen. One at a time, so that none costs much."""
    if ord(char) in _TAGS_BLOCK:
        return chr(ord(char) - 0xE0000)
    parts = unicodedata.normalize("NFKD", char)
    return "".join(part for part in parts if not unicodedata.combining(part) and unicodedata.category(part) != "Cf")


def _beginnings(word: str) -> Iterable[str]:
    """A word, and what is left of it without its ending: "vive", "vivo" and "vivir" share "viv"."""
    if word[0].isdigit():
        return (word,)
    shortest = min(len(word), max(_SHORTEST_BEGINNING, len(word) - _ENDING))
    return (word[:end] for end in range(shortest, len(word) + 1))


class _Heard:
    """The words of some texts, to look words up in."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._beginnings = {begin for text in texts for word in content_words(text) for begin in _beginnings(word)}

    def __contains__(self, word: str) -> bool:
        return any(begin in self._beginnings for begin in _beginnings(word))


@dataclass(frozen=True, slots=True)
class SpeechContext:
    """What was said in a turn and shortly before it.

    trust: how far the speaker is trusted. message: the speaker's own words of this turn; earlier_messages: of earlier
    ones. asked: what the model answered to those. other_texts: the rest that the model was shown, what it made of that
    included. has_quotes: this turn's message itself holds somebody else's words.
    """

    trust: Trust
    message: str
    earlier_messages: tuple[str, ...] = ()
    model_replies: tuple[str, ...] = ()
    other_texts: tuple[AttributedText, ...] = ()
    has_quotes: bool = False


class Provenance:
    """Says of one memory after the other whose words it is made of. The texts are looked at once."""

    def __init__(self, said: SpeechContext) -> None:
        self._trust = said.trust
        lesser = [voice for voice in said.other_texts if trust_rank(voice.trust) < trust_rank(said.trust)]
        self._others = {
            trust: _Heard(voice.text for voice in lesser if voice.trust == trust)
            for trust in LEAST_TRUSTED_FIRST
            if any(voice.trust == trust for voice in lesser)
        }
        self._own = _Heard([said.message, *said.earlier_messages] if lesser else [])
        self._asked = _Heard(said.model_replies if lesser else [])
        self._leaning = said.has_quotes or len(content_words(said.message)) <= _FEW

    def lowest_trust(self, candidate: Candidate) -> Trust:
        """The trust of `candidate`, lowered to that of those whose words it repeats."""
        return min(candidate.trust, self.trust_of(candidate.text), key=trust_rank)

    def trust_of(self, text: str) -> Trust:
        """How far a memory that says `text` is to be trusted: as the speaker, or as those whose words it repeats."""
        if not self._others:
            return self._trust
        found = content_words(text)
        own = {word for word in found if word in self._own}
        alien = {trust: {word for word in found - own if word in heard} for trust, heard in self._others.items()}
        copied = set().union(*alien.values())
        unsupported = self._leaning and not own and not any(word in self._asked for word in found - copied)
        if len(copied) > len(own) or unsupported:
            return max(alien, key=lambda trust: len(alien[trust]))
        return self._trust
