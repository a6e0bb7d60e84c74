"""`python -m bench.state_cues`: derive from the patterns of states and events the texts of which a match has one.

A statement without any of a pattern's cues cannot match it, so it is neither compiled nor tried for it. The cues stand
in cognitive/remember/extract/state_cues.json; a test says that they are those of the patterns.
"""

import json
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kenobot.cognitive.remember.extract import states

FILE = Path(states.__file__).with_name("state_cues.json")
_SHORTEST = 3  # characters of a cue that tells anything
_MOST = 64  # strings of one cue


def main() -> None:
    """Write the cues."""
    lines = ",\n".join(json.dumps(cues, ensure_ascii=False) for cues in derive())
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


def derive() -> list[list[str]]:
    """Derive the cues of each pattern, in their order; none where they cannot be told."""
    return [sorted(_cues(parser.parse(text)) or ()) for text in states.pattern_texts()]


def _cues(parsed: Iterable[Any]) -> frozenset[str] | None:
    """Return strings of which each match holds one: of those that can be told, the most telling; None for none."""
    found: list[frozenset[str]] = []
    run = frozenset({""})
    for code, argument in parsed:
        texts = _texts(code, argument)
        if texts is not None and len(run) * len(texts) <= _MOST:
            run = frozenset(one + other for one in run for other in texts)
            continue
        found.append(run)
        run = frozenset({""}) if texts is None or len(texts) > _MOST else texts
        inner = _inner(code, argument)
        if inner is not None:
            found.append(inner)
    found.append(run)
    telling = [cues for cues in found if min(map(len, cues)) >= _SHORTEST]
    return max(telling, key=lambda cues: (min(map(len, cues)), -len(cues)), default=None)


def _texts(code: object, argument: Any) -> frozenset[str] | None:
    """Return all strings that a part of a pattern matches, where these are few and plain."""
    if code is codes.LITERAL:
        return frozenset({chr(argument)})
    if code is codes.SUBPATTERN:
        return _all_texts(argument[3])
    if code is codes.BRANCH:
        each = [_all_texts(branch) for branch in argument[1]]
        return frozenset().union(*(texts for texts in each if texts is not None)) if None not in each else None
    return None


def _all_texts(parsed: Iterable[Any]) -> frozenset[str] | None:
    whole = frozenset({""})
    for code, argument in parsed:
        texts = _texts(code, argument)
        if texts is None or len(whole) * len(texts) > _MOST:
            return None
        whole = frozenset(one + other for one in whole for other in texts)
    return whole


def _inner(code: object, argument: Any) -> frozenset[str] | None:
    if code is codes.SUBPATTERN:
        return _cues(argument[3])
    if code is codes.ATOMIC_GROUP:
        return _cues(argument)
    if code is codes.BRANCH:
        each = [_cues(branch) for branch in argument[1]]
        return frozenset().union(*(cues for cues in each if cues is not None)) if None not in each else None
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT) and argument[0] >= 1:
        return _cues(argument[2])
    return None


if __name__ == "__main__":
    main()
