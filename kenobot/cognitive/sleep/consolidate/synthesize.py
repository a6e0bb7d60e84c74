"""Draw meta-beliefs: what several beliefs about one subject have in common, as a model that read them says.

Without a model nothing is concluded. A conclusion is linked to what it was drawn from, is drawn once, is never itself
drawn from, and does not outlive what it stands on.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from kenobot.cognitive.remember.conflicts import word_weight
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.pairs.near_pairs import join_pairs, near_pairs
from kenobot.cognitive.sleep.consolidate.pairs.pair_relation import has_same_words
from kenobot.cognitive.sleep.consolidate.profile import adds_claims
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change, LogEvent, expire
from kenobot.cognitive.sleep.plan.model_answers import find_object, one_line
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.sleep.plan.texts import system_prompt
from kenobot.cognitive.store import tiers
from kenobot.language.similarity import similarity
from kenobot.language.statements.statement_relation import relation
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

META = "meta"
_NOTHING = frozenset({"", "none", "null", "nothing"})
_PAIRS = 20_000  # the nearest that are looked at
_REMEMBERED = 500  # themes without a principle: the last
_QUOTED = 300  # characters of a belief that are shown


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask about each theme from which nothing was concluded yet."""
    return [_question(theme) for theme in new_themes(view)]


def plan(view: NightView) -> Iterator[Change]:
    """Expire what stands on nothing any more, and admit a meta-belief for each theme with a principle."""
    yield from _expire_unfounded(view)
    for theme in new_themes(view) if view.answers else []:
        readable, principle = parse_principle(view.answer(_question(theme)) or "")
        if principle is not None and _says_new(principle, theme):
            yield _conclude(view, principle, theme)
        elif readable:
            about = LogEvent({"records": [record.id for record in theme]})
            yield Change("pondered", Sentence("reasons.nothing_in_common", count=len(theme)), (about,))


def new_themes(view: NightView) -> list[list[Record]]:
    """Return groups of beliefs that are all near each other, the largest first, whatever order they came in.

    What was concluded or pondered already is left out, unless as many again have come as a theme needs.
    """
    policy = view.policy.consolidation
    themes = sorted(
        (theme for theme in _themes(view) if len(theme) >= policy.min_cluster),
        key=lambda theme: (-len(theme), -sum(record.importance for record in theme), theme[0].key),
    )
    before = [sources for _, sources in _metas(view)]
    before += [set(ids) for ids in pass_rows.list_pondered_themes(view.connection, _REMEMBERED)]
    fresh = (
        theme
        for theme in themes
        if not any(len({record.id for record in theme} - known) < policy.min_cluster for known in before)
    )
    return list(islice(fresh, policy.max_clusters))


def parse_principle(answer: str) -> tuple[bool, str | None]:
    """Return whether an answer can be read, and the principle in it; None when it says that there is none."""
    match find_object(answer):
        case {"principle": None}:
            return True, None
        case {"principle": str(text)}:
            plain = one_line(text)
            return True, None if plain.lower().strip(".") in _NOTHING else plain
    return False, None


def _themes(view: NightView) -> list[list[Record]]:
    """Return groups in which each is as near to every other as a theme asks for."""
    policy = view.policy.consolidation
    nearest = near_pairs(view, policy.theme_from, "themes")[:_PAIRS]
    home: dict[int, list[Record]] = {}

    def may_join(one: list[Record], other: list[Record]) -> bool:
        size = len(one) + len(other)
        near = (similarity(a.text, b.text) >= policy.theme_from for a in one for b in other)
        return size <= policy.max_cluster and (size == 2 or all(near))

    join_pairs((pair for pair in nearest if _counts(view, pair.one) and _counts(view, pair.other)), may_join, home)
    groups = {id(group): group for group in home.values()}
    return [sorted(group, key=lambda record: record.key) for group in groups.values()]


def _counts(view: NightView, record: Record) -> bool:
    """Return whether a record allows conclusions: a note that people said, and that is not disputed."""
    said = record.form == "note" and record.source != "sleep" and record.category != META
    return said and record.verification != "disputed" and word_weight(record, view.policy.admit) > 0


def _metas(view: NightView) -> list[tuple[Record, set[int]]]:
    """Return the meta-beliefs of any status, and what each was drawn from."""
    metas = pass_rows.records_of_form(view.connection, "note", META)
    return [(meta, tiers.list_derived_from(view.connection, meta.id)) for meta in metas]


def _conclude(view: NightView, principle: str, theme: Sequence[Record]) -> Change:
    policy, first = view.policy.consolidation, theme[0]
    ids = {record.id for record in theme}
    outgrown = [
        meta.id for meta, sources in _metas(view) if meta.status == "active" and sources and ids.issuperset(sources)
    ]
    candidate = Candidate(
        form="note",
        scope=first.scope,
        text=principle,
        category=META,
        source="sleep",
        trust="guest" if any(record.trust == "guest" for record in theme) else "model",
        subject="" if first.subject == "owner" else first.subject,
        confidence=view.policy.admit.inferred_from,  # as a guess it takes nothing away from what people said
        importance=max(record.importance for record in theme),
        action="store_note",
    )
    values = {"confidence": policy.meta_confidence, "stability": policy.meta_stability}
    learn = AdmitRecord(candidate, derived_from=tuple(sorted(ids)), supersedes=tuple(outgrown), values=values)
    return Change("concluded", Sentence("reasons.in_common", count=len(theme)), (learn,))


def _says_new(principle: str, theme: Sequence[Record]) -> bool:
    """Return whether a principle is none of the beliefs themselves, denies none of them and invents nothing."""
    texts = [record.text for record in theme]
    return not adds_claims(principle, texts) and all(
        relation(text, principle) == "independent" and not has_same_words(text, principle) for text in texts
    )


def _expire_unfounded(view: NightView) -> Iterator[Change]:
    least = view.policy.consolidation.min_cluster
    for meta, sources in _metas(view):
        concluded = meta.status == "active" and meta.source == "sleep" and meta.verification != "user_confirmed"
        if concluded and sources and len(pass_rows.live_facts(view.connection, sources)) < least:
            yield expire(meta, Sentence("reasons.conclusion_thin"), stamp(view.now), touch=True)


def _question(theme: Sequence[Record]) -> ModelQuestion:
    quoted = "\n".join(f"> {one_line(record.text, _QUOTED)}" for record in theme)
    return ModelQuestion(system_prompt("synthesize"), quoted, 200)


PASS = Pass("synthesize", "consolidate", "concludes what several memories have in common", plan, questions)
