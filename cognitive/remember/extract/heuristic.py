"""Extract facts without a model: plain statements of people about themselves.

A fact keeps the speaker's words, so that one stored by the same turn's `<memory>` tag is recognised.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Literal

from kenobot.cognitive.remember.attribute_statements import attribute_name
from kenobot.cognitive.remember.classify import kind_of
from kenobot.cognitive.remember.extract.change_sentence import TABLES
from kenobot.cognitive.remember.extract.changes import KnownStatement, find_change, may_change, takes_back
from kenobot.cognitive.remember.extract.parse_facts import TIERS, Category, ExtractedFact, FactKind
from kenobot.cognitive.remember.extract.states import about_subject, is_state, subject_of
from kenobot.cognitive.remember.extract.worth_noting import is_worth_noting
from kenobot.cognitive.store.records import CONFIDED
from kenobot.cognitive.text.claims import claims
from kenobot.cognitive.text.colloquial import written_out
from kenobot.cognitive.text.confidences import CONFIDES, is_confided
from kenobot.cognitive.text.lexicon import STOPWORDS, fill_parts, join_phrases
from kenobot.cognitive.text.named_days import day_named, days_named, names_year
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy

Needs = Literal["", "day", "birthday", "who", "person", "figure", "value", "stated"]

_LONGEST = 4000  # characters that are looked at; people do not introduce themselves in the middle of a document
_SENTENCES = 40
_LONGEST_SENTENCE = 300
_FAR, _FAR_OF_YEAR = 330, 20_000  # days: a day that is further off, without a year, is rather over
_KEPT = 8192  # sentences whose judgement is kept: of each line of its summary a chat asks anew in each round
_LEAST_WORDS = 4  # of a statement of a day ahead
_LEAST_CONFIDED = 3  # of one told in confidence, or noted
_OVER = KnownStatement("")  # in the place of one that an earlier message has ended
_END = lazy.regex(  # not after an abbreviation or an initial
    r"(?<=[.!?…])(?<!\b[A-Z]\.)(?<!\b(?:St|Dr|Mr|Ms|Sr|vs)\.)(?<!\b(?:Mrs|Dra|Sra|Avd)\.)\s+|\n+|;\s+"
)
_ASKING = ("?", "？", "؟")
_MARKS = " \t,.;:。，：！!¡¿…-—\"'«»“”"
_QUOTE = lazy.regex(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)
_PHRASES = join_phrases(TABLES)
_OPENINGS = lazy.regex(rf"(?:(?:{_PHRASES['openings']})\b[\s,:!.]*){{1,3}}")
_PLEASE = r"(?:please |por favor |porfa,? )?"
_POLITENESS = rf"(?:[\s,.!]*(?:{_PHRASES['polite']})(?!\w))*[\s,.!]*"
_ASKS_TO_REMEMBER = lazy.regex(
    rf"{_PLEASE}(?:{_PHRASES['asks_to_remember']})(?!\w)(?: de)?(?: that| que)?(?!\w)(?: (?:this|it|esto|eso)(?=\s*:))?"
    rf"[\s,:]*|(?:{_PHRASES['asks_abroad']})[\s,:，：]*"
)
_ASKS_TO_REMIND = lazy.regex(rf"{_PLEASE}(?:{_PHRASES['asks_to_remind']})(?!\w)(?: that| que| to)?(?!\w)")
_ASKS_BEHIND = lazy.regex(
    rf"(?:^|[,;.(—–-]\s*|\s)(?:y |and )?{_PLEASE}(?:{_PHRASES['asks_behind']})(?!\w){_POLITENESS}(?=$|,)"
)
_CONFIDES_FIRST = lazy.regex(rf"{CONFIDES}[\s,:.;—–-]*")
_CONFIDES = lazy.regex(rf"[,;:(—–-]?\s*{CONFIDES}{_POLITENESS}")
_POLITE = lazy.regex(_POLITENESS)
_UNSTATED = lazy.regex(rf"(?:{_PHRASES['unstated']})(?!\w)")
_IN_THIS_CHAT = lazy.regex(
    rf"(?:^|^(?:{_PHRASES['asks_to_remember']})(?:,| that| que)? )(?P<here>{_PHRASES['in_this_chat']})(?!\w)"
    r"[\s,:]*(?:que |that )?"
)
_ASKS_WHETHER = lazy.regex(r"\W*(?:remember|recuerda)\b.*[?？]\W*$")
_QUOTED_FIRST = lazy.regex(r"[ \t,.;:…-]*(?P<mark>[\"“«])[^\W_][^\"“”«»]*[\"”»][^\w\"“”«»]*\w")
_POLITE_END = lazy.regex(rf"[,.;]\s*(?:{_PHRASES['polite']})[\s.!]*$")
_TO_DO = lazy.regex(rf"(?:{_PHRASES['to_do']})(?!\w)")
_NAMES = lazy.regex(
    r"(?:(?:he|she|they)(?:'s| is|'re| are) called|(?:his|her|their) names?(?:'s| is| are)|se llaman?) "
)
_GREETS_AS = lazy.regex(  # in small letters a name is one only behind a greeting, with nothing beside it
    r"\W*(?:hi|hiya|hey|hello|hola|buenas)\b\W*(?:i'm|soy|this is|aca|aqui) "
    rf"(?!(?:{_PHRASES['no_name']})\b)(?P<name>[^\W\d_]{{3,15}})(?: (?:here|che))?\W*"
)
_GOES_ON = lazy.regex(rf"(?:{_PHRASES['goes_on']})")
_DENIES = lazy.regex(r"(?<!\w)(?:no|not|nunca|ya no|en vez|instead|never)(?!\w)|n't\b")
_SINCE = lazy.regex(r"(?:desde|since|hace)(?: el| la| the)?\s*\Z")
_PART = lazy.regex(r"[,;]\s")
_PAST = lazy.regex(rf"(?:(?:yo|i|we|nosotros) )?(?:{_PHRASES['past']})(?!\w)")
_NAME_OR_FIGURE = lazy.regex(r"\d|(?<=\s)[A-ZÁÉÍÓÚÑ][\w.-]+")
_REFERS_ELSEWHERE = lazy.regex(rf"(?:{_PHRASES['elsewhere']})\b(?!\s+(?:is|es)\b)|\W*\Z")
_CORRECTS = lazy.regex(rf"(?:{_PHRASES['corrects']})\s+")
_CORRECTS_BEHIND = lazy.regex(rf"[,;.(—–-]\s*(?:sorry,? )?(?:{_PHRASES['corrects_behind']})\W*\Z")
_CLAUSES = lazy.regex(rf"\s*(?:,|;| y| e| and| pero| but)\s+(?=(?:{_PHRASES['clause_starts']})\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExtractionRule:
    """A pattern for the start of a folded clause, and the fact it makes.

    The groups `value` and `also` are cut from the text as written. attribute: name of the value; "favourite" and
    "relation" go on with the group `what` or `que`. needs: a day that is due, the speaker's birthday, a name in the
    group `who` (person: one word that may be a name) or `value`, or a name or figure anywhere.
    """

    pattern: re.Pattern[str]
    category: Category = "fact"
    attribute: str = ""
    needs: Needs = ""


def _load_rules() -> Iterator[ExtractionRule]:
    for row in TABLES["rule"]:
        patterns = row["patterns"]
        fields = {name: value for name, value in row.items() if name != "patterns"}
        # A name may stand only once in a pattern.
        for each in patterns if any("who" in pattern for pattern in patterns) else ["|".join(patterns)]:
            first, group, others = fill_parts(each, TABLES["parts"]).partition("(?P<value>")
            pattern = first + group + others.replace("(?P<value>", "(?P<also>")
            yield ExtractionRule(lazy.regex(rf"(?:{pattern})(?!\w)"), **fields)


_RULES = tuple(_load_rules())


@dataclass(frozen=True, slots=True)
class Message:
    """What a person said. said: their day. evidence: number of its turn. before: what they said right before it."""

    text: str
    said: date
    evidence: int = 1
    before: str = ""


def extract_facts(text: str, said: date, *, evidence: int = 1) -> list[ExtractedFact]:
    """Extract the facts that a person's own words state, each once. said: their day. evidence: turn number."""
    return read_messages([Message(text, said, evidence)], ())


