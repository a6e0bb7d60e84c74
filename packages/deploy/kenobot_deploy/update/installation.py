"""How this KenoBot was installed: by what, with which extras and plugins, and where newer ones come from."""

import json
import os
import re
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Literal

from kenobot import __version__
from kenobot.storage.updates import Side

Kind = Literal["container", "checkout", "uv", "pipx", "venv", "system"]

_NAME = "kenobot"
_MARKS = (("uv", "uv-receipt.toml"), ("pipx", "pipx_metadata.json"))
_IMAGE = "_KENOBOT_IMAGE"  # docker/Dockerfile sets it; no KENOBOT_ name: those are settings
_DEVELOPERS = frozenset({"dev", "lock", "plots"})  # extras that no bot needs
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Installation:
    """The environment that this process runs in. has_index: it was installed by name, from a package index.

    extras: those that are installed. apart: the distributions of KenoBot's own that these brought. others: requirements
    of the plugins beside it.
    """

    kind: Kind
    side: Side
    has_index: bool
    extras: tuple[str, ...]
    apart: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def advice(self) -> str:
        """What updates it where `kenobot update` cannot; "" where it can."""
        if self.kind == "container":
            return "This is a container: pull a newer image, then start it anew (`docker compose up -d --pull always`)."
        if self.kind == "checkout":
            return (
                "This is a checkout of the source: `git pull`, then start the bot anew. A release: `--from FILE.whl`."
            )
        return ""


def find_installation() -> Installation:
    """Find out how this process's KenoBot was installed."""
    prefix = Path(sys.prefix).resolve()
    side = Side(version=__version__, environment=prefix)
    try:
        own = distribution(_NAME)
    except PackageNotFoundError:  # run from a folder of the source
        return Installation("checkout", side, False, (), (), ())
    origin = _origin(own)
    is_editable = bool(origin.get("dir_info", {}).get("editable"))
    return Installation(_kind(prefix, is_editable), side, not origin, _extras(own), _apart(own), _others(own))


def _kind(prefix: Path, is_editable: bool) -> Kind:
    if os.environ.get(_IMAGE):
        return "container"
    if is_editable:
        return "checkout"
    for kind, mark in _MARKS:
        if (prefix / mark).exists():
            return "uv" if kind == "uv" else "pipx"
    return "venv" if sys.prefix != sys.base_prefix else "system"


def _origin(installed: Distribution) -> dict[str, dict[str, object]]:
    """Read where a distribution was installed from (PEP 610); empty when from an index."""
    text = installed.read_text("direct_url.json")
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _extras(own: Distribution) -> tuple[str, ...]:
    """List the extras whose libraries are all there, but for those that only some machines have."""
    lines = own.requires or []
    return tuple(
        extra
        for extra in own.metadata.get_all("Provides-Extra") or []
        if extra not in _DEVELOPERS and all(map(_is_installed, _list_needed(lines, extra)))
    )


def _list_needed(lines: list[str], extra: str) -> list[str]:
    found = [line.partition(";") for line in lines]
    only = re.compile(rf"\s*extra == ['\"]{re.escape(extra)}['\"]\s*")
    return [name[0] for line, _, marker in found if only.fullmatch(marker) and (name := _REQUIREMENT.match(line))]


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _apart(own: Distribution) -> tuple[str, ...]:
    """Name the installed distributions of KenoBot's own: those that its extras name."""
    named = {match[0] for line in own.requires or () if (match := _REQUIREMENT.match(line))}
    return tuple(sorted(name for name in named if name.startswith(f"{_NAME}-") and _is_installed(name)))


def _others(own: Distribution) -> tuple[str, ...]:
    """Name the distributions with plugins of KenoBot, as they are installed, but for those that come by an extra."""
    ours = {_NAME, *(match[0] for line in own.requires or () if (match := _REQUIREMENT.match(line)))}
    found = {}
    for installed in distributions():
        name = installed.metadata["Name"]
        if name not in ours and any(point.group.startswith(f"{_NAME}.") for point in installed.entry_points):
            url = _origin(installed).get("url")
            found[name] = f"{name} @ {url}" if url else f"{name}=={installed.version}"
    return tuple(found[name] for name in sorted(found))
