"""Translate the sentences of the command line: English stands in the code, Spanish in `spanish.toml`.

`spanish.libraries.toml` has that of libraries whose sentences have no key.

The language is the terminal's. A sentence with values keeps its key, see `kenobot.ports.sentences`: errors have theirs
in the catalogues there, others are their own key, in English.
"""

import argparse
import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache, partial
from importlib import resources
from typing import Any

from kenobot.core.i18n import Language, terminal_language
from kenobot.ports import sentences
from kenobot.ports.errors import KenobotError


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
def _spanish() -> Mapping[str, str]:
    return {**_table("spanish.libraries.toml"), **_table("spanish.toml")}


def _table(file: str, command: str | None = None) -> dict[str, Any]:
    text = resources.files("kenobot.cli").joinpath(file).read_text("utf-8")
    if command is not None:
        wanted = re.compile(rf'\["?(?:{re.escape(command)}|arguments)[ .\]]')
        text = "".join(table for table in re.split(r"^(?=\[)", text, flags=re.MULTILINE) if wanted.match(table))
    return tomllib.loads(text)
