"""Word sentences by key: the catalogues `errors.en.toml` and `errors.es.toml`, which have the same keys.

They are read when the first one is worded. A sentence that is no error's may be its own key, in English with places for
its values; then `translate` has its other languages.
"""

import errno
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from string import Formatter
from typing import Any, Literal

Language = Literal["en", "es"]
Translate = Callable[[str], str]

_KEY = re.compile(r"[a-z_]+\.\w+")
_LONGEST = 500  # characters of a sentence that is recognised
_SPEC = re.compile(r"t|g|\.\df|[^{}|]+\|[^{}|]+|")


def read_catalogue(language: Language) -> Mapping[str, str]:
    """Read the sentences of a language by their keys, such as `home.empty`."""
    sections = {section: _read_section(language, section) for section in _read_texts(language)}
    return {f"{section}.{name}": sentence for section, each in sections.items() for name, sentence in each.items()}


def find_sentence(key: str, language: Language) -> str | None:
    """Find the sentence of a key in a language; None where the catalogues have none."""
    if not _KEY.fullmatch(key):
        return None
    section, _, name = key.partition(".")
    return _read_section(language, section).get(name)


@cache  # bounded: the two languages; start
def _read_texts(language: Language) -> Mapping[str, str]:
    """Read the sections of a catalogue: a whole one takes as long to parse as all else of a short command."""
    text = resources.files(__package__).joinpath(f"errors.{language}.toml").read_text("utf-8")
    return {table.partition("]")[0]: f"[{table}" for table in text.split("\n[")[1:]}


@cache  # bounded: the sections of two languages; start
def _read_section(language: Language, section: str) -> Mapping[str, str]:
    found: dict[str, dict[str, str]] = tomllib.loads(_read_texts(language).get(section, ""))
    return found.get(section, {})


def word(key: str, values: Mapping[str, object], language: Language, translate: Translate = str) -> str:
    """Word the sentence of a key with values in its places. What no catalogue has stays as it is.

    translate: returns the template of a sentence that is its own key, and the words that a sentence marks as such.
    """
    known = find_sentence(key, language)
    template = translate(key) if known is None else known
    if not values:
        return template
    return template.format(**{name: _Value(value, language, translate) for name, value in values.items()})


class Sentence(str):
    """An English sentence that keeps its key and values, by which other languages word it.

    key: of the catalogues; or the English sentence itself, with places for the values.
    """

    key: str
    values: Mapping[str, object]

    def __new__(cls, key: str, /, **values: object) -> "Sentence":
        sentence = super().__new__(cls, word(key, values, "en"))
        sentence.key, sentence.values = key, values
        return sentence

    def __str__(self) -> "Sentence":
        return self

    def render(self, language: Language, translate: Translate = str) -> str:
        """Word it in a language. translate: see `word`."""
        return word(self.key, self.values, language, translate)


class Worded:
    """Has a sentence by its key and the values of that."""

    key: str
    values: Mapping[str, object]

    @property
    def sentence(self) -> Sentence:
        """Return its sentence."""
        return Sentence(self.key, **self.values)

    def render(self, language: Language, translate: Translate = str) -> str:
        """Word it in a language. translate: see `word`."""
        return word(self.key, self.values, language, translate)


def render(text: str, language: Language, translate: Translate = str) -> str:
    """Word a text in a language by its key; one without stays as `translate` has it."""
    return text.render(language, translate) if isinstance(text, Sentence) else translate(text)


