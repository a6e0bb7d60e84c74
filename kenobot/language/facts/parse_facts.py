"""Parse the facts in a model's answer about a batch of turns: each item stands alone, each field has a default.

Models wrap JSON in fences and prose, leave it unfinished, answer "None", apologise, or change the names of the fields.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Literal, get_args

from kenobot.core import lazy, redaction
from kenobot.language.fingerprint import key_of
from kenobot.language.json_answers import outermost_json_values
from kenobot.language.lexicon import alternatives, word_rows
from kenobot.language.told_secrets import find_told_secret
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Relation

Category = Literal[
    "fact", "preference", "correction", "entity", "decision", "relationship", "principle", "commitment", "moment",
    "skill",
]  # fmt: skip
FactKind = Literal["note", "episode", ""]

_CATEGORIES = frozenset(get_args(Category))
_OTHER_NAMES: Mapping[str, Category] = {
    "factual": "fact", "procedural": "skill", "architectural": "decision", "event": "moment", "goal": "commitment",
    "task": "commitment", "hecho": "fact", "preferencia": "preference", "corrección": "correction",
    "entidad": "entity", "decisión": "decision", "relación": "relationship", "principio": "principle",
    "compromiso": "commitment", "momento": "moment", "habilidad": "skill",
}  # fmt: skip
TIERS: Mapping[str, float] = {"explicit": 0.95, "implied": 0.7, "inferred": 0.4, "speculative": 0.2}
_SELF = frozenset(word_rows("speaker_names"))
_LONGEST = 200_000  # characters of an answer
_LONGEST_TEXT, _LONGEST_NAME, _LONGEST_VALUE = 2000, 80, 200
_MOST_ATTRIBUTES, _MOST_TAGS, _MOST_VERDICTS, _MOST_EVIDENCE = 8, 6, 12, 50

_NOTHING = lazy.regex(r"\W*(?:none|null|nothing|n/?a|no facts?|ningun[oa]?|nada|empty|vac[ií]o)\W*", re.IGNORECASE)
_BLANKS = lazy.regex(r"\s+")
_ATTRIBUTE = lazy.regex(r"(?:\W|_)+")
_STATEMENT = lazy.regex(
    r"(?:[-*•]\s+)?((?:(?:the )?(?:user|owner)|(?:el |la )?(?:usuari[oa]|dueñ[oa]))\s+\S+\s+\S.{0,400})", re.IGNORECASE
)
_ABOUT_THE_TALK = lazy.regex(
    r"(?:(?:the |el |la )?(?:user|owner|speaker|usuari[oa]|dueñ[oa]) (?:has |ha )?"
    rf"(?:{alternatives('about_the_talk')})"
    r"|(?:this|the|esta|la) (?:conversation|chat|discussion|conversación|charla)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A fact that a batch of turns holds, before admission.

    subject: "" for the speaker. importance: 0 to 1. evidence: numbers of its turns, from 1.
    verdicts: its relation to the memories shown, by their numbers. ended_parts: of a memory of several sentences, the
    one that it ends. by_rules: no model read it.
    """

    text: str
    category: Category = "fact"
    subject: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    confidence: float = TIERS["implied"]
    importance: float | None = None
    evidence: tuple[int, ...] = ()
    kind: FactKind = ""
    expires: date | None = None
    verdicts: tuple[tuple[int, Relation], ...] = ()
    ended_parts: tuple[tuple[int, str], ...] = ()
    by_rules: bool = False


def parse_facts(answer: str) -> tuple[ExtractedFact, ...] | None:
    """Return the facts in a model's answer, each once.

    None when it holds nothing that can be read, such as an excuse.
    """
    answer = answer.removeprefix("\ufeff").strip()[:_LONGEST]
    values = list(_values(answer))
    if not values:
        return () if _NOTHING.fullmatch(answer) else tuple(_read_prose(answer)) or None
    items = [item for value in values for item in _items(value)]
    facts = [fact for item in items if (fact := _fact(item)) is not None]
    if items and not facts:
        return None
    said = (fact for fact in facts if not _NOTHING.fullmatch(fact.text) and not _ABOUT_THE_TALK.match(fact.text))
    return tuple(_deduplicate(said))


def _values(answer: str) -> Iterator[object]:
    """Return what may hold items: a list of nothing but numbers is a remark of the model's."""
    for value in outermost_json_values(answer):
        if isinstance(value, dict) or (
            isinstance(value, list) and (not value or any(isinstance(item, dict | str) for item in value))
        ):
            yield value


def _items(value: object) -> Iterable[object]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for name in ("facts", "memories", "hechos", "items"):
            if isinstance(value.get(name), list):
                return list(value[name])
            if name in value and _NOTHING.fullmatch(str(value[name])):
                return []
        return [value] if value else []
    return []


def _read_prose(text: str) -> Iterator[ExtractedFact]:
    """Yield lines that say something of the person, from a model that would not write JSON. It is not sure of those."""
    for line in text.splitlines()[:50]:
        told = _STATEMENT.fullmatch(line.strip())
        if told and not _ABOUT_THE_TALK.match(told[1]) and not told[1].rstrip().endswith("?"):
            yield ExtractedFact(told[1].strip(), confidence=TIERS["inferred"])


