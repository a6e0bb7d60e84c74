"""Try out a model and a bot of Telegram, as a setup is about to leave them: each result is one plain sentence."""

import asyncio
import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from kenobot.channels.telegram.client import BANNED, PollingConflict, TelegramClient, TokenRefused, WebhookInTheWay
from kenobot.channels.telegram.owner_code import OwnerCode
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.cli.context import CommandContext
from kenobot.cli.counted_model import PURPOSE, counted_model
from kenobot.core import plugins
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.channel import ChecksAccess
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, KenobotError, Rejected, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound, MessagePart
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Message, Provider, Request
from kenobot.ports.sentences import Sentence

_MODEL_SECONDS = 90.0  # a server on this machine loads its model first
_AFTER_THINKING = 2048  # tokens
_POLL_SECONDS = 1  # how long another program that reads the messages has to show itself, and a person waits
_REQUEST_SECONDS = 10  # a person waits

TOKEN_UNKNOWN = "Telegram does not know this token: copy it again from @BotFather, the whole of it."  # noqa: S105
SHUT_OUT = "Telegram has shut this bot out: write to @BotSupport, or get another bot from @BotFather."
BUDGET_USED_UP = "The budget for models has no room left to try this one."
CONTESTED = "Another program reads this bot's messages: end it, or get another bot for this one."
OUT_OF_REACH = "Telegram cannot be reached from here now: check the network."
NOT_TELEGRAM = "The server at Telegram's address does not speak the Bot API: check channels.telegram.base_url."

CheckState = Literal["ok", "refused", "held", "unreachable"]
Announce = Callable[[str, str], None]
"""Is told the code that a person is to send, and the name of the bot."""


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """Result of a check. text: a sentence in English that has its Spanish. name: of the bot or the model.

    refused: as it is, it will not work. held: the bot's messages go elsewhere. unreachable: nobody can tell now.
    """

    state: CheckState
    text: str = ""
    name: str = ""


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def check_model(after: ResolvedSettings, context: CommandContext) -> LiveCheck:
    """Ask the model of the settings for one token."""
    name = after.settings.provider.name
    try:
        if context.home.database.exists():
            context.require_current_schema()  # the call is counted there
    except KenobotError as error:
        return LiveCheck("unreachable", str(error), name)
    try:
        return asyncio.run(_ask_model(after, name, context))
    except KenobotError as error:  # it cannot even be built
        return LiveCheck("refused", str(error), name)


async def _ask_model(after: ResolvedSettings, name: str, context: CommandContext) -> LiveCheck:
    provider: Provider = after.build_plugin("kenobot.providers", name, context.plugin_context)
    title = getattr(provider, "model", "") or name
    try:
        with tempfile.TemporaryDirectory(prefix="kenobot-") as folder:
            async with counted_model(context, after.settings, provider, Path(folder), _MODEL_SECONDS) as model:
                # A model that thinks first may refuse a limit that leaves no room for that: then it is given some.
                for most in (1, _AFTER_THINKING):
                    found = await _ask_for_a_word(model, most, title)
                    if found.state != "refused":
                        break
                return found
    finally:
        await plugins.close([provider])


async def _ask_for_a_word(model: BudgetedModel, most: int, title: str) -> LiveCheck:
    request = Request((), (Message("user", (Block("Say yes."),)),), max_tokens=most)
    try:
        answer = await model.ask(request, purpose=PURPOSE)
        if answer is None:
            return LiveCheck("unreachable", BUDGET_USED_UP, title)
        await model.settle(answer[1])
    except TruncatedReply:
        pass  # of one token: the key and the model are good
    except Rejected as error:
        return LiveCheck("refused", str(error), title)
    except RemoteError as error:
        return LiveCheck("unreachable", str(error), title)
    return LiveCheck("ok", Sentence("{title} answers.", title=title), title)


# ── channels beside Telegram ─────────────────────────────────────────────────────────────────────────────────────


