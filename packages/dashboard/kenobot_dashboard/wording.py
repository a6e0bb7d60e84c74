"""The texts of the dashboard, English and Spanish: those of the frame, and beside each page its own."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

from kenobot.ports.sentences import Language

_FRAME = ""
_FITS = ((0.6, "fit_well"), (0.3, "fit_partly"), (0.1, "fit_little"), (float("-inf"), "fit_hardly"))
"""How well something fits, from which score on."""


class Texts:
    """The texts of one page in one language; the frame's are found as well."""

    def __init__(self, page: str, language: Language) -> None:
        self.language: Language = language
        self._tables = (load_texts(page), load_texts(_FRAME))

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its values. Raises KeyError for one that there is not."""
        table = next((table for table in self._tables if key in table), None)
        if table is None:
            raise KeyError(f"the dashboard has no text {key}")
        text = table[key][self.language]
        return text.format(**values) if values else text

    def has(self, key: str) -> bool:
        """Return whether there is a text of this key."""
        return any(key in table for table in self._tables)

    def name(self, kind: str, value: str) -> str:
        """Return what a fixed word of the bot, such as a status, is called; itself where it has no name."""
        key = f"{kind}_{re.sub(r'[ :-]', '_', value)}"
        return self(key) if self.has(key) else value

    def fit(self, score: float) -> str:
        """Say in words how well something fits, from 0 to 1."""
        return self(next(key for least, key in _FITS if score >= least))

    def explain(self, key: str, text: str) -> str:
        """Return why a form was refused, in the page's own words where it has some for the key of a sentence."""
        name = f"refused_{key.replace('.', '_')}"
        return self(name) if self.has(name) else text


def load_texts(page: str) -> Mapping[str, Mapping[Language, str]]:
    """Return the texts of a page; "" for those of the frame."""
    return _read_tables()[page]


@lru_cache(maxsize=1)
def _read_tables() -> Mapping[str, Mapping[str, Mapping[Language, str]]]:
    """Read the texts of the frame and of all pages."""
    root = resources.files(__package__)
    folders = {"": root} | {folder.name: folder for folder in root.joinpath("pages").iterdir()}
    files = {name: folder.joinpath("texts.toml") for name, folder in folders.items()}
    return {name: tomllib.loads(file.read_text("utf-8")) for name, file in files.items() if file.is_file()}