def _deduplicate(facts: Iterable[ExtractedFact]) -> Iterable[ExtractedFact]:
    """Return each fact once; one that is told several times has all its evidence."""
    found: dict[tuple[str, str], ExtractedFact] = {}
    for fact in facts:
        known = found.setdefault((fact.subject.casefold(), key_of(fact.text)), fact)
        evidence = tuple(dict.fromkeys([*known.evidence, *fact.evidence]))
        found[known.subject.casefold(), key_of(known.text)] = replace(known, evidence=evidence)
    return found.values()


def one_line(value: object, longest: int) -> str:
    """Return `value` as one line of text, "" when it is no text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return _BLANKS.sub(" ", str(value)).strip()[:longest].rstrip()


def _category(value: object) -> Category:
    name = one_line(value, _LONGEST_NAME).lower()
    return name if name in _CATEGORIES else _OTHER_NAMES.get(name, "fact")  # type: ignore[return-value]


def _subject(value: object) -> str:
    name = one_line(value, _LONGEST_NAME)
    return "" if name.casefold() in _SELF or redaction.find_secret(name) else name


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and {"name", "value"} <= item.keys():
                yield item["name"], item["value"]
            elif isinstance(item, list) and len(item) == 2:
                yield item[0], item[1]


def _attributes(value: object) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for name, held in _pairs(value):
        plain = _ATTRIBUTE.sub(" ", one_line(name, _LONGEST_NAME).casefold()).strip()[:40]
        text = one_line(held, _LONGEST_VALUE)
        secret = find_told_secret(text) or find_told_secret(f"{plain}: {text}")
        if plain and text and plain != "by" and secret is None:
            found.setdefault(plain, text)
    return tuple(found.items())[:_MOST_ATTRIBUTES]


def _tags(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    found = (one_line(item, _LONGEST_NAME) for item in values)
    return tuple(dict.fromkeys(tag for tag in found if tag and redaction.find_secret(tag) is None))[:_MOST_TAGS]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _confidence(value: object) -> float:
    if isinstance(value, str) and value.strip().lower() in TIERS:
        return TIERS[value.strip().lower()]
    number = _number(value)
    return number if number is not None and 0 <= number <= 1 else TIERS["implied"]


def _importance(value: object) -> float | None:
    """Convert importance from 1 to 10, as models are asked for it, to a share of 1."""
    number = _number(value)
    return round(number) / 10 if number is not None and 1 <= number <= 10 else None


def _numbers(value: object) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    found = (_number(item) for item in values)
    whole = (int(number) for number in found if number is not None and number == int(number) and number > 0)
    return tuple(dict.fromkeys(whole))[:_MOST_EVIDENCE]


def _kind(value: object) -> FactKind:
    name = one_line(value, _LONGEST_NAME).lower()
    return name if name in ("note", "episode") else ""  # type: ignore[return-value]


def _date(value: object) -> date | None:
    try:
        return datetime.fromisoformat(one_line(value, 40)).date()
    except ValueError:
        return None


def _verdicts(value: object) -> tuple[tuple[int, Relation], ...]:
    found: dict[int, Relation] = {}
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and (numbers := _numbers(item.get("memory"))):
            relation = one_line(item.get("relation"), 40).lower()
            if relation in get_args(Relation):
                found.setdefault(numbers[0], relation)  # type: ignore[arg-type]
    return tuple(found.items())[:_MOST_VERDICTS]


def _first(item: Mapping[str, object], *names: str) -> object:
    """Return the first of the names by which models call a field; None when the item has none of them."""
    return next((item[name] for name in names if name in item), None)


def _fact(item: object) -> ExtractedFact | None:
    """Read one item as models write it. Only the text must be right; whatever else is not falls back."""
    fields: Mapping[str, object] = {"text": item} if isinstance(item, str) else item if isinstance(item, dict) else {}
    written = _first(fields, "text", "fact", "statement", "memory", "content", "hecho")
    text = one_line(written, _LONGEST_TEXT) if isinstance(written, str) else ""
    if not text:
        return None
    category = _category(_first(fields, "category", "factType", "fact_type", "type"))
    attributes = _attributes(fields.get("attributes"))
    due = _date(_first(fields, "due", "deadline", "date", "temporal"))
    if due is not None and category == "commitment":
        attributes = (*(pair for pair in attributes if pair[0] != "due"), ("due", due.isoformat()))
    return ExtractedFact(
        text=text,
        category=category,
        subject=_subject(fields.get("subject")),
        attributes=attributes,
        tags=_tags(_first(fields, "tags", "related", "relatedTo", "related_to")),
        confidence=_confidence(fields.get("confidence")),
        importance=_importance(fields.get("importance")),
        evidence=_numbers(_first(fields, "evidence", "turns", "turn")),
        kind=_kind(fields.get("kind")),
        expires=_date(fields.get("expires")),
        verdicts=_verdicts(_first(fields, "verdicts", "relations")),
    )