def read_messages(messages: Iterable[Message], known: Sequence[KnownStatement]) -> list[ExtractedFact]:
    """Extract the facts of messages, oldest first. known: what they may end, in the order in which it was said.

    A verdict on a statement of `known` names its place, from 1; a fact of the messages that a later one ends is left
    out.
    """
    facts: list[ExtractedFact] = []
    for sent in messages:
        message = replace(sent, text=written_out(sent.text), before=written_out(sent.before))
        if takes_back(message.text):
            facts = _without_taken_back(facts, message, known)
            continue
        for fact in _in_message(message):
            facts = _with_fact(facts, replace(fact, evidence=(message.evidence,)), message.said, known)
    return facts


def _without_taken_back(
    facts: list[ExtractedFact], message: Message, known: Sequence[KnownStatement]
) -> list[ExtractedFact]:
    """End what the message before one told that takes it back."""
    taken = {fold(fact.text) for fact in _in_message(Message(message.before, message.said))}
    left = [fact for fact in facts if fold(fact.text) not in taken]
    newest = {fold(statement.text): place for place, statement in enumerate(known, 1)}
    ended = [newest[text] for text in sorted(taken & newest.keys())]
    if not ended:
        return left
    back = ExtractedFact(message.text.strip(), "correction", confidence=TIERS["explicit"], expires=message.said)
    return [*left, replace(back, evidence=(message.evidence,), verdicts=_against(ended))]


