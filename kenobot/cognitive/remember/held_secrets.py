"""Find what a candidate holds that is not to be remembered: passwords, numbers of cards."""

from kenobot.core import redaction
from kenobot.language.fingerprint import attribute_line
from kenobot.language.told_secrets import find_told_secret
from kenobot.ports.memory import KEPT_ON_YES, Candidate

OWN_SOURCES = ("command", "edit")
_NOTED_SOURCES = ("tag", "extraction")


def find_secret(candidate: Candidate, text: str) -> str | None:
    """Return the kind of secret that a candidate holds, in whatever part of it; None when it may be kept.

    Of what is only noted, by rules or by a model, more counts than of an order: there the person means what they say.
    """
    if KEPT_ON_YES in candidate.tags and candidate.source in OWN_SOURCES:
        return None
    find = find_told_secret if candidate.source in _NOTED_SOURCES else redaction.find_secret
    parts = (text, candidate.subject, attribute_line(candidate.attributes), *candidate.tags)
    return next((kind for part in parts if (kind := find(part)) is not None), None)
