"""Find the JSON values in a model's answer."""

import json
import re
from collections.abc import Iterator

from kenobot.core import lazy

_OBJECT = lazy.regex(r"\{")
_OBJECT_OR_ARRAY = lazy.regex(r"[\[{]")


def json_objects(answer: str) -> Iterator[dict[str, object]]:
    """Find every JSON object in an answer, and every one within another, in the order they begin.

    The first fifty tries.
    """
    for value in _values(answer, _OBJECT, tries=50, nested=True):
        if isinstance(value, dict):
            yield value


def outermost_json_values(answer: str) -> Iterator[object]:
    """Find every JSON object and array that stands in no other.

    Of one that is cut the whole ones inside it; 500 tries.
    """
    return _values(answer, _OBJECT_OR_ARRAY, tries=500, nested=False)


def _values(answer: str, opener: re.Pattern[str], *, tries: int, nested: bool) -> Iterator[object]:
    decoder, at = json.JSONDecoder(), 0
    for _ in range(tries):
        found = opener.search(answer, at)
        if found is None:
            return
        at = found.end()
        try:
            value, end = decoder.raw_decode(answer, found.start())
        except (ValueError, RecursionError):
            continue
        if not nested:
            at = end
        yield value