def _against(numbers: Iterable[int]) -> tuple[tuple[int, Literal["contradiction"]], ...]:
    return tuple((number, "contradiction") for number in numbers)


@lru_cache(_KEPT)
def may_end_something(text: str) -> bool:
    """Return whether a text says that something is no longer so, or begins to put something right."""
    text = written_out(text)
    if may_change(text) or takes_back(text):
        return True
    return any(_core(sentence.strip()).corrects for sentence in _END.split(text[:_LONGEST])[:_SENTENCES])


def needs_before(text: str) -> bool:
    """Return whether a text asks to remember what was said before it, keeps it quiet, takes it back, or goes on."""
    if takes_back(text):
        return True
    if len(text) > _LONGEST_SENTENCE:
        return False
    first, *others = (_core(sentence.strip()) for sentence in _END.split(written_out(text)))
    goes_on = _GOES_ON.match(_folded(first.told)) is not None
    return goes_on or first.points_back or any(read.points_back for read in others)


def without_this_chat(text: str) -> str:
    """Return what a text says of this chat alone, without the words that name it; "" for a text of no chat's own."""
    plain = _folded(text[:_LONGEST])
    found = _IN_THIS_CHAT.search(plain)
    if found is None or len(plain) != len(text[:_LONGEST]):
        return ""
    rest = f"{text[: found.start('here')].strip()} {text[found.end() :].strip(_MARKS)}"
    return rest.strip(_MARKS)


def question_in(text: str) -> str:
    """Return the sentences of a text that ask, as far as their signs tell; "" without any."""
    asks = (part.strip() for part in _END.split(text[:_LONGEST]) if part.rstrip().endswith(_ASKING))
    return " ".join(part for part in asks if not _core(part).asked)