def check_channel(after: ResolvedSettings, name: str, context: PluginContext) -> LiveCheck | None:
    """Find out whether a channel can be built and its platform lets the bot in; None where only a start tells."""
    try:
        channel = after.build_plugin("kenobot.channels", name, context)
        if not isinstance(channel, ChecksAccess):
            return None
        asyncio.run(channel.check_access())
    except Unavailable as error:
        return LiveCheck("unreachable", str(error), name)
    except KenobotError as error:
        return LiveCheck("refused", str(error), name)
    return LiveCheck("ok", Sentence("{name} lets the bot in.", name=name), name)


# ── Telegram ─────────────────────────────────────────────────────────────────────────────────────────────────────


def check_telegram(after: ResolvedSettings, clock: Clock, *, runs: bool) -> LiveCheck:
    """Ask Telegram whose token it is, and whether the bot's messages come here.

    runs: the bot of this home reads them right now, so that nobody else should.
    """
    return asyncio.run(_ask_telegram(_telegram_settings(after), clock, runs))


async def _ask_telegram(settings: TelegramSettings, clock: Clock, runs: bool) -> LiveCheck:
    name = ""
    try:
        async with TelegramClient(settings, clock.monotonic) as client:
            me = await client.get_me()
            name = me.username or str(me.id)
            if not runs and not settings.webhook_url:
                if url := (await client.load_webhook_info()).url:
                    return LiveCheck("held", _name_holder(url), name)
                await client.get_updates(None)
    except RemoteError as error:
        return _telegram_problem(error, name)
    return LiveCheck("ok", Sentence("It is the token of @{name}.", name=name), name)


def remove_webhook(after: ResolvedSettings, clock: Clock) -> LiveCheck | None:
    """Remove the webhook, so that messages wait to be fetched again. Returns what went wrong."""

    async def remove() -> None:
        async with TelegramClient(_telegram_settings(after), clock.monotonic) as client:
            await client.delete_webhook()

    try:
        asyncio.run(remove())
    except RemoteError as error:
        return _telegram_problem(error, "")
    return None


def find_owner(after: ResolvedSettings, clock: Clock, code: str, announce: Announce, seconds: float) -> Inbound:
    """Wait for the message in which the owner sends `code`.

    Raises OwnerUnknown; ConfigError, in plain words, for what is wrong with Telegram.
    """

    async def find() -> Inbound:
        async with TelegramClient(_telegram_settings(after), clock.monotonic) as client:
            me = await client.get_me()
            claim = OwnerCode(client, me, code, clock)
            await claim.look()
            announce(code, me.username)
            return await claim.wait(seconds)

    try:
        return asyncio.run(find())
    except RemoteError as error:
        raise ConfigError(_telegram_problem(error, "").text) from None


def thank(after: ResolvedSettings, clock: Clock, chat: str, text: str) -> None:
    """Tell the owner, in the chat with the bot, that they are known now. Never raises."""

    async def send() -> None:
        async with TelegramClient(_telegram_settings(after), clock.monotonic) as client:
            await client.send(chat, MessagePart(text))

    with contextlib.suppress(RemoteError):
        asyncio.run(send())


def _telegram_settings(after: ResolvedSettings) -> TelegramSettings:
    settings = after.plugin_settings("kenobot.channels", "telegram", TelegramSettings)
    return settings.model_copy(
        update={
            "poll_seconds": _POLL_SECONDS,
            "request_seconds": min(_REQUEST_SECONDS, settings.request_seconds),
        }
    )


def _name_holder(url: str) -> str:
    host = urlsplit(url).hostname or url
    return Sentence("Telegram gives this bot's messages to the webhook of {host}.", host=host)


def _telegram_problem(error: RemoteError, name: str) -> LiveCheck:
    match error:
        case TokenRefused():
            return LiveCheck("refused", TOKEN_UNKNOWN, name)
        case WebhookInTheWay():
            return LiveCheck("held", _name_holder(Sentence("another program")), name)
        case PollingConflict():
            return LiveCheck("refused", CONTESTED, name)
        case Rejected():
            return LiveCheck("refused", SHUT_OUT if error.key == BANNED else str(error), name)
        case _ if error.key == "telegram.not_telegram":
            return LiveCheck("unreachable", NOT_TELEGRAM, name)
        case _:
            return LiveCheck("unreachable", OUT_OF_REACH, name)
