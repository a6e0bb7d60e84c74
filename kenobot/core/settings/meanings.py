"""Read what each setting means: the comments of the shipped kenobot.toml, above their keys; in Spanish by these."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from importlib import resources

from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Language


@dataclass(frozen=True, slots=True)
class Row:
    """One or more keys that one comment explains."""

    keys: list[str]
    meaning: str


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the file. about: the comment before it, if any."""

    name: str
    about: str
    rows: list[Row] = field(default_factory=list)  # bounded: the settings; start


def read_shipped_sections() -> list[Section]:
    """Read the tables of the file that ships."""
    return list(read_sections(resources.files("kenobot").joinpath("config", "kenobot.toml").read_text("utf-8")))


@lru_cache(maxsize=1)
def read_spanish() -> Mapping[str, str]:
    """Return the Spanish of each meaning, by its English."""
    return tomllib.loads(resources.files(__package__).joinpath("meanings.es.toml").read_text("utf-8"))


@lru_cache(maxsize=2)
def read_meanings(language: Language = "en") -> Mapping[str, str]:
    """Return what the settings mean, by their dotted keys."""
    if language == "es":
        spanish = read_spanish()
        return {key: spanish[meaning] for key, meaning in read_meanings().items()}
    return {
        f"{section.name}.{key}": row.meaning
        for section in read_shipped_sections()
        for row in section.rows
        for key in row.keys
    }


def read_sections(text: str) -> Iterator[Section]:
    """Iterate over the tables of a file, in their order."""
    section: Section | None = None
    comment: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            if section:
                yield section
            section, comment = Section(line.strip("[]"), " ".join(comment)), []
        elif not line.strip():
            comment = []
        elif section and line.startswith("# ") and _read_key(line):
            if not comment and section.rows:
                section.rows[-1].keys.append(_read_key(line))
            else:
                section.rows.append(Row([_read_key(line)], " ".join(comment)))
            comment = []
        else:
            comment.append(line.removeprefix("#").strip())
    if section:
        yield section


def _read_key(line: str) -> str:
    name, equals, _ = line.removeprefix("# ").partition(" = ")
    return name if equals and name.replace("_", "").isalnum() and name.islower() else ""
