"""The JSON in what a model answers, wherever it stands: before it, after it and around it models like to talk."""

import json
import re
from collections.abc import Iterator

_TRIES = 50
_OPENER = re.compile(r"\{")


def objects(answer: str) -> Iterator[dict[str, object]]:
    """Every JSON object in an answer, and every one within another, in the order they begin; the first fifty tries."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_TRIES):
        opener = _OPENER.search(answer, at)
        if opener is None:
            return
        at = opener.end()
        try:
            value, _end = decoder.raw_decode(answer, opener.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
