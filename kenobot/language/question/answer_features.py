"""Extract the features by which recall judges whether an item found answers a question.

A near miss has the person or thing that is asked about, and not what is asked of it: "my boss is Moira" for "where does
Moira live?". So the features are which words of the question an item covers, by stems, by related words or by how near
a word comes to it in meaning; whether it states a value of the kind asked for; both together; and whose affairs both
are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question import answers
from kenobot.language.question.asked_values import EXACT_KINDS, NAMED_KINDS, VALUE_KINDS, count_new_names, states_value
from kenobot.language.question.question import Question
from kenobot.language.question.related_words import word_groups
from kenobot.language.question.relations import names_other_relationship, names_same_relationship
from kenobot.language.sentences import split_sentences
from kenobot.language.words import fold, stems, words
from kenobot.ports.frozen import dataclass

Features = Mapping[str, float]

_REACHED = 0.9  # similarity of a word to an item at which the item covers it
_RELATED = 0.9  # coverage by a related word
_MOST_BY_NEARNESS = 0.8  # coverage by similarity alone, beside related words
_COVERED = 0.85
_FAR, _CLOSE = 0.3, 0.8  # reach of a word
_OWN = lazy.regex(r"\b(?:my|mi|mis|i|me|yo|tengo|mi[oa]|i'm|i've|our|nuestr[oa]s?)\b")
_OF_OTHERS = lazy.regex(r"\b\w+['’]s\b|\b(?:del?) [A-ZÁÉÍÓÚ]|\b(?:his|her|su|sus|their|he|she)\b")
_MOST_CLAUSES = 8


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A memory or turn found for a question.

    near: its similarity to the question, as a share of a usual answer's. word_near: to each word of it, where measured.
    turn: it is quoted from talk, and no memory. relevance: by which it was ranked; 0 where words alone judge.
    """

    text: str
    near: float = 0.0
    word_near: Mapping[str, float] = field(default_factory=dict)  # bounded: words of a question; turn
    turn: bool = False
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with what was found for it, best first.

    general: -1 for a person's own affairs, 1 for general knowledge.
    """

    question: Question
    items: Sequence[JudgedItem]
    general: float = 0.0


def item_features(judged: JudgedQuestion) -> list[Features]:
    """Extract the features of each item."""
    comparison = _Comparison(judged)
    return [comparison.features(at) for at in range(len(judged.items))]


@dataclass(frozen=True, slots=True)
class _Coverage:
    """Coverage of each word of a question by an item.

    covers: it has the word. reach: the same, or by nearness. related: also by related words. near: similarity.
    states: it states a value of the kind asked for.
    """

    covers: Sequence[bool]
    reach: Sequence[float]
    related: Sequence[float]
    near: Sequence[float]
    states: bool

    @classmethod
    def of(cls, question: Question, item: JudgedItem) -> "_Coverage":
        said = [word for word in words(item.text) if word not in STOPWORDS]
        said_stems = {stem for word in said for stem in stems(word)}
        groups = {group for word in said for group in word_groups(word)}
        covers = [not said_stems.isdisjoint(word.stems) for word in question.words]
        near = [item.word_near.get(word.text, 0.0) for word in question.words]
        by_near = [min(1.0, max(0.0, each / _REACHED)) for each in near]
        related = [
            1.0 if has else _RELATED if not groups.isdisjoint(word.groups) else min(_MOST_BY_NEARNESS, share)
            for has, word, share in zip(covers, question.words, by_near, strict=True)
        ]
        reach = [max(float(has), share) for has, share in zip(covers, by_near, strict=True)]
        return cls(covers, reach, related, near, states_value(question.text, question.value, item.text))


class _Comparison:
    """All items of a question at once."""

    def __init__(self, judged: JudgedQuestion) -> None:
        self._judged, self._question = judged, judged.question
        self._items = [_Coverage.of(judged.question, item) for item in judged.items]
        asked = list(enumerate(judged.question.words))
        self._content = [at for at, word in asked if not word.of_form and not word.general]
        self._topic = [at for at, word in asked if not word.general]
        self._typing = [at for at in self._topic if judged.question.words[at].of_form]
        self._core = [at for at in self._topic if at not in self._typing] or self._topic
        rows = list(zip(*[item.covers for item in self._items], strict=True))
        self._rare = [1 / (1 + sum(has)) for has in rows]
        self._anywhere = [any(has) for has in rows]
        self._most_reach = [max(shares) for shares in zip(*[item.reach for item in self._items], strict=True)]
        self._most_near = [max(shares) for shares in zip(*[item.near for item in self._items], strict=True)]
        self._most_related = [max(shares) for shares in zip(*[item.related for item in self._items], strict=True)]
        self._near = [item.near for item in judged.items]
        self._relevance = [item.relevance for item in judged.items]
        self._of_question = self._question_features()
        self._values = [self._value_shares(at) for at in range(len(judged.items))]

    def features(self, at: int) -> Features:
        """Return the features of one item by name."""
        return {
            **self._of_question,
            **self._nearness(at),
            **self._word_coverage(at),
            **self._content_coverage(at),
            **self._of_whom(at),
            **self._value_features(at),
            **self._coverage_by_relation(at),
        }

    def _question_features(self) -> dict[str, float]:
        question = self._question
        return {
            "general": self._judged.general,
            "asked words": float(len(question.words)),
            "asked names": float(sum([word.named for word in question.words])),
            "asked content": float(len(self._content)),
            "asked core": float(len(self._core)),
            "length": min(3.0, len(question.text) / 40),
            "mark": float(question.text.rstrip().endswith("?")),
            "relative": float(question.relative),
            **{f"asks {kind}": float(kind == question.value) for kind in VALUE_KINDS},
        }

    def _nearness(self, at: int) -> dict[str, float]:
        near, relevance = self._near, self._relevance
        return {
            "near": near[at],
            "lead": near[at] - max([*near[:at], *near[at + 1 :]], default=0.0),
            "lead of mean": _compare_with_mean(near, at),
            "relevance": relevance[at],
            "relevance lead": _compare_with_mean(relevance, at),
            "other script": float(not answers.is_latin(self._judged.items[at].text)),
            "place": float(at),
            "turn": float(self._judged.items[at].turn),
            "turn, stated": float(self._judged.items[at].turn and self._items[at].states),
            "turns": _mean([item.turn for item in self._judged.items]),
        }

    def _word_coverage(self, at: int) -> dict[str, float]:
        """Measure how many of all words of the question an item has, and how near it comes to them."""
        item, anywhere, rare = self._items[at], self._anywhere, self._rare
        elsewhere = sum([found and not here for found, here in zip(anywhere, item.covers, strict=True)])
        return {
            "covered": _mean(item.covers),
            "covered words": float(sum(item.covers)),
            "covered rare": sum([part for part, has in zip(rare, item.covers, strict=True) if has])
            / max(1e-9, sum(rare)),
            "uncovered": float(len(item.covers) - sum(item.covers)),
            "elsewhere": float(elsewhere),
            "nowhere": float(len(anywhere) - sum(anywhere)),
            "reach least": min(item.reach, default=0.5),
            "reach lowest two": _mean(sorted(item.reach)[:2], 0.5),
            "reach": _mean(item.reach, 0.5),
            "word near least": min(item.near, default=0.0),
            "word near": _mean(item.near),
            "word near most": max(item.near, default=0.0),
        }

    def _content_coverage(self, at: int) -> dict[str, float]:
        """Measure the same of the words that name the topic, apart from those that say what is asked of it."""
        content, item = self._content, self._items[at]
        reach, near = [item.reach[word] for word in content], [item.near[word] for word in content]
        names = [item.reach[word] for word in content if self._question.words[word].named]
        others = [item.reach[word] for word in content if not self._question.words[word].named]
        better = [self._most_near[word] - item.near[word] for word in content]
        furthest = [self._most_reach[word] for word in content]
        return {
            "content reach least": min(reach, default=0.5),
            "content reach second": sorted(reach)[1] if len(reach) > 1 else 0.8,
            "content reach": _mean(reach, 0.5),
            "names reach": min(names, default=0.7),
            "others reach least": min(others, default=0.5),
            "others reach": _mean(others, 0.5),
            "far words": float(sum([each < _FAR for each in reach])),
            "close words": float(sum([each > _CLOSE for each in reach])),
            "first reach": reach[0] if reach else 0.5,
            "last reach": reach[-1] if reach else 0.5,
            "content near least": min(near, default=0.3),
            "content near": _mean(near, 0.3),
            "nearer elsewhere most": max(better, default=0.0),
            "nearer elsewhere": _mean(better),
            "reach anywhere least": min(furthest, default=0.7),
        }

    def _of_whom(self, at: int) -> dict[str, float]:
        question, text = self._question, self._judged.items[at].text
        own, told_own = _OWN.search(question.plain) is not None, _OWN.search(fold(text)) is not None
        names = count_new_names(question.text, text)
        return {
            "own": float(own),
            "own, of others": float(own and _OF_OTHERS.search(text) is not None),
            "own, of own": float(own and told_own),
            "others, of own": float(not own and told_own),
            "other relative": float(names_other_relationship(question.text, text)),
            "same relative": float(names_same_relationship(question.text, text)),
            "new names": float(min(3, names)),
            "person with a name": float(question.value == "person" and names > 0),
            "lacks": float(answers.lacks_answer(question.answer_type, question.text, text)),
            "kind": answers.kind_score(question.answer_kinds, text),
            "said": min(3.0, len(words(text)) / 8),
        }

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _value_shares(self, at: int) -> dict[str, float]:
        """Measure how an item covers the parts of the question that a value must be told of."""
        reach = self._items[at].reach
        core = [reach[word] for word in self._core]
        return {
            "core": _mean(core, 0.5),
            "least": min(core, default=0.5),
            "names": min([reach[word] for word in self._core if self._question.words[word].named], default=0.8),
            "attribute": min([reach[word] for word in self._typing], default=0.7),
            "others": _mean([reach[word] for word in self._core if not self._question.words[word].named], 0.5),
            "near": self._judged.items[at].near,
        }

    def _value_features(self, at: int) -> dict[str, float]:
        """Measure whether an item states a value of the kind asked for, and covers what it must be told of."""
        states, shares, asked = self._items[at].states, self._values[at], self._question.value
        found = {f"states {kind}": float(kind == asked and states) for kind in VALUE_KINDS}
        found |= {f"no {kind}": float(kind == asked and not states) for kind in VALUE_KINDS}
        both = states * shares["core"] * shares["names"]
        together = {"clause": self._best_clause(at), "and": both, "and attribute": both * shares["attribute"]}
        together["anywhere"] = float(any(each.states for each in self._items))
        rivals = [other for other, item in zip(self._values, self._items, strict=True) if item.states != states]
        for name in ("core", "names", "near"):
            together[f"lead {name}"] = shares[name] - max([other[name] for other in rivals], default=0.0)
        group_asked = _kind_group(asked)
        for group in ("exact", "named", "other"):
            counts = float(group == group_asked)
            found |= {f"{group}, stated, {name}": counts * states * share for name, share in shares.items()}
            found |= {f"{group}, not stated, {name}": counts * (not states) * share for name, share in shares.items()}
            found |= {f"{group}, {name}": counts * share for name, share in together.items()}
        return found

    def _best_clause(self, at: int) -> float:
        """Return the greatest share of the question's core that a clause with a value covers."""
        question, best = self._question, 0.0
        clauses = [each for each in split_sentences(self._judged.items[at].text) if each.strip()][:_MOST_CLAUSES]
        for clause in clauses if self._items[at].states else ():
            if states_value(question.text, question.value, clause):
                said = frozenset(stem for word in words(clause) for stem in stems(word))
                core = [not said.isdisjoint(self._question.words[word].stems) for word in self._core]
                best = max(best, _mean(core, 0.5) + 0.01)
        return best

    # ── related words ────────────────────────────────────────────────────────────────────────────────────────────

    def _coverage_by_relation(self, at: int) -> dict[str, float]:
        """Measure how an item covers the words of the question by related words too, and states a value beside."""
        related, chosen = self._items[at].related, self._topic or range(len(self._question.words))
        shares = [related[word] for word in chosen]
        known = [related[word] for word in chosen if self._question.words[word].groups]
        others = [
            related[word]
            for word in chosen
            if not self._question.words[word].groups and not self._question.words[word].named
        ]
        best = [self._most_related[word] for word in chosen]
        found = {
            "related least": min(shares, default=0.5),
            "related": _mean(shares, 0.5),
            "unrelated": sum([1 - each for each in shares]),
            "known least": min(known, default=0.8),
            "known uncovered": float(sum([each < _COVERED for each in known])),
            "known related": float(sum([each == _RELATED for each in known])),
            "known literal": float(sum([each == 1 for each in known])),
            "known words": float(len(known)),
            "unknown least": min(others, default=0.7),
            "unknown uncovered": float(sum([each < _COVERED for each in others])),
            "related names": min([related[word] for word in chosen if self._question.words[word].named], default=0.8),
            "related elsewhere": float(sum([b >= _COVERED > a for a, b in zip(shares, best, strict=True)])),
            "related nowhere": float(sum([each < _COVERED for each in best])),
            "all related": float(bool(shares) and min(shares) >= _COVERED),
        }
        states, exact = self._items[at].states, _kind_group(self._question.value) == "exact"
        crossed = ("related", "related least", "known least", "all related", "unrelated")
        for group, counts in (("exact", exact), ("inexact", not exact)):
            for name in crossed:
                found[f"{group}, stated, {name}"] = float(counts and states) * found[name]
                found[f"{group}, not stated, {name}"] = float(counts and not states) * found[name]
        return found


def _kind_group(kind: str) -> str:
    return "exact" if kind in EXACT_KINDS else "named" if kind in NAMED_KINDS else "other"


def _mean(values: Sequence[float], default: float = 0.0) -> float:
    return sum(values) / len(values) if values else default


def _compare_with_mean(values: Sequence[float], at: int) -> float:
    """Compare a value with the mean of the others."""
    return values[at] - _mean([*values[:at], *values[at + 1 :]], values[at])
