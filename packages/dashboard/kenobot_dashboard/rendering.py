"""Render templates: values are escaped, and a name that has no value is an error."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kenobot_dashboard.changes import word_reason
from kenobot_dashboard.navigation import GROUPS, PAGES
from kenobot_dashboard.paths import BASE
from kenobot_dashboard.wording import Texts


def render_template(name: str, values: Mapping[str, Any]) -> str:
    """Render a template of this package by its path in it."""
    return _build_environment().get_template(name).render(values)


def static_path(name: str) -> str:
    """Return the path of a script or style, which changes with its bytes: so browsers may keep it for ever."""
    return f"{BASE}/static/{_read_digests()[name]}/{name}"


@lru_cache(maxsize=1)
def _build_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kenobot_dashboard", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.loopcontrols"],
    )
    environment.globals.update(
        base=BASE, static=static_path, nav_groups=GROUPS, nav_pages=PAGES, page_texts=Texts, word_reason=word_reason
    )
    return environment


@lru_cache(maxsize=1)
def _read_digests() -> Mapping[str, str]:
    """Compute a digest of each script and style."""
    files = (file for file in resources.files(__package__).joinpath("static").iterdir() if file.is_file())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files}
