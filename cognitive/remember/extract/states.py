"""Find the state that an event ends: in hospital and home again, looking for a flat and found, lent and given back.

The kinds of states, and the events that end them, are a table (states.toml). An event means the one open state of its
kind that is of the same person and of the same thing; where it names neither, the only one that there is. It is an
event only where its clause tells nothing else but when, where and how: "home with flu" is no return.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from kenobot.cognitive.text.claims import claims
from kenobot.cognitive.text.lexicon import STOPWORDS, fill_parts, join_phrases, load_tables, word_set
from kenobot.cognitive.text.relatives import RELATIVES
from kenobot.cognitive.text.words import fold, stems, words
from kenobot.core import lazy

_LONGEST = 300  # characters of a statement that is read
_MARKS = " ,.;:!¡¿…\"'«»“”"
_PART = lazy.regex(r"[,;:.!…—–]+\s+|\s+(?=(?:and|but|y|pero)\s)")
_TABLES = load_tables("kenobot.cognitive.remember.extract", "states.toml")
_PHRASES, _WORDS = join_phrases(_TABLES), {name: frozenset(row.split()) for name, row in _TABLES["words"].items()}
_UNDONE = lazy.regex(rf"(?<!\w)(?:{_PHRASES['undone']})(?!\w)")
_UNSURE = lazy.regex(rf"(?<!\w)(?:{_PHRASES['unsure']})(?!\w)")
_GOES_ON = {language: lazy.regex(pattern) for language, pattern in _TABLES["goes_on"].items()}
_LEADS = {language: lazy.regex(_TABLES["parts"][f"lead_{language}"]) for language in ("en", "es")}
_NAMED_AS = tuple(map(lazy.regex, _TABLES["named"]["patterns"]))
_DOUBT = lazy.regex(rf"(?<!\w)(?:{_PHRASES['doubt']})(?!\w)")
_TAILS = {language: lazy.regex(_TABLES["parts"][f"tail_{language}"]) for language in ("en", "es")}
_PLACED = {language: lazy.regex(_TABLES["parts"][f"placed_{language}"]) for language in ("en", "es")}
_OWNED = lazy.regex(r"'s |s' | (?:of|del?) ")
_PRONOUNS, _OF_THEM, _ANYBODY, _NOBODY = (_WORDS[name] for name in ("pronouns", "of_people", "anybody", "nobody"))
_STRANGE, _ARTICLES = _WORDS["strange"], _WORDS["articles"]
_PLAIN = STOPWORDS | word_set("statement_light") | _WORDS["empty"]
_BEGINNING = 40  # characters in which a sentence begins
_CUE_BEGINNING = 3  # letters; every cue has as many
_RECENT = 3  # statements among which is the one that a pronoun means
_OF = {"en": " of ", "es": " de "}
_Word = frozenset[str]
_MEN, _WOMEN = (frozenset(f"={word}" for word in _WORDS[name]) for name in ("men", "women"))
_NOT_MEANT = {"he": _WOMEN, "him": _WOMEN, "el": _WOMEN, "she": _MEN, "her": _MEN, "ella": _MEN}


@dataclass(frozen=True, slots=True)
class _Told:
    """What a clause tells of a kind: whose state it is, and of what thing, by words.

    of_speaker: whose it is has a place in its words, which stays empty. points: a pronoun stands for either. head: the
    word that says what the thing is. short: the words by any of which it may be called. owned: either is named by whose
    or what it is a part of. place: where the state is, or what an event tells a return from.
    """

    kind: str
    who: tuple[_Word, ...]
    what: tuple[_Word, ...]
    of_speaker: bool
    points: str
    head: _Word
    short: tuple[_Word, ...]
    owned: tuple[bool, bool]
    place: str


class _Form(NamedTuple):
    """A pattern of one language. cues: a text without any of them does not match it; none where that cannot be told."""

    number: int
    language: str
    pattern: re.Pattern[str]
    cues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of states. bare: an event that names nothing means the only one."""

    name: str
    states: tuple["_Form", ...]
    ends: tuple["_Form", ...]
    bare: bool
    kept: bool
    state_numbers: frozenset[int]
    end_numbers: frozenset[int]


