"""The page *settings*: what is in force and from where, and changes that can run, open or reveal nothing."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Final

from fastapi import APIRouter, Form, Path, Query, Response

from kenobot.agent.settings_table import describe_setting
from kenobot.core.settings.meanings import read_meanings
from kenobot.ports.sentences import render
from kenobot_dashboard.notes import UndoButton
from kenobot_dashboard.viewer import View, Viewer
from kenobot_dashboard.wording import Texts
from kenobot_http.api import settings
from kenobot_http.api.settings import NewValue, Setting

router = APIRouter(prefix="/settings")

KEY: Final = r"^[a-z_]+(\.[A-Za-z0-9_:-]+)+$"


@dataclass(frozen=True, slots=True)
class Line:
    """A setting. value, running: as they are written in kenobot.toml; running: "" where it is the same.

    said, said_running: those in words. origin: where it is set, in words; "" for a default.
    """

    key: str
    value: str
    running: str
    said: str
    said_running: str
    meaning: str
    origin: str
    in_file: bool
    safe: bool

    @property
    def is_default(self) -> bool:
        return not self.origin

    def has(self, words: Collection[str], section: str) -> bool:
        """Return whether its name, its meaning, its value or the name of its section have all these words."""
        text = f"{self.key} {self.meaning} {self.value} {self.said} {section}".lower()
        return all(word in text for word in words)


@router.get("")
async def list_settings(view: View, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    """List every setting by section, with its origin; with words, those that have them."""
    t = view.texts("settings")
    found = [_line(each, t, view) for each in await settings.list_settings(view.caller)]
    lines = [line for line in found if line.has(q.lower().split(), t.name("section", _section(line)))]
    lines.sort(key=_section)  # budgets of purposes come apart from the others
    sections = [(name, t.name("section", name), list(lines)) for name, lines in groupby(lines, key=_section)]
    return view.page(
        "settings",
        q=q,
        sections=sections,
        changed=[line for line in lines if not line.is_default],
        waiting=[line for line in found if line.running],
    )


@router.get("/{key}")
async def show_setting(view: View, key: Annotated[str, Path(pattern=KEY, max_length=200)]) -> Response:
    """Show one setting, with a field to change it where that is harmless."""
    found = await _find(view, key)
    line = _line(found, view.texts("settings"), view) if found is not None else None
    return view.page(
        "settings",
        "setting.html",
        key=key,
        line=line,
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
    before = await _find(view, key)
    await settings.change_setting(view.caller, key, NewValue(value=value))
    return view.go(f"/settings/{key}", done="changed", about=key, undo=_make_undo(before))


@router.post("/{key}/reset")
async def reset_setting(view: View, key: Annotated[str, Path(pattern=KEY, max_length=200)]) -> Response:
    """Take a setting out of kenobot.toml, so that its default holds."""
    before = await _find(view, key)
    await settings.reset_setting(view.caller, key)
    return view.go(f"/settings/{key}", done="reset", about=key, undo=_make_undo(before))


async def _find(view: Viewer, key: str) -> Setting | None:
    return next((each for each in await settings.list_settings(view.caller) if each.key == key), None)


def _make_undo(before: Setting | None) -> UndoButton | None:
    """Return the button that brings back what was set before a change."""
    if before is None or before.origin == "default":
        return UndoButton(f"/settings/{before.key}/reset") if before is not None else None
    return UndoButton(f"/settings/{before.key}", {"value": _write(before.value)})


def _section(line: Line) -> str:
    return line.key.partition(".")[0]


def _line(setting: Setting, t: Texts, view: Viewer) -> Line:
    kind, _, place = setting.origin.partition(" ")
    is_same = setting.running == setting.value
    return Line(
        key=setting.key,
        value=_write(setting.value),
        running="" if is_same else _write(setting.running),
        said=_say(setting.value, t),
        said_running="" if is_same else _say(setting.running, t),
        meaning=read_meanings(view.language).get(setting.key, ""),
        origin=""
        if kind == "default"
        else t(f"origin_{kind}", place=place)
        if t.has(f"origin_{kind}")
        else setting.origin,
        in_file=kind == "file",
        safe=setting.safe,
    )


def _say(value: object, t: Texts) -> str:
    """Say a value in words: on and off, the parts of a list, and that there is none."""
    if isinstance(value, bool):
        return t("is_on") if value else t("is_off")
    if isinstance(value, list):
        return ", ".join(_say(each, t) for each in value) or t("is_empty")
    return _write(value) if value not in (None, "", {}) else t("is_empty")


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
