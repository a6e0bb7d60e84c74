"""Routes of settings: all that are in force with their origins, and changes that can run, open or reveal nothing."""

import asyncio
import json
import os
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kenobot.agent import settings_table
from kenobot.agent.settings_table import is_safe, iterate_values, write_setting
from kenobot.app.bot_services import BotServices
from kenobot.core.settings.load import load_settings
from kenobot.ports.errors import ConfigError
from kenobot.ports.sentences import Sentence
from kenobot_http.api.auth import SettingsKeeper

router = APIRouter(prefix="/v1", tags=["settings"])

_LONGEST = 4000


class Setting(BaseModel):
    """A setting. origin: "default", "file PATH", "environment NAME" or "credential PATH". safe: it can be changed here.

    value: as kenobot.toml has it now; of a secret whether it is set. running: what the bot was started with.
    """

    key: str
    value: Any
    running: Any
    origin: str
    safe: bool


class NewValue(BaseModel, extra="forbid"):
    """A new value, read as TOML where it is TOML, and else as text."""

    value: str = Field(max_length=_LONGEST)


@router.get("/settings")
async def list_settings(caller: SettingsKeeper) -> list[Setting]:
    """List every setting in force, with its origin. What differs from `running` holds from the next start on."""
    return await asyncio.to_thread(_list, caller.services)


@router.put("/settings/{key}")
async def change_setting(
    caller: SettingsKeeper,
    key: Annotated[str, Path(pattern=r"^[a-z_]+(\.[A-Za-z0-9_:-]+)+$", max_length=200)],
    new: NewValue,
) -> Setting:
    """Write a setting into kenobot.toml, if all settings hold together with it; the bot takes it in at its next start.

    Those that can run programs, open addresses, give rights or hold secrets are changed by `kenobot config set` alone.
    """
    services = caller.services
    if not is_safe(key):
        raise HTTPException(409, Sentence("api.setting_not_safe", name=key))
    try:
        await asyncio.to_thread(_write, services, key, new.value)
    except ConfigError as error:
        raise HTTPException(409, str(error)) from None
    found = next((each for each in await asyncio.to_thread(_list, services) if each.key == key), None)
    if found is None:
        raise HTTPException(404)
    return found


@router.delete("/settings/{key}")
async def reset_setting(
    caller: SettingsKeeper,
    key: Annotated[str, Path(pattern=r"^[a-z_]+(\.[A-Za-z0-9_:-]+)+$", max_length=200)],
) -> Setting:
    """Take a setting out of kenobot.toml, so that its default holds from the next start on; the same ones as `PUT`."""
    services = caller.services
    if not is_safe(key):
        raise HTTPException(409, Sentence("api.setting_not_safe", name=key))
    try:
        await asyncio.to_thread(_reset, services, key)
    except ConfigError as error:
        raise HTTPException(409, str(error)) from None
    found = next((each for each in await asyncio.to_thread(_list, services) if each.key == key), None)
    if found is None:
        raise HTTPException(404)
    return found


def _reset(services: BotServices, key: str) -> None:
    settings_table.reset_setting(services.home, load_settings(services.home, os.environ), key)


def _write(services: BotServices, key: str, value: str) -> None:
    write_setting(services.home, load_settings(services.home, os.environ), key, value)


def _list(services: BotServices) -> list[Setting]:
    try:
        loaded = load_settings(services.home, os.environ)
    except ConfigError:  # the file was broken since: what runs is what is known
        loaded = services.loaded
    running = dict(iterate_values(services.loaded))
    return [
        Setting(
            key=key,
            value=json.loads(json.dumps(value, default=str)),
            running=running.get(key),
            origin=loaded.origin(key),
            safe=is_safe(key),
        )
        for key, value in iterate_values(loaded)
    ]
