"""The page *settings*: what is in force and from where, and changes that can run, open or reveal nothing."""

import json
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Final

from fastapi import APIRouter, Form, Path, Response

from kenobot.agent.settings_table import describe_setting
from kenobot.core.settings.meanings import read_meanings
from kenobot.ports.sentences import render
from kenobot_dashboard.viewer import View
from kenobot_http.api import settings
from kenobot_http.api.settings import NewValue, Setting

router = APIRouter(prefix="/settings")

KEY: Final = r"^[a-z_]+(\.[A-Za-z0-9_:-]+)+$"


@dataclass(frozen=True, slots=True)
class Line:
    """A setting. value, running: as they are written in kenobot.toml; running: "" where it is the same."""

    key: str
    value: str
    running: str
    origin: str
    is_default: bool
    safe: bool


@router.get("")
async def list_settings(view: View) -> Response:
    """List every setting by section, with its origin."""
    lines = [_line(each) for each in await settings.list_settings(view.caller)]
    lines.sort(key=_section)  # budgets of purposes come apart from the others
    sections = [(name, list(found)) for name, found in groupby(lines, key=_section)]
    return view.page(
        "settings",
        sections=sections,
        changed=[line for line in lines if not line.is_default],
        waits=sum(bool(line.running) for line in lines),
    )


@router.get("/{key}")
async def show_setting(view: View, key: Annotated[str, Path(pattern=KEY, max_length=200)]) -> Response:
    """Show one setting, with a field to change it where that is harmless."""
    found = next((each for each in await settings.list_settings(view.caller) if each.key == key), None)
    line = _line(found) if found is not None else None
    return view.page(
        "settings",
        "setting.html",
        key=key,
        line=line,
        meaning=read_meanings(view.language).get(key, ""),
        takes=render(describe_setting(view.services.loaded, key), view.language),
        code=200 if line is not None else 404,
    )


@router.post("/{key}")
async def change_setting(
    view: View,
    key: Annotated[str, Path(pattern=KEY, max_length=200)],
    value: Annotated[str, Form(max_length=4000)] = "",
) -> Response:
    """Write a setting, if all settings hold together with it."""
    await settings.change_setting(view.caller, key, NewValue(value=value))
    return view.go(f"/settings/{key}", done="changed")


def _section(line: Line) -> str:
    return line.key.partition(".")[0]


def _line(setting: Setting) -> Line:
    value = _write(setting.value)
    running = _write(setting.running)
    return Line(
        setting.key,
        value,
        "" if running == value else running,
        setting.origin,
        setting.origin == "default",
        setting.safe,
    )


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
