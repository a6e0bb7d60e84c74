"""Sentences and dates of the tour, in both languages."""

import tomllib
from datetime import datetime
from importlib import resources

from kenobot.core.i18n import Language

_TABLES = tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text("utf-8"))
_MONTHS: dict[Language, str] = _TABLES["months"]
_SENTENCES: dict[str, dict[Language, str]] = _TABLES["sentences"]


def label(name: str, language: Language, **values: object) -> str:
    """A sentence of the tour."""
    return _SENTENCES[name][language].format(**values)


def format_moment(moment: datetime, language: Language) -> str:
    """A moment as people write it."""
    month = _MONTHS[language].split()[moment.month - 1]
    written = f"{moment.day} de {month} de {moment.year}" if language == "es" else f"{moment.day} {month} {moment.year}"
    return f"{written}, {moment:%H:%M}"