def _with_fact(
    facts: list[ExtractedFact], fact: ExtractedFact, said: date, known: Sequence[KnownStatement]
) -> list[ExtractedFact]:
    """Add a fact to those before it, without what it ends; one that only ends something tells nothing else."""
    if facts and fold(fact.text).startswith(f"{fold(facts[-1].text)}. "):
        last = facts[-1]
        return [*facts[:-1], replace(last, text=fact.text, attributes=last.attributes or fact.attributes)]
    corrects = fact.category == "correction"
    change = None
    if corrects or may_change(fact.text):
        over = {number for each in facts for number, _ in each.verdicts}
        left = (_OVER if number in over else each for number, each in enumerate(known, 1))
        pool = [*left, *(KnownStatement(each.text, dict(each.attributes).get("due", "")) for each in facts)]
        change = find_change(fact.text, said, pool, corrects=corrects)
    if change is None:
        if fact.confidence < TIERS["implied"] or any(fold(fact.text) == fold(each.text) for each in facts):
            return facts
        return [*facts, fact]
    if change.is_part:  # admission takes from the memory only what is named
        part = _against([change.place + 1]) if change.place < len(known) else ()
        return [*facts, replace(fact, confidence=TIERS["explicit"], verdicts=part)]
    if due := change.due or (change.text != fact.text and dict(_due(fold(change.text), said, first=1)).get("due", "")):
        fact = replace(fact, attributes=tuple({**dict(fact.attributes), "due": due}.items()))
    fact = replace(fact, text=change.text, category="correction" if not fact.attributes else fact.category)
    fact = replace(fact, confidence=TIERS["explicit"])
    if change.place < len(known):
        ended = fold(known[change.place].text)
        longer = (n for n, each in enumerate(known, 1) if fold(each.text).startswith(f"{ended}. "))
        return [*facts, replace(fact, verdicts=_against([change.place + 1, *longer]))]
    gone = change.place - len(known)
    # What it ends may go on about a statement that memory has.
    begun = (number for number, each in enumerate(known, 1) if fold(facts[gone].text).startswith(fold(each.text)))
    fact = replace(fact, verdicts=_against(dict.fromkeys([*begun, *(number for number, _ in facts[gone].verdicts)])))
    fact = replace(fact, tags=tuple(dict.fromkeys((*fact.tags, *facts[gone].tags))))
    return [*facts[:gone], *facts[gone + 1 :], fact]


def _in_message(message: Message) -> list[ExtractedFact]:
    """Read a message sentence by sentence; what needs the sentences around it to be understood, with them."""
    facts = list(_in_sentences(message))
    sentences = _END.split(message.text.strip())
    if len(message.text) > _LONGEST_SENTENCE or len(sentences) == 1 or _QUOTE.search(message.text):
        return facts
    core = _core(message.text.strip())
    if any(mark in core.told for mark in ("\n", *_ASKING)) or any(_core(each.strip()).asked for each in sentences):
        return facts
    noted = [fact for fact in facts if fact.confidence >= TIERS["implied"]]
    stated = [fact for fact in noted if fact.confidence > TIERS["implied"]]
    if not stated and _is_noted(core.told):
        return _unread(core, message.said)
    alike = [fact for fact in noted if _may_stand_with_others(fact)]
    if not alike or len(stated) >= len(sentences):
        return facts
    return [replace(alike[0], text=core.told), *(fact for fact in facts if fact not in alike)]


def _may_stand_with_others(fact: ExtractedFact) -> bool:
    """Return whether a fact has no value and no day of its own, was not asked to be kept, and ends nothing."""
    return not (fact.attributes or fact.tags or fact.category == "correction" or may_change(fact.text))


def _in_sentences(message: Message) -> Iterator[ExtractedFact]:
    text = message.text[:_LONGEST]
    if _QUOTE.search(text):
        return
    sentences = _END.split(text)[:_SENTENCES]
    confided = is_confided(text)
    before, listed = message.before, False
    for number, part in enumerate(sentences):
        sentence = part.strip()
        read = _core(sentence)
        below = number == 0 and len(sentences) > 1 and read.points_back and sentence[-1:].isalnum()
        if below:  # what it asks for stands on the next lines
            listed = True
            continue
        if before and not read.corrects and _goes_on(read, before, message.said):
            read = replace(read, told=f"{before.rstrip(_MARKS)}. {read.told}", asked=True)
        elif before and not read.corrects and (told := _of_expected(read.told, before)):
            read = replace(read, told=told, asked=True)
        elif read.points_back and before:
            read, sentence = replace(_core(before), asked=True), before
        elif listed and read.told:
            read = replace(read, asked=True)
        listed = read.asked and (sentence.endswith(":") or (listed and bool(sentence)))
        for fact in _in_sentence(sentence, read, message.said, confided=confided):
            yield replace(fact, tags=(CONFIDED,)) if confided else fact
        before = sentence or before


