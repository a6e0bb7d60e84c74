"""When two texts are the same words."""

from kenobot.language.fingerprint import key_of, normalise
from tests.conformance.cases import Case, Outcome, compare


def same_key(case: Case) -> Outcome:
    return compare(case, key_of(case.input["a"]) == key_of(case.input["b"]))


def normalised(case: Case) -> Outcome:
    text = case.input["content"]
    return compare(case, {"normalized": normalise(text), "sha256": key_of(text)})