def is_state(text: str) -> bool:
    """Return whether a statement is of a state worth keeping that some event will end."""
    numbers = _numbers(text, "states")
    kinds = (kind for kind in _kinds().values() if kind.kept and not kind.state_numbers.isdisjoint(numbers))
    return any(_told(text, kind.name, "states") for kind in kinds)


def is_event(sentence: str) -> bool:
    """Return whether a sentence may tell an event that ends a state."""
    return bool(_events(sentence))


def ended_state(sentence: str, known: Sequence[str]) -> int | None:
    """Return the place of the statement of `known` whose state a sentence ends; None where none is surely meant."""
    events = _events(sentence)
    if not events:
        return None
    aliases = _aliases(known)
    surely: dict[int, int] = {}
    perhaps: set[int] = set()
    for place, statement in enumerate(known):
        for event in events:
            for state in _states(statement, event.kind):
                sure = _sameness(event, state, _words_of(statement), aliases)
                if sure:
                    surely[place] = max(sure, surely.get(place, 0))
                elif sure is None and (not event.points or len(known) - place <= _RECENT):
                    perhaps.add(place)
    if surely:
        best = [place for place, sure in surely.items() if sure == max(surely.values())]
        shortest = min(best, key=lambda place: len(known[place]))
        return shortest if all(known[place].startswith(known[shortest]) for place in best) else None
    return perhaps.pop() if len(perhaps) == 1 else None


def rest_of_state(statement: str, event: str) -> str:
    """Return what a statement tells besides the state that an event ends, as a text of its own; "" for nothing."""
    parts = claims(statement)
    around, events = _words_of(statement), _events(event)
    over = [claim for claim in parts if _is_over(claim.standalone_text, events, around)]
    if not over:
        return ""
    about = subject_of(statement)
    left = [_about(about, claim.standalone_text) for claim in parts if claim not in over]
    return ". ".join(f"{text[0].upper()}{text[1:]}" for text in left if text)


def subject_of(statement: str) -> str:
    """Return whose the first state is that a statement tells of, in its words; "" where it does not say."""
    for clause in _clauses(statement):
        plain = _plain(clause)
        numbers = forms_with_cues(plain)
        for kind in _kinds().values():
            for form in kind.states:
                match = form.pattern.match(plain) if form.number in numbers else None
                who = match.groupdict().get("who") if match else None
                if (
                    match
                    and who
                    and who not in _PRONOUNS
                    and len(plain) == len(clause)
                    and _names_somebody(match, clause)
                ):
                    return clause[match.start("who") : match.end("who")]
    return ""


def about_subject(subject: str, text: str) -> str:
    """Return a text that goes on about somebody, with the words for them in the place of a pronoun; "" for another."""
    plain = _plain(text)
    for language, pattern in _GOES_ON.items():
        if match := pattern.match(plain):
            owner = "'s" if language == "en" and match["theirs"] else ""
            return f"{subject}{owner} {text[match.end() :].lstrip()}".replace(f"{subject} '", f"{subject}'")
    return ""


def _about(subject: str, claim: str) -> str:
    """A claim as a text that stands alone; "" where what it is about fell with another claim."""
    first = _plain(claim).split(" ", 1)[0].split("'", 1)[0]
    if first in _PRONOUNS or first in ("his", "their", "its"):
        return about_subject(subject, claim) if subject else ""
    return claim


def _is_over(claim: str, events: tuple[_Told, ...], around: tuple[_Word, ...]) -> bool:
    """Return whether a claim tells a state that one of the events ends."""
    return any(
        _sameness(event, state, around, _Aliases(())) != 0 for event in events for state in _states(claim, event.kind)
    )