def _of_expected(told: str, before: str) -> str:
    """A sentence that names the person of whom the one before it tells a state, with what they are; "" for another."""
    if not _NAMES.match(_folded(told)):
        return ""
    subject = subject_of(_core(before).told)
    return about_subject(subject, told) if subject else ""


def _goes_on(core: "_Core", before: str, said: date) -> bool:
    """Return whether a sentence tells more of what the one before it states."""
    if not _GOES_ON.match(_folded(core.told)) or _UNSTATED.match(_folded(core.told)) or core.told.endswith("?"):
        return False
    told = _core(before).told
    return len(told) + len(core.told) < _LONGEST_SENTENCE // 2 and bool(told) and bool(_read_clauses(told, said)[0])


@dataclass(frozen=True, slots=True)
class _Core:
    """A sentence after its openings. told: what it says. corrects: whether it puts something right.

    asked: whether it asks to remember; reminds: to be reminded. points_back: what it asks stands before it.
    """

    told: str
    corrects: bool = False
    asked: bool = False
    reminds: bool = False
    points_back: bool = False


def _in_sentence(sentence: str, core: _Core, said: date, *, confided: bool) -> Iterator[ExtractedFact]:
    """Read a sentence: its clauses by the rules, and the whole where that was asked for, or may end something."""
    told = core.told
    if not told:
        return
    if len(sentence) > _LONGEST_SENTENCE:
        if core.asked:
            yield ExtractedFact(told, confidence=TIERS["explicit"])
        return
    if sentence.rstrip().endswith(_ASKING) and (not core.asked or _ASKS_WHETHER.match(_folded(sentence))):
        return
    if sentence.rstrip().endswith(":"):
        return
    read, left = _read_clauses(told, said)
    if not read and (greets := _GREETS_AS.fullmatch(_folded(sentence))) is not None:
        read = [ExtractedFact(told, attributes=(("name", greets["name"]),), confidence=TIERS["explicit"])]
    is_statement = len(told.split()) >= _LEAST_CONFIDED and not _UNSTATED.match(_folded(told))
    wanted = core.asked or (confided and is_statement)
    if wanted and left and not _REFERS_ELSEWHERE.match(_folded(told)):
        read = [_whole(told, read, said, reminds=core.reminds)]
    elif left and read and _is_noted(told):
        read = [_whole(told, read, said, reminds=False)]
    elif left and len(read) == 1 and may_change(told):
        read = [replace(read[0], text=told)]
    elif not read and (fact := _ahead(told, said)) is not None:
        read = [fact]
    elif not read:
        read = _unread(core, said)
    for fact in read:
        # What nothing tells the day or the doing of is how things are: it can be put right, and end.
        holds = kind_of(fact.text, fact.category, default="note") == "note"
        kind: FactKind = "note" if holds else fact.kind
        yield replace(fact, kind=kind, category="correction" if core.corrects else fact.category)


def _unread(core: "_Core", said: date) -> list[ExtractedFact]:
    """What no rule reads: a fact where it is worth a note, one that only counts if it ends something, or none."""
    stands = core.corrects and len(core.told.split()) >= _LEAST_WORDS and _NAME_OR_FIGURE.search(core.told)
    if stands or _is_noted(core.told):
        confidence = TIERS["explicit"] if stands else TIERS["implied"]
    elif core.corrects or may_change(core.told):
        confidence = TIERS["speculative"]
    else:
        return []
    due = () if _PAST.match(_folded(core.told)) else _due(_folded(core.told), said, first=1)
    return [ExtractedFact(core.told, attributes=due, confidence=confidence)]


