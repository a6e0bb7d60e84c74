"""Word sentences by key: the catalogues `errors.en.toml` and `errors.es.toml`, which have the same keys.

They are read when the first one is worded.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Literal

Language = Literal["en", "es"]
Translate = Callable[[str], str]


@cache  # bounded: the two languages; start
def read_catalogue(language: Language) -> Mapping[str, str]:
    """Read the sentences of a language by their keys, such as `home.empty`."""
    text = resources.files(__package__).joinpath(f"errors.{language}.toml").read_text("utf-8")
    sections: dict[str, dict[str, str]] = tomllib.loads(text)
    return {f"{section}.{name}": sentence for section, each in sections.items() for name, sentence in each.items()}


def word(key: str, values: Mapping[str, object], language: Language, translate: Translate) -> str:
    """Word the sentence of a key with values in its places. What no catalogue has stays as it is.

    translate: for the values that the sentence marks as words, such as what the operating system says.
    """
    sentence = read_catalogue(language).get(key)
    if sentence is None:
        return key
    return sentence.format(**{name: _Value(value, language, translate) for name, value in values.items()})


class _Value:
    """A value in a sentence; `{name:t}` translates it."""

    def __init__(self, value: object, language: Language, translate: Translate) -> None:
        self._value, self._language, self._translate = value, language, translate

    def __format__(self, spec: str) -> str:
        value = self._value
        if isinstance(value, Worded):
            return value.render(self._language, self._translate)
        text = _word_system(value) if isinstance(value, OSError) else str(value)
        return self._translate(text) if spec == "t" else text


def _word_system(error: OSError) -> str:
    """Word what the operating system says, without numbers, as a part of a sentence."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


class Worded:
    """Has a sentence by its key and the values of that."""

    key: str
    values: Mapping[str, object]

    def render(self, language: Language, translate: Translate = str) -> str:
        """Word it in a language. translate: see `word`."""
        return word(self.key, self.values, language, translate)
