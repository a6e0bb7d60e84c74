"""Find first names that stand for the one fuller name that begins with them: Laura, and Laura Gómez.

Both must be told of as people are, and nothing may speak against it: another fuller name with the same beginning, a
second given name, or two values of what a person has one of.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kenobot.cognitive.remember.attribute_statements import is_single_valued
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.fingerprint import OWNER_SUBJECT, is_same_or_more_exact, normalize_name
from kenobot.cognitive.text.lexicon import phrases, word_set
from kenobot.cognitive.text.words import fold

_READ = 60  # records of a name that are read
_SECOND_NAMES = word_set("second_given_names")
_PERSONAL = word_set("personal_attributes")
_TOLD_OF = phrases("told_of_people")


def fuller_names(view: NightView, scope: str, names: Iterable[str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Map the first names of a scope to the fuller names that they surely stand for; and pairs that may be one."""
    beginning: dict[str, list[str]] = defaultdict(list)
    for name in names:
        first, _, rest = name.strip().partition(" ")
        if rest and name != OWNER_SUBJECT:
            beginning[fold(first)].append(name)
    sure: dict[str, str] = {}
    open_pairs: list[tuple[str, str]] = []
    for name in names:
        fuller = beginning.get(fold(name), [])
        if len(fuller) != 1 or not name.isalpha() or fold(fuller[0].split()[1]) in _SECOND_NAMES:
            continue
        told = {each: _records(view, scope, each) for each in (name, fuller[0])}
        if not all(map(_is_person, told.values())) or _was_undone(view, told[name], fuller[0]):
            continue
        if _at_odds(*told.values()):
            open_pairs.append((name, fuller[0]))
        else:
            sure[name] = fuller[0]
    return sure, open_pairs


def _records(view: NightView, scope: str, name: str) -> list[Record]:
    ids = pass_rows.ids_about(view.connection, scope, name)[-_READ:]
    return list(store.by_ids(view.connection, ids, (scope,)).values())


def _is_person(about: Sequence[Record]) -> bool:
    """Return whether some record tells of its subject as of a person."""
    return any(
        not _PERSONAL.isdisjoint(map(normalize_name, record.attribute_map)) or _TOLD_OF.search(fold(record.text))
        for record in about
    )


def _at_odds(one: Sequence[Record], other: Sequence[Record]) -> bool:
    """Return whether live records give two values of what a person has one of."""
    here, there = _values(one), _values(other)
    return any(not is_same_or_more_exact(here[name], there[name]) for name in here.keys() & there.keys())


def _values(about: Sequence[Record]) -> Mapping[str, str]:
    return {
        normalize_name(name): value
        for record in about
        if record.status == "active"
        for name, value in record.attribute_map.items()
        if name != "by" and normalize_name(name) != "name" and is_single_valued(name)
    }


def _was_undone(view: NightView, about: Sequence[Record], fuller: str) -> bool:
    return any(pass_rows.was_reverted(view.connection, record.id, "subject", fuller) for record in about)
