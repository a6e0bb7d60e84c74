"""Find how this KenoBot was installed: by what, with which extras and plugins, and where newer ones come from."""

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
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[(?P<extras>[^\]]*)\])?")


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
        """Name what updates it where `kenobot update` cannot; "" where it can."""
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
    named = own.metadata.get_all("Provides-Extra") or []
    return tuple(extra for extra in named if extra not in _DEVELOPERS and _has_extra(own, extra))


def _has_extra(own: Distribution, extra: str) -> bool:
    """Return whether the libraries of an extra are there, and those of the extras of ours that it asks for."""
    only = re.compile(rf"\s*extra == ['\"]{re.escape(extra)}['\"]\s*")
    lines = [line.partition(";") for line in own.requires or ()]
    return all(_is_installed(line) for line, _, marker in lines if only.fullmatch(marker))


def _is_installed(requirement: str) -> bool:
    found = _REQUIREMENT.match(requirement)
    if found is None:
        return True
    try:
        installed = distribution(found["name"])
    except PackageNotFoundError:
        return False
    return all(_has_extra(installed, extra.strip()) for extra in (found["extras"] or "").split(",") if extra.strip())


def _apart(own: Distribution) -> tuple[str, ...]:
    """Name the installed distributions of KenoBot's own: those that its extras name."""
    named = {match["name"] for line in own.requires or () if (match := _REQUIREMENT.match(line))}
    return tuple(sorted(name for name in named if name.startswith(f"{_NAME}-") and _is_installed(name)))


def _others(own: Distribution) -> tuple[str, ...]:
    """Name the distributions with plugins of KenoBot, as they are installed, but for those that come by an extra."""
    ours = {_NAME, *(match["name"] for line in own.requires or () if (match := _REQUIREMENT.match(line)))}
    found = {}
    for installed in distributions():
        name = installed.metadata["Name"]
        if name not in ours and any(point.group.startswith(f"{_NAME}.") for point in installed.entry_points):
            url = _origin(installed).get("url")
            found[name] = f"{name} @ {url}" if url else f"{name}=={installed.version}"
    return tuple(found[name] for name in sorted(found))
