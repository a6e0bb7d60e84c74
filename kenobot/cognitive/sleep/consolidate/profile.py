"""Write the behavioural profile: how the owner likes things and what they are used to do, on one page of few lines.

It is made of the owner's own preferences, principles, habits and skills, and takes nothing from them: they stay, and
the profile is linked to each. A model may put several of them into one line; what it adds is left out again, and what
no line covers stands as it is.
"""

from collections.abc import Iterator, Sequence

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.pairs.pair_relation import has_same_words
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change, expire
from kenobot.cognitive.sleep.plan.model_answers import find_object, one_line
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.sleep.plan.texts import system_prompt
from kenobot.cognitive.store import records, tiers
from kenobot.core import redaction
from kenobot.language.fingerprint import normalise
from kenobot.language.statements.statement_relation import parse_statement, repeat_veto
from kenobot.language.words import fold, terms
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

SLOT = "person"
_CATEGORIES = ("preference", "principle", "habit", "skill")
_LONGEST = 240  # characters of a line
_WITHIN = 20  # characters above which a line may stand within another
_MOSTLY = 0.6  # share of the longer line that it must be more than
_SHARED = 0.5  # of the words of a model's line that must stand in what it was made of


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask how the fragments read as one page, when they are not what the profile was made of."""
    parts = profile_sources(view)
    enough = len(parts) >= view.policy.consolidation.min_profile_fragments
    return [_question(parts)] if enough and not _stands(view, parts) else []


def plan(view: NightView) -> Iterator[Change]:
    """Write the profile anew where its fragments changed; expire it where too few are left."""
    parts = profile_sources(view)
    current = records.slot_record(view.connection, OWNER_SCOPE, "profile", SLOT)
    if len(parts) < view.policy.consolidation.min_profile_fragments:
        if current is not None and current.source == "sleep":
            yield expire(current, Sentence("reasons.profile_thin"), stamp(view.now), touch=True)
        return
    if _stands(view, parts):
        return
    candidate = Candidate(
        form="profile",
        scope=OWNER_SCOPE,
        text="\n".join(f"- {line}" for line in page_lines(view, parts)),
        category="profile",
        source="sleep",
        trust="model",
        slot=SLOT,
        importance=max(part.importance for part in parts),
    )
    learn = AdmitRecord(candidate, derived_from=tuple(part.id for part in parts))
    record = current.id if current is not None else None
    yield Change("profiled", Sentence("reasons.sums_up", count=len(parts)), (learn,), record)


def profile_sources(view: NightView) -> list[Record]:
    """Return the fragments of the profile, the most important first, without repetitions and strangers' words."""
    limit = view.policy.consolidation.max_profile_fragments
    parts: list[Record] = []
    for record in pass_rows.notes_of_categories(view.connection, OWNER_SCOPE, _CATEGORIES, limit):
        if record.verification == "disputed" or record.trust not in ("owner", "model"):
            continue
        repeated = next((at for at, part in enumerate(parts) if is_repetition(part.text, record.text)), None)
        if repeated is None:
            parts.append(record)
        elif len(normalise(record.text)) > len(normalise(parts[repeated].text)):
            parts[repeated] = record  # said more fully
    return parts


def is_repetition(one: str, other: str) -> bool:
    """Return whether two lines of the page say the same: equal but for marks and stop words, or one within the other.

    A line within another is some words long and most of it; a number, a date or a denial more is another statement.
    """
    short, long = sorted((f" {normalise(line)} " for line in (one, other)), key=len)
    if short == long or has_same_words(one, other):
        return bool(short.strip())
    if short not in long or len(short.strip()) <= max(_WITHIN, _MOSTLY * len(long.strip())):
        return False
    a, b = parse_statement(one), parse_statement(other)
    return (a.numbers, a.dates) == (b.numbers, b.dates) and not repeat_veto(one, other, read=True)


def page_lines(view: NightView, parts: Sequence[Record]) -> list[str]:
    """Return the lines of the page, as many as the policy allows."""
    lines = _read(view.answer(_question(parts)) or "", parts)
    covered = {number for _, numbers in lines for number in numbers}
    lines += [(one_line(part.text, _LONGEST), (at,)) for at, part in enumerate(parts, 1) if at not in covered]
    lines.sort(key=lambda line: min(line[1]))
    return [text for text, _ in lines[: view.policy.consolidation.max_profile_lines]]


def _stands(view: NightView, parts: Sequence[Record]) -> bool:
    """Return whether the current profile was made of just these fragments, as they are."""
    current = records.slot_record(view.connection, OWNER_SCOPE, "profile", SLOT)
    if current is None:
        return False
    sources, since = tiers.list_derived_from(view.connection, current.id), current.updated
    gone = records.by_ids(view.connection, sorted(sources - {part.id for part in parts}), (OWNER_SCOPE,))
    unchanged = all(part.updated <= since and part.id in sources for part in parts)
    return unchanged and all(record.status != "active" and (record.valid_to or "") < since for record in gone.values())


def _question(parts: Sequence[Record]) -> ModelQuestion:
    text = "\n".join(f"{number}.\n> {one_line(part.text, _LONGEST)}" for number, part in enumerate(parts, 1))
    return ModelQuestion(system_prompt("profile"), text, 200 + 60 * len(parts))


def _read(answer: str, parts: Sequence[Record]) -> list[tuple[str, tuple[int, ...]]]:
    """Read the lines of an answer that say what their fragments say, with the numbers of those; each fragment once."""
    read = find_object(answer)
    items = read.get("lines") if read is not None else None
    lines: list[tuple[str, tuple[int, ...]]] = []
    used: set[int] = set()
    for item in items if isinstance(items, list) else []:
        match item:
            case {"text": str(text), "from": list(numbers)} if text.strip() and numbers:
                chosen = [n for n in numbers if type(n) is int and 1 <= n <= len(parts) and n not in used]
                if len(chosen) == len(numbers) and is_supported(text, [parts[n - 1].text for n in chosen]):
                    used.update(chosen)
                    lines.append((one_line(text, _LONGEST), tuple(chosen)))
    return lines


def is_supported(text: str, sources: Sequence[str]) -> bool:
    """Return whether a sentence sums others up, as far as words tell.

    It invents nothing, leaves out no number, date or denial of theirs, and half of its words are theirs.
    """
    if adds_claims(text, sources):
        return False
    summary, parts = parse_statement(text), [parse_statement(source) for source in sources]
    if summary.negative != any(part.negative for part in parts):
        return False
    if {*summary.numbers} != {n for part in parts for n in part.numbers}:
        return False
    if {*summary.dates} != {day for part in parts for day in part.dates}:
        return False
    own, theirs = set(terms(text)), {term for source in sources for term in terms(source)}
    return bool(own) and len(own & theirs) >= _SHARED * len(own)


def adds_claims(text: str, sources: Sequence[str]) -> bool:
    """Return whether a sentence has a number, date or name of no source, holds a secret or is long."""
    summary, parts = parse_statement(text), [parse_statement(source) for source in sources]
    folded = fold(" ".join(sources))
    return (
        len(text) > _LONGEST
        or redaction.find_secret(text) is not None
        or bool(summary.numbers - {number for part in parts for number in part.numbers})
        or bool(summary.dates - {day for part in parts for day in part.dates})
        or any(name not in folded for name in summary.names)
    )


PASS = Pass("profile", "consolidate", "sums up how the owner likes things", plan, questions)
