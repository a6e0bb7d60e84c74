"""Translate the sentences of the command line: English stands in the code, Spanish in `spanish.toml`.

`spanish.libraries.toml` has that of libraries and of the operating system.

The language is the terminal's. Errors are worded by their keys, see `kenobot.ports.sentences`. A finished sentence of
another room, such as what a bot wrote down, is recognised by its English pattern, in which `{}` marks a place for a
value.
"""

import argparse
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import resources
from typing import Any, NamedTuple

from kenobot.core import lazy
from kenobot.core.i18n import Language, terminal_language
from kenobot.ports.errors import KenobotError
from kenobot.ports.sentences import read_catalogue

_PREFIX = "kenobot: "
_PLACE = lazy.regex(r"\{(\w+)")


class _Value(str):
    """A value in a Spanish sentence; `{:t}` translates it as well."""

    def __format__(self, spec: str) -> str:
        return translate(self) if spec == "t" else str(self)


class _Catalogue(NamedTuple):
    sentences: Mapping[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]


def language() -> Language:
    """Return the terminal's language."""
    return terminal_language(os.environ)


def say(text: str, /, **values: object) -> str:
    """Say an English sentence of the command line in the terminal's language, and fill in `values`."""
    told = _catalogue().sentences.get(text, text) if language() == "es" else text
    return told.format(**{name: _make_value(value) for name, value in values.items()}) if values else told


def _make_value(value: object) -> _Value:
    return _Value(word_error(value) if isinstance(value, KenobotError) else value)


def quote(text: str) -> str:
    """Put a text into the quotation marks of the terminal's language."""
    return f"«{text}»" if language() == "es" else f"“{text}”"


def translate(text: str, to: Language | None = None) -> str:
    """Translate a finished sentence, into the terminal's language; one without a translation stays as it is."""
    if (to or language()) != "es":
        return text
    if text.startswith(_PREFIX):
        return _PREFIX + translate(text.removeprefix(_PREFIX), to)
    sentences, patterns = _catalogue()
    if text in sentences:
        return sentences[text]
    for pattern, spanish in patterns:
        if match := pattern.fullmatch(text):
            return spanish.format(*map(_Value, match.groups()))
    return text


def word_error(error: Exception) -> str:
    """Word an error in the terminal's language; one of a plugin or a library stays as it is, if nothing has it."""
    if isinstance(error, KenobotError) and error.key in read_catalogue("en"):
        return error.render(language(), translate)
    return translate_lines(str(error))


def translate_lines(text: str) -> str:
    """Translate a text as a whole, or else line by line."""
    whole = translate(text)
    return whole if whole != text else "\n".join(map(translate, text.split("\n")))


def read_commands(name: str | None = None) -> dict[str, dict[str, Any]]:
    """Read the commands, with their help in the terminal's language.

    name: read only this command, its subcommands, and "arguments", which commands share: a tenth of the time.
    """
    commands = _table("commands.toml", name)
    if language() == "es":
        spanish = _table("commands.es.toml", name)
        shared = spanish.pop("arguments")
        for argument, help_text in shared.items():
            commands["arguments"][argument]["help"] = help_text
        for words, texts in spanish.items():
            command = commands[words]
            command.update({key: text for key, text in texts.items() if key in command or key == "description"})
            for argument in _arguments(command.get("arguments", ())):
                argument["help"] = texts.get(argument_name(argument), argument["help"])
    return commands


def argument_name(argument: Mapping[str, Any]) -> str:
    """Return the name of an argument of a command; of several, the long one."""
    name: str = argument.get("name") or argument["names"][-1]
    return name


def speak_in_argparse() -> None:
    """Have argparse print its own words in the terminal's language: it has no other seam than its `gettext`."""
    setattr(argparse, "_", say)  # noqa: B010 - typeshed does not know the name


def _arguments(arguments: Any) -> list[dict[str, Any]]:
    """The arguments that a command describes itself, those of groups too."""
    found: list[dict[str, Any]] = []
    for argument in arguments:
        if isinstance(argument, list):
            found += _arguments(argument)
        elif isinstance(argument, dict):
            found.append(argument)
    return found


@cache  # bounded: one entry
def _catalogue() -> _Catalogue:
    """The Spanish sentences; of the patterns, those with more words of their own come first."""
    foreign: dict[str, str] = _table("spanish.libraries.toml")
    lower = {english[:1].lower() + english[1:]: spanish for english, spanish in foreign.items()}
    sentences: dict[str, str] = {**dict(_load_errors()), **foreign, **lower, **_table("spanish.toml")}
    patterns = [(english, spanish) for english, spanish in sentences.items() if "{}" in english]
    patterns.sort(key=lambda pair: len(pair[0].replace("{}", "")), reverse=True)
    compiled = ((lazy.regex("(.+?)".join(map(re.escape, en.split("{}"))), re.DOTALL), es) for en, es in patterns)
    return _Catalogue(sentences, tuple(compiled))


def _load_errors() -> Iterator[tuple[str, str]]:
    """Iterate over the sentences of errors as patterns: an error that was written down has no key any more."""
    spanish = read_catalogue("es")
    for key, english in read_catalogue("en").items():
        places = {name: f"{{{number}" for number, name in reversed([*enumerate(_PLACE.findall(english))])}
        yield _PLACE.sub("{", english), _PLACE.sub(partial(_number, places), spanish[key])


def _number(places: Mapping[str, str], place: re.Match[str]) -> str:
    return places[place[1]]


def _table(file: str, command: str | None = None) -> dict[str, Any]:
    text = resources.files("kenobot.cli").joinpath(file).read_text("utf-8")
    if command is not None:
        wanted = re.compile(rf'\["?(?:{re.escape(command)}|arguments)[ .\]]')
        text = "".join(table for table in re.split(r"^(?=\[)", text, flags=re.MULTILINE) if wanted.match(table))
    return tomllib.loads(text)
