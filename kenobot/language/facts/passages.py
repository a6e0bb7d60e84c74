"""Find what makes one note in a message of several sentences: a passage that can be understood alone.

A short message is one passage, a longer one several. Plain statements of their speaker, each read by a rule, make a
passage each, so that one of them can be put right or forgotten alone; so do plans of different days. What is no part
of any is a greeting at either end, a question, and a line of a list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kenobot.core import lazy
from kenobot.language.claims import is_of_speaker
from kenobot.language.facts.parse_facts import TIERS, ExtractedFact
from kenobot.language.facts.written_marks import restore_marks
from kenobot.language.lexicon import fill_parts
from kenobot.language.sentences import points_back
from kenobot.language.statements.rule_tables import TABLES
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

_LONGEST = 300  # characters of a passage
_LINE = lazy.regex(r"(\S)\s*\n+\s*")
_MINE = lazy.regex(r"(?:i|we|my|our|yo|mis?|nuestr[oa]s?)\b")  # a long message turns to something else of its speaker
_VERB_FIRST = lazy.regex(rf"(?:{fill_parts(TABLES['parts']['third'], TABLES['parts'])})(?!\w)")
_MARKS = ".!?…:;,"


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """A sentence of a message. told: what it says without its openings, "" for nothing. start, end: its place.

    facts: those that it tells alone. apart: it is no part of a passage with those around it. turns: it begins
    with something else, as its words say or the new line that it stands in.
    """

    told: str
    start: int
    end: int
    facts: tuple[ExtractedFact, ...] = ()
    apart: bool = False
    turns: bool = False

    @property
    def noted(self) -> tuple[ExtractedFact, ...]:
        """Return the facts that are worth a note by themselves."""
        return tuple(fact for fact in self.facts if fact.confidence >= TIERS["implied"])

    @property
    def due(self) -> str:
        """Return the first day that it tells something of, "" for none."""
        return next((value for fact in self.noted for name, value in fact.attributes if name == "due"), "")

    @property
    def is_own(self) -> bool:
        """Return whether it tells something that stands for itself: of its speaker, or a value by its name."""
        return bool(self.noted) and all(map(stands_alone, self.noted))

    @property
    def has_value(self) -> bool:
        """Return whether it tells a value by its name, which another value will take the place of."""
        return any(name != "due" for fact in self.noted for name, _ in fact.attributes)


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring sentences of a message, in the words of the message from `text`'s first to its last."""

    text: str
    sentences: tuple[ToldSentence, ...]


def stands_alone(fact: ExtractedFact) -> bool:
    """Return whether a fact that a rule reads has a value by its name, or is a plain statement of its speaker."""
    if fact.confidence <= TIERS["implied"]:
        return False
    return any(name != "due" for name, _ in fact.attributes) or is_of_speaker(fact.text)


def passages(text: str, sentences: Sequence[ToldSentence]) -> Iterator[Passage]:
    """Find the passages of a message, in its order; a sentence that tells nothing stands in none alone."""
    for run in _runs(sentences):
        for group in _groups(run):
            yield Passage(_text_of(text, group), tuple(group))


def _text_of(text: str, group: Sequence[ToldSentence]) -> str:
    """Return the words of a message from the first of some sentences to the last, in one line."""
    first, last = group[0], group[-1]
    if first is last:
        return first.told
    start, end = text.find(first.told, first.start, first.end), text.rfind(last.told, last.start, last.end)
    end = end + len(last.told) if end >= 0 else last.end
    said = text[start:end] if start >= 0 else f"{first.told}. {text[group[1].start : end]}"
    said = restore_marks(said, text[first.start : last.end])
    return _LINE.sub(lambda line: f"{line[1]}{'' if line[1] in _MARKS else '.'} ", said)


def _runs(sentences: Sequence[ToldSentence]) -> Iterator[list[ToldSentence]]:
    """Yield sentences between those that stand apart, each without what tells nothing at either end."""
    run: list[ToldSentence] = []
    for sentence in sentences:
        if sentence.apart:
            yield from _trim(run)
            yield from _trim([sentence])
            run = []
        else:
            run.append(sentence)
    yield from _trim(run)


def _trim(run: Sequence[ToldSentence]) -> Iterator[list[ToldSentence]]:
    telling = [at for at, sentence in enumerate(run) if sentence.told]
    if telling:
        yield list(run[telling[0] : telling[-1] + 1])


def _groups(run: Sequence[ToldSentence]) -> Iterator[list[ToldSentence]]:
    is_long = run[-1].end - run[0].start > _LONGEST
    group: list[ToldSentence] = []
    for sentence in run:
        if group and _begins(group, sentence, is_long=is_long):
            yield group
            group = []
        group.append(sentence)
    yield group


def _begins(group: Sequence[ToldSentence], sentence: ToldSentence, *, is_long: bool) -> bool:
    """Return whether a sentence begins a passage of its own behind a group of others."""
    if sentence.end - group[0].start > _LONGEST:
        return True
    turns = sentence.turns or (is_long and _MINE.match(fold(sentence.told)) is not None)
    if turns and sentence.noted and not _leans(sentence.told):
        return True
    if sentence.is_own and (sentence.has_value or next((each.is_own for each in group if each.noted), True)):
        return True
    days = {each.due for each in group} - {""}
    return bool(sentence.due and days) and sentence.due not in days and not _leans(sentence.told)


def _leans(told: str) -> bool:
    """Return whether a sentence points back, or begins with the verb of what the one before it is about."""
    return points_back(told) or _VERB_FIRST.match(fold(told)) is not None


def merge_facts(passage: Passage, facts: Sequence[ExtractedFact]) -> ExtractedFact:
    """Return one fact for a passage, with what is known of its sentences. facts: at least one, of its sentences."""
    dated = [(due, fact) for fact in facts if (due := dict(fact.attributes).get("due"))]
    stated = (fact for fact in facts if fact.confidence > TIERS["implied"])
    main = min(dated, key=lambda pair: pair[0])[1] if dated else next(stated, facts[0])
    attributes: dict[str, str] = {}
    for fact in (main, *facts):
        attributes |= {name: value for name, value in fact.attributes if name not in attributes}
    return replace(
        main,
        text=passage.text,
        attributes=tuple(attributes.items()),
        tags=tuple(dict.fromkeys(tag for fact in facts for tag in fact.tags)),
        confidence=max(fact.confidence for fact in facts),
        verdicts=tuple(dict.fromkeys(verdict for fact in facts for verdict in fact.verdicts)),
        ended_parts=tuple(dict.fromkeys(part for fact in facts for part in fact.ended_parts)),
    )
