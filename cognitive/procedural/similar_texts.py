"""Find texts that share most of their keywords without comparing all with all.

Texts whose Jaccard coefficient is at least some share have one of their rarest words in common (prefix filtering:
Chaudhuri, Ganti and Kaushik, 2006). Of a word that very many texts have, the newest texts are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS
from kenobot.cognitive.text.words import stems, words

_LISTED = 200  # texts that share a word
_LONGEST = 2_000  # characters of a text whose words count


@dataclass(slots=True)
class SimilarTexts:
    """Texts by their words, for as long as one plan is made."""

    texts: list[tuple[str, frozenset[str]]] = field(default_factory=list)  # bounded: what one file says; night
    by_word: dict[str, list[int]] = field(default_factory=dict)  # bounded: what one file says; night

    def add(self, text: str) -> None:
        named = _named(text)
        for word in named:
            self.by_word.setdefault(word, []).append(len(self.texts))
        self.texts.append((text, named))

    def find_similar(self, text: str, least: float) -> Iterator[tuple[int, str]]:
        """Find the texts that share at least `least` of the words with `text`, each with its place, in their order."""
        own = _named(text)
        rarest = sorted(own, key=lambda word: len(self.by_word.get(word, ())))[: int(len(own) * (1 - least)) + 1]
        for at in sorted({at for word in rarest for at in self.by_word.get(word, ())[-_LISTED:]}):
            other, named = self.texts[at]
            if len(own & named) >= least * len(own | named):
                yield at, other


def _named(text: str) -> frozenset[str]:
    """Stem the content words of a text, so that a plural is the same word."""
    return frozenset(
        stems(word)[0] for word in words(text[:_LONGEST]) if word not in STOPWORDS and word not in NEGATIONS
    )
