"""Find what a turn says that is not extracted yet, and make memories of it at once, so that it can be forgotten."""

from zoneinfo import ZoneInfo

from kenobot.cognitive.control.find import word_overlap
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.remember.fact_candidates import ExtractedBatch, build_candidates
from kenobot.language.calendar import local_day
from kenobot.language.facts import heuristic
from kenobot.language.provenance import without_quotes
from kenobot.language.sentences import split_sentences
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.names import sanitize_name
from kenobot.ports.turns import UnextractedTurn
from kenobot.storage.connection import Connection

_POLICY = DEFAULT.control


def find_unextracted(
    connection: Connection, wanted: str, session: str, reach: tuple[str, ...]
) -> UnextractedTurn | None:
    """Find the pending turn of a conversation that says most of `wanted`, the newest of equal ones."""
    best: UnextractedTurn | None = None
    for turn in reversed(buffer.newest_pending_turns(connection, session, _POLICY.max_unextracted_turns)):
        if turn.hidden or turn.inbox_id is None or turn.scope not in reach or turn.trust not in ("owner", "guest"):
            continue
        own = without_quotes(turn.text).strip()
        said = word_overlap(wanted, own)
        if said >= _POLICY.match_from_share and (best is None or said > best.overlap):
            best = UnextractedTurn(turn, _choose_sentences(wanted, own), said)
    return best


def admit_unextracted(
    connection: Connection,
    said: UnextractedTurn,
    wanted: str,
    order: AdmitContext,
    zone: ZoneInfo,
) -> int | None:
    """Admit what is meant, and what else its turn tells; returns the record of the former, None if it was refused."""
    turn = said.turn
    assert turn.inbox_id is not None
    rest = [
        fact
        for fact in heuristic.extract_facts(without_quotes(turn.text), turn.at.astimezone(zone).date())
        if word_overlap(wanted, fact.text) < _POLICY.match_from_share
    ]
    batch = ExtractionBatch((turn,), (), order.at.astimezone(zone).date())
    for candidate, occasion in build_candidates(
        ExtractedBatch(order.session, batch, tuple(rest), order.at, zone, order.policy)
    ):
        admit(connection, candidate, occasion)
    form: Form = "episode" if turn.scope.startswith("chat:") else "note"
    told = Candidate(
        form, turn.scope, said.text, source="extraction", trust=turn.trust, evidence=(turn.inbox_id,),
        subject=sanitize_name(turn.speaker), by_rules=True,
    )  # fmt: skip
    day = local_day(turn.at, zone)
    when = AdmitContext(
        order.at, day, order.actor, order.session, turn.inbox_id, order.policy, turn.at, order.speaker_name
    )
    return admit(connection, told, when).record


def _choose_sentences(wanted: str, text: str) -> str:
    """Return the sentences of a text that share words with `wanted`."""
    sentences = [each.strip() for each in split_sentences(text, clauses=False) if each.strip()]
    return " ".join(each for each in sentences if word_overlap(wanted, each) > 0) or text
