"""Propose patterns that proved themselves as skills, which other programs can read as well."""

import hashlib
from collections.abc import Iterator

from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import pattern_of
from kenobot.cognitive.sleep.plan.changes import ProposeChange
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.cognitive.store import records as store
from kenobot.language.words import fold
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.skills.names import name_of

_OWN = ("owner", "model")


def propose_skills(view: NightView, language: str) -> Iterator[ProposeChange]:
    """Propose each pattern of the owner's that worked often and failed seldom."""
    policy = view.policy.proposals
    counts = pattern_rows.outcome_counts(view.connection, policy.worked)
    found = store.by_ids(view.connection, sorted(counts), (OWNER_SCOPE,))
    for number, record in sorted(found.items()):
        pattern, (worked, failed) = pattern_of(record), counts[number]
        proved = failed <= policy.failed_share * (worked + failed)
        if pattern is None or record.status != "active" or record.trust not in _OWN or not proved:
            continue
        told = {"trigger": pattern.trigger, "response": pattern.response, "worked": worked, "tried": worked + failed}
        title, text, description, body = texts("skill", language, **told)
        name = name_of(fold(pattern.trigger), f"learned-{number}")
        key = f"skill:{hashlib.sha256(record.text.encode()).hexdigest()[:16]}"
        payload = {"name": name, "description": description, "body": body}
        yield ProposeChange(key, "skill", title, text, payload, {"records": [number]})
