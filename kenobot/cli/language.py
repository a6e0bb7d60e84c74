"""Translate the sentences of the command line: English stands in the code, Spanish in `spanish.toml`.

`spanish.libraries.toml` has that of libraries whose sentences have no key.

The language is the terminal's. A sentence with values keeps its key, see `kenobot.ports.sentences`: errors have theirs
in the catalogues there, others are their own key, in English.
"""

import argparse
import os
import tomllib
from collections.abc import Mapping
from functools import cache, partial
from importlib import resources
from importlib.resources.abc import Traversable

from kenobot.core.i18n import Language, terminal_language
from kenobot.ports import sentences
from kenobot.ports.errors import KenobotError

_packages = ["kenobot.cli"]  # bounded: those whose commands this process runs


def language() -> Language:
    """Return the terminal's language."""
    return terminal_language(os.environ)


def say(text: str, /, **values: object) -> str:
    """Say an English sentence of the command line in the terminal's language, and fill in `values`."""
    return sentences.word(text, values, language(), translate)


def quote(text: str) -> str:
    """Put a text into the quotation marks of the terminal's language."""
    return f"«{text}»" if language() == "es" else f"“{text}”"


def translate(text: str, to: Language | None = None) -> str:
    """Translate a sentence by its key into the terminal's language; one without a translation stays as it is."""
    into = to or language()
    if isinstance(text, sentences.Sentence):
        return text.render(into, partial(translate, to=into))
    return _spanish().get(text, text) if into == "es" else text


def word_error(error: Exception) -> str:
    """Word an error in the terminal's language; one of a plugin or a library stays as it is, if nothing has it."""
    return error.render(language(), translate) if isinstance(error, KenobotError) else translate(str(error))


def speak_for(package: str) -> None:
    """Add the Spanish of a distribution beside the core, by `spanish.toml` in its package."""
    if package not in _packages:
        _packages.append(package)
        _spanish.cache_clear()


def speak_in_argparse() -> None:
    """Translate argparse's own words into the terminal's language: it has no other seam than its `gettext`."""
    setattr(argparse, "_", say)  # noqa: B010 - typeshed does not know the name


@cache  # bounded: one entry
def _spanish() -> Mapping[str, str]:
    files = [resources.files(package).joinpath("spanish.toml") for package in _packages]
    files.append(resources.files(__package__).joinpath("spanish.libraries.toml"))
    return {key: text for file in reversed(files) if file.is_file() for key, text in _read(file).items()}


def _read(file: Traversable) -> dict[str, str]:
    return tomllib.loads(file.read_text("utf-8"))
