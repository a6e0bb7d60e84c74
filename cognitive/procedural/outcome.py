"""Learn from the person's next words whether a pattern worked this time.

Only a short message that says so plainly counts, and only for a pattern whose response the reply has used. What was
judged once is not judged again for the same reply.
"""

import re
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Literal

from kenobot.cognitive.beliefs.value import clamp
from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import Pattern, keyword_coverage, pattern_of
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ChangeContext, change
from kenobot.cognitive.store.scopes import Scopes
from kenobot.cognitive.text.calendar import parse_time
from kenobot.cognitive.text.lexicon import load_phrases
from kenobot.cognitive.text.words import fold
from kenobot.ports.identity import Principal
from kenobot.storage.connection import Connection

Outcome = Literal["worked", "failed"]

_LONGEST = 240  # characters; a longer message is about something else
_SENTENCE = re.compile(r"[.;!¡\n…—–]+")
_BUT = re.compile(r"(?:but|pero|though|aunque|except|salvo|sin embargo|however)\b")
_PHRASES = {
    kind: re.compile(rf"\b(?:{pattern})\b")
    for kind, pattern in load_phrases("kenobot.cognitive.procedural", "outcome.toml").items()
}
_YES = re.compile(r"\A(?:si|yes|yep|ok|vale)\s*[,.!]\s*")
_WISH = re.compile(
    r"\b(?:if|si|when|cuando|hope|espero|ojala|should|deberia|will|would|might|puede que|quiza|maybe|let's see|a ver)\b"
)


def folded_reply(text: str) -> str | None:
    """Fold a short reply for matching; None for a long text, a quotation or an empty one."""
    folded = fold(text).replace("’", "'").strip()
    return folded if folded and len(folded) <= _LONGEST and folded[0] not in '"«“>' else None


def is_too_old(moment: str, at: datetime, hours: float) -> bool:
    """Tell whether a reply of that moment is too long ago for what is said `at` to be about it."""
    when = parse_time(moment)
    return when is None or at - when > timedelta(hours=hours)


def detect_outcome(text: str) -> Outcome | None:
    """Detect what `text`, in Spanish or English, says of how the last advice did; None for nothing. Pure."""
    found: set[Outcome] = set()
    for sentence in _SENTENCE.split(_YES.sub("", folded_reply(text) or "", count=1)):
        if "?" in sentence or _WISH.search(sentence):
            continue
        if _PHRASES["failed"].search(sentence):
            found.add("failed")
        elif _PHRASES["worked"].search(sentence):
            found.add("failed" if _BUT.search(sentence) and "still" in sentence else "worked")
    return found.pop() if len(found) == 1 else None


def apply_outcome(
    connection: Connection,
    session: str,
    text: str,
    principal: Principal,
    at: datetime,
    judged: Collection[int] = (),
    policy: ProceduralPolicy = DEFAULT,
) -> list[int]:
    """Count what `text` says of how the patterns of the session's last replies did, inside the turn's transaction.

    To be called before the turn itself is written. judged: records that the same message was about already. Returns the
    patterns whose confidence has moved. A guest speaks for what they could see, which is what was shown.
    """
    heard = detect_outcome(text) if principal.trust in ("owner", "guest") else None
    if heard is None:
        return []
    for trial in pattern_rows.recent_replies(connection, session, policy.max_trials):
        if is_too_old(trial.at, at, policy.trial_hours):
            break
        meant = [
            pattern
            for pattern in _shown(connection, trial.records, principal.read_scopes)
            if keyword_coverage(pattern.response, trial.reply) >= policy.used_from_share
        ]
        if not meant:
            continue
        moved = [p for p in meant if p.id not in judged and not pattern_rows.has_outcome(connection, p.id, trial.inbox)]
        act = ChangeContext(at, principal.role, f"they said: {text.strip()[:80]}", session)
        for pattern in moved:
            _move(connection, pattern, heard, trial.inbox, act, policy)
        return [pattern.id for pattern in moved]
    return []


def _shown(connection: Connection, records: Collection[int], reach: Scopes) -> list[Pattern]:
    found = store.by_ids(connection, list(records), reach)
    live = [pattern_of(found[number]) for number in records if number in found and found[number].status == "active"]
    return [pattern for pattern in live if pattern is not None]


def _move(
    connection: Connection, pattern: Pattern, heard: Outcome, inbox: int, act: ChangeContext, policy: ProceduralPolicy
) -> None:
    """Let an outcome move a pattern's confidence; that it happened is told even where nothing is left to move."""
    step = policy.gain_when_worked if heard == "worked" else -policy.loss_when_failed
    confidence = round(clamp(pattern.confidence + step), 6)
    # No frame shows patterns, so the prompts that stand need not be made anew.
    change(connection, pattern.record, heard, {"confidence": confidence}, act, shown=False, data={"inbox": inbox})
