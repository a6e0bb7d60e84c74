"""Read the attribute that a plain statement gives a subject, where there can be only one answer.

For texts without attributes, such as a `<memory>` tag or a typed line. Only sentences of a few known shapes are read,
in Spanish and English, and none that is denied or conditional.
"""

import re
from collections.abc import Mapping

from kenobot.core import lazy
from kenobot.language.fingerprint import is_owner, is_same_or_more_exact, normalize_name
from kenobot.language.lexicon import STOPWORDS, fill_parts, load_tables, word_set
from kenobot.language.relatives import RELATIVES, calls_another
from kenobot.language.statements.statement_relation import parse_statement
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

_LONGEST = 160  # characters of a sentence that is read
_TABLES = load_tables(__package__, "attribute_statements.toml")
_NAMES = RELATIVES | {word: row.split()[0] for row in _TABLES["names"]["rows"] for word in row.split()}
_SENTENCE = "(?:{{adverbs}},? )?(?:{}){{now}}{{end}}"
_SHAPES = tuple(
    (name, lazy.regex(fill_parts(pattern if name == "fixed" else _SENTENCE.format(pattern), _TABLES["parts"])))
    for name, patterns in _TABLES["shapes"].items()
    for pattern in patterns
)
_TOLD_BY = lazy.regex(
    r"\b(?:is|am|i'm|es|lives?|living|resides?|moved|based|works?|viv[eo]|vivimos|resid[eo]|residimos|mud\w+|trabaj[ao]|llam[ao]|tiene|tengo|cumpl\w+|turn(?:s|ed)?)\b"
)
_PLACES = frozenset({"residence", "employer"})
_PEOPLE = frozenset(fold(word) for word in _TABLES["parts"]["bond"].removeprefix("(?:").removesuffix(")").split("|"))
_HEDGES = frozenset("if si maybe perhaps quiza quizas might could would".split())
_SAID_OF_MANY = frozenset("it he she that this there today tomorrow hoy eso user".split())  # to be a number or a day
_ANYBODY = frozenset("it he she they we this that there el ella ellos ellas eso esto".split())
_MANY_VALUED = word_set("single_valued_not")
_SEVERAL = lazy.regex(r"\s(?:and|or|y|o|e)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AttributeStatement:
    """Of whom something is said ("" for the owner of the memory), of what by name, and what."""

    subject: str
    attribute: str
    value: str


def attribute_name(kind: str, what: str) -> str:
    """Return the name of the attribute that a statement of some kind gives: the same in both languages."""
    name = " ".join(_NAMES.get(word, word) for word in fold(what).split())
    return {"favourite": f"favourite {name}", "relation": name, "bond": name}.get(kind, kind)


def is_single_valued(attribute: str) -> bool:
    """Return whether two values of an attribute may speak against each other: it is no name of what there are many of.

    For what is compared, asked about or kept apart; see `single_values` for what one value may end.
    """
    plain = normalize_name(attribute)
    singular = (plain.removesuffix(ending) for ending in ("", "s", "es", "ren"))
    return _MANY_VALUED.isdisjoint((*singular, f"{plain.removesuffix('ies')}y"))


def read_attribute(text: str) -> AttributeStatement | None:
    """Return the one thing that `text` says of somebody, if it has one of the shapes."""
    found = _match(text)
    return _frame(*found) if found is not None else None


def gives_other_value(text: str, known: str) -> bool:
    """Return whether both texts give the same single-valued attribute of the same subject, each another value."""
    told = read_attribute(text)
    if told is None or not is_single_valued(told.attribute):
        return False
    said = read_attribute(known)
    if said is None or told.attribute != said.attribute:
        return False
    same = fold(told.subject) == fold(said.subject) and not calls_another(text, known)
    return same and not is_same_or_more_exact(told.value, said.value)


def find_relation(text: str) -> str:
    """Find the relation that a statement names in passing: “Ana is my sister” of “my sister Ana lives in …”.

    "" where it names none.
    """
    found = _match(text)
    whose, who = (found[1].get("whose", ""), found[1].get("who", "")) if found is not None else ("", "")
    if not whose or not who:
        return ""
    return f"{who} {'is' if fold(whose).startswith(('my ', 'our ')) else 'es'} {whose[0].lower()}{whose[1:]}"


def _match(text: str) -> tuple[str, Mapping[str, str]] | None:
    """Return the shape that a text has, by name, and what stands in its groups."""
    sentence = text.strip()
    if not sentence or len(sentence) > _LONGEST or "\n" in sentence or not _TOLD_BY.search(fold(sentence)):
        return None
    found = parse_statement(sentence)
    if found.negative or found.conditions & _HEDGES:
        return None
    for name, shape in _SHAPES:
        match = shape.fullmatch(sentence) or shape.fullmatch(sentence[0].lower() + sentence[1:])
        if match:
            return name, {group: value or "" for group, value in match.groupdict().items()}
    return None


def states_only(text: str, value: str) -> bool:
    """Return whether a text gives one attribute this value and tells nothing else."""
    if read_attribute(text) is not None:
        return True
    found = parse_statement(text)
    told = {fold(word) for word in found.content} - set(fold(value).split()) - STOPWORDS
    return not found.negative and not found.conditions & _HEDGES and len(told) <= 1


def _frame(name: str, groups: Mapping[str, str]) -> AttributeStatement | None:
    value, who, what = groups["value"].strip(), groups.get("who", ""), fold(groups.get("what", ""))
    who = who or attribute_name("relation", groups.get("kin", "").partition(" ")[2])
    attribute = what if name == "fixed" else attribute_name(name, what)
    if (
        _SEVERAL.search(value)
        or fold(who) in _ANYBODY
        or (name == "fixed" and what.rsplit(maxsplit=1)[-1] in _SAID_OF_MANY)
    ):
        return None
    if (name in _PLACES or (name == "relation" and what in _PEOPLE)) and value[0].islower():
        return None
    return AttributeStatement("" if is_owner(who) else who, attribute, value)
