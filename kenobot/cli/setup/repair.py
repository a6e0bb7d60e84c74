"""Find a way out of a kenobot.toml with mistakes: the lines that make them become comments, the rest stays."""

import itertools
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import resources
from pathlib import Path

from kenobot.core import lazy
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.core.toml_text import parse_toml
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import split_sentences

_LINE = lazy.regex(r"\(at line (\d+), column \d+\)$")
_MOST_BROKEN = 8  # lines that are not TOML; in a file with more there is nothing to keep
_LONGEST_LIST = 30  # lines over which a value goes
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True)
class Repair:
    """A text that will do in the place of kenobot.toml.

    mistakes: a sentence each, in English. lines: those that are comments now, by number, with their key, where they
    have one; none when nothing of the file could be kept. before: the file as it is. copy: where it is to be kept.
    """

    text: str
    mistakes: Sequence[str]
    lines: Sequence[tuple[int, str]]
    before: bytes
    copy: Path


def find_repair(home: Home, credentials: Mapping[str, str | None]) -> Repair | None:
    """Return how to repair kenobot.toml; None when there is nothing to repair.

    credentials: as load_settings takes them.

    Raises ConfigError when something else than the file is wrong, such as a variable of the environment.
    """
    try:
        load_settings(home, os.environ, new_credentials=credentials)
    except ConfigError as error:
        if not home.config_file.is_file():
            raise
        try:
            before = home.config_file.read_bytes()
        except OSError:
            raise error from None
        mistakes_of = partial(_mistakes, home, credentials)
        text, lines, others = _without_mistakes(mistakes_of, before)
        mistakes = list(dict.fromkeys((*split_sentences(str(error)), *others)))
        if rest := mistakes_of(text):
            raise ConfigError("\n".join(rest)) from None
        return Repair(text, mistakes, lines, before, free_copy(home.config_file))
    return None


def _without_mistakes(
    mistakes_of: Callable[[str], set[str]], before: bytes
) -> tuple[str, Sequence[tuple[int, str]], Sequence[str]]:
    """Return the text that will do, the lines that are comments in it, and mistakes that show once it is TOML."""
    shipped = resources.files("kenobot").joinpath("config", "kenobot.toml").read_text("utf-8")
    try:
        original = before.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        return shipped, (), ()
    lines = _readable(original)
    if lines is None:
        return shipped, (), ()
    mistakes = mistakes_of("\n".join(lines))
    told = sorted(mistakes)
    for span in [*_statements(lines), *_sections(lines)]:
        if not mistakes:
            break
        tried = _comment_out(lines, span)
        if _is_toml(tried) and (fewer := mistakes_of("\n".join(tried))) < mistakes:
            lines, mistakes = tried, fewer
    changed = [at for at, line in enumerate(lines) if line != original[at]]
    return "\n".join(lines), [(at + 1, _key(original[at])) for at in changed], told


def _mistakes(home: Home, credentials: Mapping[str, str | None], text: str) -> set[str]:
    try:
        load_settings(home, os.environ, text=text, new_credentials=credentials)
    except ConfigError as error:
        return set(split_sentences(str(error)))
    return set()


def _readable(lines: list[str]) -> list[str] | None:
    """Comment out what is not TOML: the one line that spoils the rest, or else where the parser stops.

    None when too much is.
    """
    for _ in range(_MOST_BROKEN + 1):
        stop = _stop(lines)
        if stop is None:
            return lines
        singly = (_comment_out(lines, range(at, at + 1)) for at in range(stop, -1, -1) if _is_active(lines[at]))
        whole = next(filter(_is_toml, singly), None)
        lines = whole or _comment_out(lines, range(stop, stop + 1))
    return None


def _stop(lines: Sequence[str]) -> int | None:
    """Return the index of the line in which the parser stops; None when it reads them all."""
    try:
        parse_toml("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        return min(int(place[1]), len(lines)) - 1 if place else len(lines) - 1
    return None


def _is_toml(lines: Sequence[str]) -> bool:
    return _stop(lines) is None


def _is_active(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _comment_out(lines: list[str], span: range) -> list[str]:
    return [f"# {line}" if at in span and _is_active(line) else line for at, line in enumerate(lines)]


def _statements(lines: list[str]) -> Iterator[range]:
    """Yield the lines of each key: more than one where its value goes over several."""
    for at, line in enumerate(lines):
        if _is_active(line) and not line.lstrip().startswith("["):
            spans = (range(at, end) for end in range(at + 1, min(at + _LONGEST_LIST, len(lines)) + 1))
            yield next((span for span in spans if _is_toml(_comment_out(lines, span))), range(at, at + 1))


def _sections(lines: Sequence[str]) -> Iterator[range]:
    """Yield the lines of each section, with its header."""
    heads = [at for at, line in enumerate(lines) if line.lstrip().startswith("[")]
    for at, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        yield range(at, end)


def _key(line: str) -> str:
    """Return what stands before the value, which may be a secret."""
    name, assigned, _ = line.strip().partition("=")
    return name.strip()[:_SHOWN_CHARS] if assigned or name.startswith("[") else ""


def free_copy(path: Path) -> Path:
    """Return the path of a copy that is not there yet."""
    copies = (path.with_name(f"{path.name}.broken{number or ''}") for number in itertools.count())
    return next(copy for copy in copies if not copy.exists())