def _is_noted(told: str) -> bool:
    """Return whether a text that states something is worth a note, whoever is not quoted in it."""
    if len(told.split()) < _LEAST_CONFIDED or _QUOTED_FIRST.match(told) or _UNSTATED.match(_folded(told)):
        return False
    return is_worth_noting(told)


def _read_clauses(told: str, said: date) -> tuple[list[ExtractedFact], bool]:
    """The facts of a sentence's clauses, and whether any clause says nothing alone."""
    parts = [claim.standalone_text for part in _CLAUSES.split(told) for claim in claims(part)]
    clauses = [bare for clause in parts if (bare := _without_marks(clause))]
    facts = [_in_clause(clause, said) for clause in clauses]
    read = [fact for fact in facts if fact is not None]
    left = len(read) < len(facts)
    first = facts[0] if left and len(read) == 1 else None
    if first is not None and not first.attributes and not _UNSTATED.match(_folded(clauses[1])):
        read = [replace(first, text=told)]
    return read, left


def _core(sentence: str) -> _Core:
    """Take the openings and wishes from a sentence."""
    corrects = asked = reminds = quiet = False
    for _ in range(6):
        sentence = _without_marks(sentence)
        plain = _folded(sentence)
        if (opening := _CORRECTS.match(plain)) is not None:
            corrects = True
        elif (reminder := _ASKS_TO_REMIND.match(plain)) is not None and not asked:
            rest = sentence[reminder.end() :].strip(_MARKS)
            if rest:
                asked = reminds = True
                break
        elif (opening := _CONFIDES_FIRST.match(plain)) is not None:
            quiet = True
        elif (opening := _ASKS_TO_REMEMBER.match(plain)) is not None:
            asked = True
        opening = opening or _OPENINGS.match(plain)
        if opening is None:
            break
        sentence = sentence[opening.end() :]
    while (behind := _ASKS_BEHIND.search(_folded(sentence))) is not None:
        asked = True
        sentence = f"{sentence[: behind.start()]}{sentence[behind.end() :]}".strip(_MARKS)
    if (opening := _CONFIDES.search(_folded(sentence))) is not None:
        quiet = True
        sentence = f"{sentence[: opening.start()]}{sentence[opening.end() :]}"
    if asked and (wish := _POLITE_END.search(_folded(sentence))) is not None:
        sentence = sentence[: wish.start()]
    if (behind := _CORRECTS_BEHIND.search(_folded(sentence))) is not None:
        corrects = True
        sentence = sentence[: behind.start()]
    told = _without_marks(sentence, "?" if asked else "")
    empty = not told or _POLITE.fullmatch(_folded(told)) is not None
    return _Core("" if empty else told, corrects, asked, reminds, points_back=empty and (asked or quiet))


def _without_marks(text: str, also: str = "") -> str:
    """The text without the marks around it, but for those of a quotation that it begins with and goes on after."""
    bare = text.strip(_MARKS + also)
    quoted = _QUOTED_FIRST.match(text)
    return f"{quoted['mark']}{bare}" if quoted else bare


def _ahead(told: str, said: date) -> ExtractedFact | None:
    """A statement of a day that lies ahead, such as "on Thursday Gemma flies over"."""
    plain = _folded(told)
    if _UNSTATED.match(plain) or _PAST.match(plain) or len(plain) != len(told) or len(told.split()) < _LEAST_WORDS:
        return None
    due = _due(plain, said, first=1)
    rest = plain
    for named in reversed(days_named(plain, said)):
        rest = f"{rest[: named.start]} {rest[named.end :]}"
    if not due or len([word for word in rest.split() if word.strip(_MARKS)]) < _LEAST_WORDS // 2:
        return None
    return ExtractedFact(told, "commitment", attributes=due, confidence=TIERS["explicit"])


def _in_clause(clause: str, said: date) -> ExtractedFact | None:
    plain = _folded(clause)
    if len(plain) != len(clause):  # then what is found in one cannot be cut from the other
        plain = clause.lower()
    for rule in _RULES:
        if (match := rule.pattern.match(plain)) is not None and (fact := _fact(rule, match, clause, said)) is not None:
            return fact
    return ExtractedFact(clause, kind="note", confidence=TIERS["explicit"]) if is_state(clause) else None


