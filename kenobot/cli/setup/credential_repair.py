"""Find credential files that cannot be used: setup puts them aside, and asks for what it still needs of them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kenobot.cli.setup.repair import free_copy
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class BadCredential:
    """A credential file that cannot be used. mistakes: a sentence each, in English. aside: where it is to be kept."""

    path: Path
    mistakes: Sequence[str]
    aside: Path


def find_bad_credentials(home: Home) -> Sequence[BadCredential]:
    """Return the files in credentials/ without which the settings have fewer mistakes."""
    try:
        paths = sorted(path for path in home.credentials.iterdir() if not path.name.startswith("."))
    except OSError:  # there is none, or loading the settings tells what is wrong with the folder
        return ()
    if not _mistakes(home, {}):
        return ()
    absent = [path.name for path in paths]
    others = _mistakes(home, left_out(absent))
    found = []
    for path in paths:
        alone = _mistakes(home, left_out(name for name in absent if name != path.name))
        if mistakes := [mistake for mistake in alone if mistake not in others]:
            found.append(BadCredential(path, mistakes, free_copy(path.with_name(f".{path.name}"))))
    return found


def left_out(names: Iterable[str]) -> dict[str, str | None]:
    """Return what has load_settings do as if credential files were not there."""
    return dict.fromkeys(names)


def _mistakes(home: Home, credentials: Mapping[str, str | None]) -> Sequence[str]:
    try:
        load_settings(home, os.environ, new_credentials=credentials)
    except ConfigError as error:
        return split_sentences(str(error))
    return ()