def _sameness(event: _Told, state: _Told, around: tuple[_Word, ...], aliases: "_Aliases") -> int | None:
    """Weigh whether an event is of a state: 0 for no, None where it names nothing that could tell."""
    who, what = _same_who(event, state, around, aliases), _same_what(event, state)
    if who is False or what is False or (event.place and state.place and event.place != state.place):
        return 0
    if who or what:
        return (who is True) + (what is True)
    return None if event.points in _OF_THEM or _kinds()[event.kind].bare else 0


def _same_who(event: _Told, state: _Told, around: tuple[_Word, ...], aliases: "_Aliases") -> bool | None:
    """Return whether both are of the same person; None where the event does not say of whom it is."""
    if event.points in _OF_THEM:
        others = _NOT_MEANT.get(event.points, frozenset())
        return False if state.of_speaker or any(word & others for word in state.who) else None
    if event.who:
        mine = [word for word in event.who if not _has(around, aliases.of(word))]
        theirs = [word for word in state.who if not _has(event.who, aliases.of(word))]
        if event.owned[0] != state.owned[0] or (event.owned[0] and (mine or theirs)):
            return False  # the father of somebody else
        return len(mine) < len(event.who) and not (mine and theirs)
    if event.of_speaker:
        return True if state.of_speaker else False if state.who else None
    return None


def _same_what(event: _Told, state: _Told) -> bool | None:
    """Return whether both are of the same thing; None where one of them names none."""
    if not event.what or not state.what:
        return None
    mine = [word for word in event.what if not _has(state.what, word)]
    if mine:
        return False  # the keys of another house
    if event.head & state.head:
        return True
    return all(_has(state.short, word) for word in event.what)


def _has(among: Sequence[_Word], word: _Word) -> bool:
    return any(word & other for other in among)


@dataclass(frozen=True, slots=True)
class _Aliases:
    """What people are called by: pairs of a trade and a name, as statements tell them."""

    pairs: tuple[tuple[_Word, _Word], ...]

    def of(self, word: _Word) -> _Word:
        """Return a word with those that mean the same person."""
        others = [other for pair in self.pairs for one, other in (pair, pair[::-1]) if one & word]
        return word.union(*others)


def _aliases(known: Sequence[str]) -> _Aliases:
    found = (match for text in known for pattern in _NAMED_AS for match in pattern.finditer(_plain(text)))
    read = ((_named(match["role"]), _named(match["name"])) for match in found)
    return _Aliases(tuple((role[-1], name[-1]) for role, name in read if role and name))


@lru_cache(512)
def _events(sentence: str) -> tuple[_Told, ...]:
    """What a sentence tells that may end a state."""
    numbers = _numbers(sentence, "ends")
    kinds = (kind for kind in _kinds().values() if not kind.end_numbers.isdisjoint(numbers))
    return tuple(told for kind in kinds for told in _told(sentence, kind.name, "ends"))


def _numbers(text: str, column: str) -> frozenset[int]:
    """The numbers of the patterns that some clause of a text may match."""
    return frozenset().union(*(numbers for *_, numbers in _readable(text, column)))


@lru_cache(4096)  # the newest memories, for the kinds that a sentence may be of, are compared with each sentence
def _states(text: str, kind: str) -> tuple[_Told, ...]:
    """The states of a kind that a text tells of."""
    return _told(text, kind, "states")


def _told(text: str, kind: str, column: str) -> tuple[_Told, ...]:
    """What the clauses of a text tell of a kind, as its states or as the events that end them."""
    row, found = _kinds()[kind], []
    forms, among = (row.ends, row.end_numbers) if column == "ends" else (row.states, row.state_numbers)
    for clause, plain, leads, numbers in _readable(text, column):
        if among.isdisjoint(numbers):
            continue
        for number, language, pattern, _ in forms:
            if number not in numbers:
                continue
            tried = (pattern.match(plain, at) for at in dict.fromkeys((leads[language], 0)))
            match = next((each for each in tried if each and _names_somebody(each, clause)), None)
            if match and (column != "ends" or _is_whole(match, language, clause)):
                read = _reading(kind, language, match)
                if column != "ends" or read.points not in _OF_THEM or _goes_on_about_them(text):
                    found.append(read)
                break
    return tuple(found)


