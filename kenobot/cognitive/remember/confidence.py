"""Classify the confidence of a record as a tier, and decide by it whether its first wording is kept as well."""

from typing import Literal

from kenobot.cognitive.policy.control import FilesPolicy
from kenobot.cognitive.policy.remember import AdmitPolicy

ConfidenceTier = Literal["explicit", "implied", "inferred", "speculative"]


def tier_of_confidence(confidence: float, policy: AdmitPolicy) -> ConfidenceTier:
    """Return what a confidence is worth: said, meant, concluded, or guessed."""
    if confidence >= policy.explicit_from:
        return "explicit"
    if confidence >= policy.implied_from:
        return "implied"
    return "inferred" if confidence >= policy.inferred_from else "speculative"


def is_worth_artifact(form: str, category: str, confidence: float, trust: str, policy: FilesPolicy) -> bool:
    """Return whether a record is kept word for word as well, as it was first said."""
    said = form in ("note", "episode") and trust in ("owner", "guest", "model")
    return said and category in policy.artifact_categories and confidence >= policy.artifact_confidence