def join_sentences(parts: Iterable[str], between: str = "\n") -> str:
    """Join sentences to one that can still be worded in other languages."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    return Sentence(between.join(f"{{{name}}}" for name in values), **values)


def split_sentences(text: str) -> list[str]:
    """Split what `join_sentences` joined by lines into its sentences; any other text into its lines."""
    if isinstance(text, Sentence) and text.key == "\n".join(f"{{{name}}}" for name in text.values):
        return [str(part) for part in text.values.values()]
    return text.splitlines() if "\n" in text else [text]


def change_values(text: str, change: Callable[[str], str]) -> str:
    """Change the values of a sentence, such as by redaction, in which its key is kept; a plain text as a whole."""
    if not isinstance(text, Sentence):
        return change(text)
    values = text.values.items()
    return Sentence(text.key, **{name: change_values(v, change) if isinstance(v, str) else v for name, v in values})


def join_lines(text: str) -> str:
    """Put a text on one line; of a sentence, its values."""
    return change_values(text, lambda each: re.sub(r"\s+", " ", each))


def hide_mark(text: str) -> str:
    """Return a sentence without its `mark`, as which programs name a refusal: people in a chat need none."""
    if not isinstance(text, Sentence) or not text.values.get("mark"):
        return text
    return Sentence(text.key, **{**text.values, "mark": ""})


def pack(text: str) -> Any:
    """Return a text as JSON keeps it, by its key and values if it has any. `unpack` reads it."""
    if not isinstance(text, Sentence):
        return {"text": text} if _is_key(text) else text
    values = pack_values(text)
    return {"key": text.key, "values": values} if values else text.key


def _is_key(text: str) -> bool:
    """Return whether a text is the key of a sentence, and thus to be told from one that is stored by its key."""
    return "." in text and " " not in text and find_sentence(text, "en") is not None


def pack_values(sentence: Sentence) -> dict[str, Any]:
    """Return the values of a sentence as JSON keeps them."""
    return {name: _pack_value(value) for name, value in sentence.values.items()}


def unpack(stored: object) -> str:
    """Read what `pack` returned; "" of anything else."""
    match stored:
        case str():
            return Sentence(stored) if _is_key(stored) else stored
        case {"text": str(text)} if _is_key(text):
            return text
        case {"key": str(key), "values": dict(values)}:
            try:
                if find_sentence(key, "en") is None and not _has_plain_places(key):
                    return key
                return Sentence(key, **{str(name): _unpack_value(value) for name, value in values.items()})
            except (KeyError, IndexError, ValueError):  # of a version whose sentence has other places
                return key
        case _:
            return ""


def recognise(text: str, section: str) -> str:
    """Return an English text as the sentence of a section that it is in words; as it is where it is none.

    Versions before the catalogues stored their sentences without keys.
    """
    for key, pattern in _read_patterns(section) if 0 < len(text) <= _LONGEST else ():
        if match := pattern.fullmatch(text):
            try:
                sentence = Sentence(key, **{name: _to_number(value) for name, value in match.groupdict().items()})
            except ValueError:  # a word where the sentence has a number
                continue
            if sentence == text:
                return sentence
    return text


@cache  # bounded: the sections; start
def _read_patterns(section: str) -> list[tuple[str, re.Pattern[str]]]:
    """Make patterns of the sentences of a section, those with most words of their own first."""
    found = []
    for name, template in _read_section("en", section).items():
        parts = list(Formatter().parse(template))
        places = Counter(place for _, place, _, _ in parts if place)
        if "|" not in template and max(places.values(), default=1) == 1:
            text = "".join(re.escape(part) + (f"(?P<{place}>.+)" if place else "") for part, place, _, _ in parts)
            found.append((sum(len(part) for part, *_ in parts), f"{section}.{name}", re.compile(text)))
    return [(key, pattern) for _, key, pattern in sorted(found, key=lambda each: (-each[0], each[1]))]


def _to_number(value: str) -> object:
    return (
        float(value) if re.fullmatch(r"\d+\.\d+", value) else int(value) if re.fullmatch(r"\d{1,9}", value) else value
    )


def _has_plain_places(template: str) -> bool:
    """Return whether a template only names values: a text of others may look like what `pack` returned.

    Raises ValueError for what is none.
    """
    places = [place for place in Formatter().parse(template) if place[1] is not None]
    return all(str(name).isidentifier() and not how and _SPEC.fullmatch(spec or "") for _, name, spec, how in places)


def pack_text(text: str) -> str:
    """Return a text as a column of the database keeps it, by its key and values if it has any. See `unpack_text`."""
    packed = pack(text)
    return packed if isinstance(packed, str) else json.dumps(packed, ensure_ascii=False)


def unpack_text(stored: str) -> str:
    """Read what `pack_text` returned; any other text is itself."""
    if not stored.startswith(('{"key"', '{"text"')):
        return unpack(stored)
    try:
        return unpack(json.loads(stored)) or stored
    except (ValueError, RecursionError):
        return stored


def _pack_value(value: object) -> Any:
    match value:
        case Worded():
            return pack(value.sentence)
        case str():
            return pack(value)
        case int() | float():
            return value
        case OSError():
            return pack(word_system(value))
        case _:
            return str(value)


def _unpack_value(value: object) -> object:
    return unpack(value) if isinstance(value, str | dict) else value


class _Value:
    """A value in a sentence: one with a key is worded by that, another is formatted.

    `{name:t}` translates it; `{count:memory|memories}` is the word for as many.
    """

    def __init__(self, value: object, language: Language, translate: Translate) -> None:
        self._value, self._language, self._translate = value, language, translate

    def __format__(self, spec: str) -> str:
        value = word_system(self._value) if isinstance(self._value, OSError) else self._value
        if isinstance(value, Worded | Sentence):
            return value.render(self._language, self._translate)
        if "|" in spec:
            one, many = spec.split("|")
            return one if value == 1 else many
        return self._translate(str(value)) if spec == "t" else format(value, spec)

    def __repr__(self) -> str:
        return repr(self._value)


def word_system(error: OSError) -> str:
    """Word what the operating system says, without numbers, as a part of a sentence."""
    key = f"system.{errno.errorcode.get(error.errno or 0, '')}"
    if find_sentence(key, "en"):
        return Sentence(key)
    text = error.strerror or str(error)
    return text if isinstance(text, Sentence) else text[:1].lower() + text[1:]