def _goes_on_about_them(text: str) -> bool:
    """Return whether a pronoun of a sentence means who was spoken of before it, not whom its beginning names."""
    return not _OF_THEM.isdisjoint(words(_plain(text[:_BEGINNING]).replace("'", " "))[:3])


@lru_cache(512)
def _readable(text: str, column: str) -> tuple[tuple[str, str, Mapping[str, int], frozenset[int]], ...]:
    """The clauses of a text that are sure of what they say, folded too, where each begins to say it, and its forms."""
    if len(text) > _LONGEST:
        return ()
    undone = _UNDONE if column == "ends" else _UNSURE
    folded = [(clause, _plain(clause)) for clause in _clauses(text)]
    if column == "ends":
        whole = folded[0][1]
        doubted = max((match.start() for match in _DOUBT.finditer(whole)), default=0)
        folded = [each for each in folded if whole.find(each[1]) >= doubted]
    sure = ((clause, plain) for clause, plain in folded if not undone.search(plain))
    return tuple((clause, plain, _leads(plain), forms_with_cues(plain)) for clause, plain in sure)


def _clauses(text: str) -> Iterator[str]:
    """The text, and its clauses."""
    text = text.strip(_MARKS)
    yield text
    parts = [part.strip(_MARKS) for part in _PART.split(text)]
    if len(parts) > 1:
        yield from filter(None, parts)


def _names_somebody(match: re.Match[str], clause: str) -> bool:
    """Return whether whose a state is may be a person or a thing, and where it is is written like a name."""
    groups = match.groupdict()
    at = match.start("place") if groups.get("place") else 0
    placed = not at or len(clause) != len(match.string) or clause[at].isupper()
    who = (groups.get("who") or "").split()
    return placed and _NOBODY.isdisjoint(who) and _ARTICLES.isdisjoint(who[1:])


def _is_whole(match: re.Match[str], language: str, clause: str) -> bool:
    """Return whether an event is all that its clause tells, but for when, where and how.

    Who is named in more words than one has a name behind the first, or is what those words say.
    """
    behind = match.string[match.end() :]
    written = len(clause) == len(match.string)
    placed = _PLACED[language].match(behind)
    named = written and placed is not None and clause[match.end() + placed.start("place")].isupper()
    who = match.groupdict().get("who") or ""
    if _STRANGE & {*who.split()[:1]}:
        return False
    names = [each for each in re.finditer(r"\S+", who) if each[0] not in _PLAIN and each[0] not in _ARTICLES]
    lower = written and any(not clause[match.start("who") + each.start()].isupper() for each in names[1:])
    return (named or _TAILS[language].match(behind) is not None) and (not lower or _OWNED.search(who) is not None)


def _reading(kind: str, language: str, match: re.Match[str]) -> _Told:
    groups = match.groupdict()
    said = {name: groups.get(name) or "" for name in ("who", "what")}
    who, what = tuple(map(_person, _names_in(said["who"]))), _named(said["what"])
    points = next((text for text in said.values() if text in _PRONOUNS), "")
    if any(word in _ANYBODY for word in words(said["who"])):
        who = ()
    before, of, _ = said["what"].partition(_OF[language])
    short = _named(before)
    head = short[0 if language == "es" else -1] if short else frozenset[str]()
    if language == "en" and of:
        head |= what[-1]
    owned = (_OWNED.search(said["who"]) is not None, _OWNED.search(said["what"]) is not None)
    placed = _PLACED[language].match(match.string, match.end())
    place = groups.get("place") or (placed["place"] if placed and placed["from"] else "")
    return _Told(kind, who, what, "who" in groups and groups["who"] is None, points, head, short, owned, place)


def _named(phrase: str) -> tuple[_Word, ...]:
    """The words of a noun phrase that say whom or what it names."""
    return tuple(map(_word, _names_in(phrase)))


