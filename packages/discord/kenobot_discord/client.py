"""Speak to Discord by its library: events in a queue, and every failure a RemoteError."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import aiohttp
import discord

from kenobot.ports.errors import RateLimited, Rejected, Unavailable
from kenobot.ports.messages import MessagePart

MOST_EVENTS: Final = 1000
_GUILDS_SECONDS = 2.0  # without one more server, after which all that the bot is in are known
_NOT_LET_IN: Final = frozenset({4004, 4010, 4011, 4012, 4013, 4014})
_REFUSAL: Final = "discord.not_let_in"
_WANTED: Final = frozenset({"connect", "ready", "message", "raw_message_edit", "raw_reaction_add", "interaction"})

Events = asyncio.Queue[tuple[str, Any]]


discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # it speaks no voice


class DiscordClient(discord.Client):
    """A client whose events stand in a queue, in the order of their coming; without caches."""

    def __init__(self, events: Events) -> None:
        intents = discord.Intents(
            guilds=True, guild_messages=True, dm_messages=True, guild_reactions=True, dm_reactions=True
        )
        super().__init__(
            intents=intents,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=_GUILDS_SECONDS,
            max_ratelimit_timeout=30.0,
            allowed_mentions=discord.AllowedMentions.none(),
        )
        self._events = events

    def dispatch(self, event: str, /, *args: Any, **_: Any) -> None:
        """Keep an event. Raises OSError, which ends the connection, when there are too many."""
        if event in _WANTED:
            if self._events.qsize() >= MOST_EVENTS and event != "ready":
                raise OSError("events arrive faster than they can be stored")
            self._events.put_nowait((event, args[0] if args else None))


def as_view(part: MessagePart) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for row, buttons in enumerate(part.buttons):
        for button in buttons:
            view.add_item(discord.ui.Button(label=button.label[:80], custom_id=button.value, row=row))
    return view


def own_account(client: discord.Client) -> discord.ClientUser:
    if client.user is None:
        raise Unavailable("discord.unconnected")
    return client.user


def number_of(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise Rejected("discord.no_such_chat")
    return int(text)


def _is_json(error: discord.HTTPException) -> bool:
    """Return whether an answer is in Discord's form, which the page of a proxy is not."""
    return error.response.headers.get("Content-Type", "").startswith("application/json")


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise RemoteError for what the library raises. Texts of the server are not shown: they may name anything."""
    try:
        yield
    except discord.LoginFailure as error:
        if isinstance(cause := error.__cause__, discord.HTTPException) and not _is_json(cause):
            raise Unavailable("discord.trouble", status=cause.status) from None
        raise Rejected(_REFUSAL) from None
    except discord.RateLimited as error:
        raise RateLimited("discord.too_fast", error.retry_after) from None
    except discord.ConnectionClosed as error:
        if error.code in _NOT_LET_IN:
            raise Rejected(_REFUSAL) from None
        raise Unavailable("discord.ended") from None
    except discord.HTTPException as error:
        if error.status == 429:
            raise RateLimited("discord.too_fast", 5.0) from None
        if error.status >= 500 or not error.code:  # the page of a proxy says nothing about the request
            raise Unavailable("discord.trouble", status=error.status) from None
        problem = f"Discord refuses that ({error.code or error.status}): check that the bot may write in that chat"
        raise Rejected(problem) from None
    except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unavailable("discord.unreachable", kind=type(error).__name__) from None
