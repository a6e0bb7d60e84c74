"""Load the system prompts of questions to a model, and the texts that people are shown."""

import tomllib
from functools import cache
from importlib import resources


def system_prompt(name: str) -> str:
    """Return the system prompt of a pass."""
    return _prompts()[name]


def texts(entry: str, language: str, /, **values: object) -> list[str]:
    """Return the texts of an entry in a language, filled in."""
    return [text.format(**values) for text in _texts()[entry][language]]


@cache
def _prompts() -> dict[str, str]:
    return tomllib.loads(resources.files(__package__).joinpath("prompts.toml").read_text("utf-8"))


@cache
def _texts() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(resources.files(__package__).joinpath("texts.toml").read_text("utf-8"))