def _fact(rule: ExtractionRule, match: re.Match[str], clause: str, said: date) -> ExtractedFact | None:
    fact = ExtractedFact(clause, rule.category, confidence=TIERS["explicit"])
    if rule.needs in ("day", "birthday"):
        return _dated(rule, fact, fold(clause), said)
    if rule.needs and (_UNSTATED.match(_folded(clause)) or not _is_named(rule.needs, match, clause)):
        return None
    if not rule.attribute:
        # What a rule reads of a name or a figure is how things are.
        fact = replace(fact, kind="note" if rule.needs else "")
        return replace(fact, attributes=_due(_folded(clause), said, first=1)) if _may_be_due(fact) else fact
    found = {name: clause[match.start(name) : match.end(name)] for name, text in match.groupdict().items() if text}
    value = (found.get("value") or found["also"]).strip(_MARKS)
    return replace(fact, attributes=((_attribute(rule, found), value),)) if value else fact


def _is_named(needs: Needs, match: re.Match[str], clause: str) -> bool:
    """Return whether a clause has the name, or the figure, that a rule asks for."""
    if needs == "stated":
        return _PAST.match(_folded(clause)) is None
    if needs == "figure":
        return _NAME_OR_FIGURE.search(clause, 1) is not None
    group = "value" if needs == "value" else "who"
    names = clause[match.start(group) : match.end(group)].split()
    if needs == "person":
        return len(names) == 1 and fold(names[0]) not in STOPWORDS
    return all(name[:1].isupper() or name in ("de", "del", "la") for name in names)


def _may_be_due(fact: ExtractedFact) -> bool:
    return fact.category in ("fact", "relationship")


def _attribute(rule: ExtractionRule, found: Mapping[str, str]) -> str:
    return attribute_name(rule.attribute, " ".join((found.get("what") or found.get("que") or "").split()))


def _dated(rule: ExtractionRule, fact: ExtractedFact, plain: str, said: date) -> ExtractedFact | None:
    """A birthday or a commitment; None when no day is named, or one that makes no sense."""
    if rule.needs == "birthday":
        has_year = names_year(plain)
        born = day_named(plain, said, past=has_year)
        if born is None or (has_year and born > said):
            return fact if " en " in plain or " in " in plain else None
        return replace(fact, attributes=(("birthday", born.isoformat() if has_year else f"{born:%m-%d}"),))
    due = _due(plain, said)
    return replace(fact, attributes=due) if due else None


def _due(plain: str, said: date, *, first: int = 0) -> tuple[tuple[str, str], ...]:
    """The attribute of the day ahead that a folded text names; none without one.

    first: days from now from which a day counts, or the last of several. A day that the text denies counts where there
    is no other.
    """
    days = [
        named
        for named in days_named(plain, said)
        if first <= (named.last - said).days
        and 0 <= (named.day - said).days <= (_FAR if not named.has_year else _FAR_OF_YEAR)
        and not _SINCE.search(plain[: named.start])
    ]
    meant = [named for named in days if not _DENIES.search(_part_before(plain, named.start))] or days
    return (("due", meant[0].day.isoformat()),) if meant else ()


def _part_before(plain: str, end: int) -> str:
    """What stands before a place of a sentence, from the last comma on."""
    return _PART.split(plain[:end])[-1]


def _whole(text: str, read: list[ExtractedFact], said: date, *, reminds: bool) -> ExtractedFact:
    """A text that somebody asked to be remembered, whole, with what was understood of its parts."""
    attributes = tuple(dict(pair for fact in read for pair in fact.attributes).items())
    category = read[0].category if read else "fact"
    due = _due(_folded(text), said)
    if reminds or (not read and (due or _TO_DO.match(_folded(text)))):
        category, attributes = "commitment", attributes or due
    return ExtractedFact(text, category, attributes=attributes, confidence=TIERS["explicit"])


def _folded(text: str) -> str:
    return fold(text).replace("’", "'").replace("‘", "'")
