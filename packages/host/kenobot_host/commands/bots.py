"""`kenobot host bot`: whose messages come to which home."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import psycopg

from kenobot.channels.telegram.settings import is_token
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.ports.errors import ConfigError, StoreError
from kenobot_host import activation_rows, mail_rows
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.cell_address import find_address
from kenobot_host.connections import tell
from kenobot_host.sealing import Sealer

_CONNECT_SECONDS = 5


def set_bot(context: CommandContext) -> int:
    """Route a bot's chats to a home: all that no other home has, or those that are named."""
    args = context.args
    try:
        token = Path(args.token_file).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("files.unreadable", path=args.token_file, reason=error) from error
    if not is_token(token):
        raise ConfigError("telegram.bad_token")
    account, stored = token.partition(":")[0], BotTokens(Sealer.find(os.environ)).seal(token)
    intake = "webhook" if args.webhook else "poll"

    async def store(connection: psycopg.AsyncConnection) -> None:
        home = await mail_rows.find_home_number(connection, args.name)
        if home is None:
            raise ConfigError("host.no_home", name=args.name)
        bot = mail_rows.Bot(account, stored, args.base_url, intake, "", None if args.chat else home)
        await mail_rows.set_bot(connection, bot)
        await mail_rows.set_routes(connection, account, home, args.chat or ())
        await activation_rows.request_activation(connection, home)

    _run_in_transaction(store)
    row = {"bot": account, "home": args.name, "intake": intake, "chats": args.chat or []}
    return options.print_row(
        row, args.json, say("Messages to the bot {bot} come to {name}.", bot=account, name=args.name)
    )


def remove_bot(context: CommandContext) -> int:
    """Take a bot out: nothing of it is taken in any more."""
    account = context.args.bot

    async def delete(connection: psycopg.AsyncConnection) -> None:
        if not await mail_rows.delete_bot(connection, account):
            raise options.NothingFound(say("There is no bot {bot}.", bot=account))

    _run_in_transaction(delete)
    told = say("The bot {bot} takes nothing in any more; what came in before is answered.", bot=account)
    return options.print_row({"bot": account}, context.args.json, told)


def list_bots(context: CommandContext) -> int:
    """List the bots, without their tokens."""
    found: list[mail_rows.Bot] = []

    async def load(connection: psycopg.AsyncConnection) -> None:
        found.extend(await mail_rows.load_bots(connection))

    _run_in_transaction(load)
    rows = [{"bot": bot.account, "username": bot.username, "intake": bot.intake, "home": bot.home} for bot in found]
    return options.print_rows(
        rows,
        context.args.json,
        lambda row: f"{row['bot']}  @{row['username']}  {row['intake']}",
        say("There is no bot yet."),
    )


def _run_in_transaction(work: Callable[[psycopg.AsyncConnection], Awaitable[None]]) -> None:
    """Do work in one transaction on the cell's database. Raises ConfigError and StoreError."""

    async def run() -> None:
        url = find_address(os.environ)
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            await work(connection)

    try:
        asyncio.run(run())
    except psycopg.ProgrammingError as error:
        raise ConfigError("host.no_schema" if error.sqlstate else "host.bad_url") from error
    except psycopg.Error as error:
        raise StoreError("host.unreachable", reason=tell(error)) from error
