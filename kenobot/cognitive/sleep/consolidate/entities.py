"""Join entities in fragments: records about two spellings of one name, or about a name and its alias.

Only what is surely one is joined: the same letters and digits, or an alias of one subject alone. A first name beside
the one fuller name that begins with it, and names that are merely near, Jane Roe and Jane Rowe, are proposed to the
owner; another digit or script is another name.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change, ProposeChange, UpdateRecord
from kenobot.cognitive.sleep.plan.model_answers import one_line
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.cognitive.store import proposals as proposal_store
from kenobot.cognitive.store import records, term_index
from kenobot.language.fingerprint import OWNER_SUBJECT, normalize_name
from kenobot.language.lexicon import phrases, word_set
from kenobot.language.words import fold
from kenobot.ports.json_value import Json
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence

_KIND = "merge_entities"
_AT_ONCE = 200  # records of one change
_SHOWN = 2  # things about each name that a proposal quotes
_QUOTED = 120  # characters of each
_READ = 60  # records of a name that are read
_SECOND_NAMES = word_set("second_given_names")
_PERSONAL = word_set("personal_attributes")
_TOLD_OF = phrases("told_of_people")


def plan(view: NightView) -> Iterator[Change]:
    """Join each fragment with its entity, and propose to join a few near names."""
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for scope, subject, count in pass_rows.count_by_subject(view.connection):
        counts[scope][subject] = count
    proposals: list[tuple[int, str, str, str]] = []
    for scope, names in sorted(counts.items()):
        heads = _heads(view, scope, names)
        for old, new in sorted(heads.items()):
            yield from rename_subject(view, scope, old, new)
        left = {name: count for name, count in names.items() if name not in heads}
        near = similar_names(left, view.policy.consolidation.min_name_letters)
        for one, other in (*_pair_first_names(view, scope, left), *near):
            proposals.append((-min(left[one], left[other]), scope, one, other))
    yield from _propose(view, sorted(proposals))


def rename_subject(view: NightView, scope: str, old: str, new: str) -> Iterator[Change]:
    """File everything about subject `old` of a scope under `new`."""
    same = normalize_name(old).replace("-", "") == normalize_name(new).replace("-", "")
    reason = Sentence("reasons.same_name") if same else Sentence("reasons.known_name")
    about = pass_rows.ids_about(view.connection, scope, old)
    for start in range(0, len(about), _AT_ONCE):
        chunk = about[start : start + _AT_ONCE]
        edits = tuple(UpdateRecord(number, {"subject": new}, {"subject": old}) for number in chunk)
        yield Change("joined", reason, edits, chunk[0])


def similar_names(names: Mapping[str, int], least: int) -> list[tuple[str, str]]:
    """Pair names of at least `least` letters that differ in one, missing, added, replaced or swapped; sorted.

    Names are found by what is left of them without one letter: the work grows with the letters, not with the pairs.
    """
    holes: dict[str, set[str]] = defaultdict(set)
    for name in names:
        if sum(map(str.isalpha, name)) >= least:
            for rest in {name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}:
                holes[rest].add(name)
    return sorted({pair for near in holes.values() for pair in combinations(sorted(near), 2) if _are_alike(*pair)})


def _are_alike(one: str, other: str) -> bool:
    """Return whether two names equal but for one letter differ in no digit or script, and in one place."""
    if _digits_and_scripts(one) != _digits_and_scripts(other):
        return False
    if len(one) != len(other):
        return True
    places = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    swapped = len(places) == 2 and places[1] == places[0] + 1 and one[places[0]] == other[places[1]]
    return len(places) == 1 or (swapped and one[places[1]] == other[places[0]])


def _digits_and_scripts(name: str) -> tuple[str, set[str]]:
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in name if char.isalpha()}
    return "".join(filter(str.isnumeric, name)), scripts


def _pair_first_names(view: NightView, scope: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pair the first names of a scope with the one fuller name that each may stand for: Laura, and Laura Gómez.

    Both must be told of as people are, with no other fuller name of the same beginning and no second given name.
    """
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
    return list(records.by_ids(view.connection, ids, (scope,)).values())


def _is_person(about: Sequence[Record]) -> bool:
    """Return whether some record tells of its subject as of a person."""
    return any(
        not _PERSONAL.isdisjoint(map(normalize_name, record.attribute_map)) or _TOLD_OF.search(fold(record.text))
        for record in about
    )


def _heads(view: NightView, scope: str, names: Mapping[str, int]) -> dict[str, str]:
    """Return the names of a scope that go under another one, each with that one."""
    spelled: dict[str, list[str]] = defaultdict(list)
    for name in names:
        spelled[normalize_name(name).replace("-", "")].append(name)
    heads: dict[str, str] = {}
    for plain, same in spelled.items():
        known = {subject for name in same for subject in term_index.subjects_by_name(view.connection, scope, name)}
        alias = known.pop() if len(known) == 1 and known.isdisjoint(same) else None
        if alias is not None and (alias == OWNER_SUBJECT or alias in names):
            heads.update(dict.fromkeys(same, alias))
        elif plain:
            head = max(same, key=lambda name: (names[name], " " in name, name))
            heads.update((name, head) for name in same if name != head)
    return {old: new for old in heads if (new := _last(heads, old)) != old}


def _last(heads: Mapping[str, str], name: str) -> str:
    """Return the end of a chain of names; a circle ends at the least of it."""
    seen = [name]
    while (following := heads.get(seen[-1])) is not None:
        if following in seen:
            return min(seen[seen.index(following) :])
        seen.append(following)
    return seen[-1]


def _propose(view: NightView, pairs: Sequence[tuple[int, str, str, str]]) -> Iterator[Change]:
    room = view.policy.proposals.max_pending - proposal_store.count_pending(view.connection)
    left = min(view.policy.consolidation.max_near_names, room)
    for _, scope, one, other in pairs:
        key = f"{_KIND}:{scope}:{one}:{other}"
        if left > 0 and not proposal_store.was_proposed(view.connection, key):
            left -= 1
            yield Change("proposed", Sentence("reasons.names_may_be_one"), (_proposal(view, key, scope, one, other),))


def _proposal(view: NightView, key: str, scope: str, one: str, other: str) -> ProposeChange:
    ids = {name: pass_rows.ids_about(view.connection, scope, name) for name in (one, other)}
    kept, gone = sorted(ids, key=lambda name: (-len(ids[name]), name))
    shown = [number for name in (kept, gone) for number in ids[name][-_SHOWN:]]
    quoted = records.by_ids(view.connection, shown, (scope,)).values()
    lines = "\n".join(f"- {record.subject}: {one_line(record.text, _QUOTED)}" for record in quoted)
    language = pass_rows.language_about(view.connection, *quoted)
    title, text = texts(_KIND, language, gone=gone, kept=kept, quoted=lines)
    payload: dict[str, Json] = {"scope": scope, "from": gone, "into": kept}
    evidence = {"records": list[Json](shown)}
    return ProposeChange(key, _KIND, title, text, payload, evidence)


PASS = Pass("entities", "consolidate", "files what is about one person or thing under one name", plan)