def _names_in(phrase: str) -> list[str]:
    return [word for word in words(phrase) if word not in _PLAIN and word not in _PRONOUNS]


@lru_cache(1024)
def _words_of(text: str) -> tuple[_Word, ...]:
    return tuple(_word(word) for word in words(text))


@lru_cache(2048)
def _word(word: str) -> _Word:
    """A folded word by its stems, and by the relation that it tells in either language."""
    bare = word.removesuffix("'s")
    return frozenset({*stems(bare), f"={RELATIVES[bare]}" if bare in RELATIVES else "", bare} - {""})


def _person(word: str) -> _Word:
    """A folded word for a person: not by its stems, which a grandfather and a grandmother may share."""
    bare = word.removesuffix("'s")
    other = bare[:-1] + {"a": "o", "o": "a"}.get(bare[-1:], "")
    relation = "" if RELATIVES.get(bare) == RELATIVES.get(other) else f"={RELATIVES.get(bare, '')}"
    return frozenset({bare, relation} - {"", "="})


def _plain(text: str) -> str:
    return fold(text).replace("’", "'")


@cache
def _kinds() -> Mapping[str, _Kind]:
    # As `python -m bench.state_cues` derives them, in the order of `pattern_texts`.
    listed: list[list[str]] = json.loads(Path(__file__).with_name("state_cues.json").read_text("utf-8"))
    cues = iter(enumerate(listed))
    return {row["name"]: _kind(row, cues) for row in _TABLES["kind"]}


def _kind(row: Mapping[str, Any], cues: Iterator[tuple[int, list[str]]]) -> _Kind:
    states, ends = (tuple(_forms(row, column, cues)) for column in ("states", "ends"))
    numbers = (frozenset(form.number for form in forms) for forms in (states, ends))
    return _Kind(row["name"], states, ends, row.get("bare", False), row.get("kept", True), *numbers)


def forms_with_cues(plain: str) -> frozenset[int]:
    """Return the numbers of the patterns that a folded text has a cue of, and of those without cues."""
    beginnings = _cues_by_beginning()
    found = {number for _, number in beginnings[""]}
    for at in range(len(plain)):
        for cue, number in beginnings.get(plain[at : at + _CUE_BEGINNING], ()):
            if plain.startswith(cue, at):
                found.add(number)
    return frozenset(found)


@cache
def _cues_by_beginning() -> Mapping[str, Sequence[tuple[str, int]]]:
    """The cues with the numbers of their patterns, by their first letters; by "" the patterns without any."""
    found: dict[str, list[tuple[str, int]]] = {"": []}  # bounded: the table of states; start
    for kind in _kinds().values():
        for form in (*kind.states, *kind.ends):
            for cue in form.cues or ("",):
                found.setdefault(cue[:_CUE_BEGINNING], []).append((cue, form.number))
    return found


def _leads(plain: str) -> Mapping[str, int]:
    """Where a folded clause begins to say something, by language."""
    found = {language: pattern.match(plain) for language, pattern in _LEADS.items()}
    return {language: match.end() if match else 0 for language, match in found.items()}


def pattern_texts() -> Iterator[str]:
    """The patterns of all kinds, as they are compiled."""
    for row in _TABLES["kind"]:
        for column in ("states", "ends"):
            yield from (text for _, text in _texts(row, column))


def _forms(row: Mapping[str, list[str]], column: str, cues: Iterator[tuple[int, list[str]]]) -> Iterator[_Form]:
    for language, text in _texts(row, column):
        number, needed = next(cues)
        yield _Form(number, language, lazy.regex(text), tuple(needed))


def _texts(row: Mapping[str, list[str]], column: str) -> Iterator[tuple[str, str]]:
    for language in ("en", "es"):
        for pattern in row.get(f"{column}_{language}", ()):
            yield language, rf"(?:{fill_parts(pattern, _TABLES['parts'])})(?!\w)"
