"""Find first names that may stand for the one fuller name that begins with them: Laura, and Laura Gómez.

Both must be told of as people are, with no other fuller name of the same beginning and no second given name.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.store import records as store
from kenobot.language.fingerprint import OWNER_SUBJECT, normalize_name
from kenobot.language.lexicon import phrases, word_set
from kenobot.language.words import fold
from kenobot.ports.records import Record

_READ = 60  # records of a name that are read
_SECOND_NAMES = word_set("second_given_names")
_PERSONAL = word_set("personal_attributes")
_TOLD_OF = phrases("told_of_people")


def fuller_names(view: NightView, scope: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pair the first names of a scope with the fuller names that they may stand for."""
    beginning: dict[str, list[str]] = defaultdict(list)
    for name in names:
        first, _, rest = name.strip().partition(" ")
        if rest and name != OWNER_SUBJECT:
            beginning[fold(first)].append(name)
    pairs: list[tuple[str, str]] = []
    for name in names:
        fuller = beginning.get(fold(name), [])
        if len(fuller) != 1 or not name.isalpha() or fold(fuller[0].split()[1]) in _SECOND_NAMES:
            continue
        if all(_is_person(_records(view, scope, each)) for each in (name, fuller[0])):
            pairs.append((name, fuller[0]))
    return pairs


def _records(view: NightView, scope: str, name: str) -> list[Record]:
    ids = pass_rows.ids_about(view.connection, scope, name)[-_READ:]
    return list(store.by_ids(view.connection, ids, (scope,)).values())


def _is_person(about: Sequence[Record]) -> bool:
    """Return whether some record tells of its subject as of a person."""
    return any(
        not _PERSONAL.isdisjoint(map(normalize_name, record.attribute_map)) or _TOLD_OF.search(fold(record.text))
        for record in about
    )
