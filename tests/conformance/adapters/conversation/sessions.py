"""Names of sessions, and how much of a conversation is read back."""

import asyncio
from pathlib import Path

from kenobot.agent.prompt.prompt_context import PromptLimits
from kenobot.ports.identity import is_session_id, session_id
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_importers.folder import json_lines
from kenobot_testing.clock import START
from tests.conformance.adapters.conversation.telegram import repeated
from tests.conformance.cases import Case, NotApplicable, Outcome, compare
from tests.scratch import scratch

_LONGEST = 128
_LINES = 30  # "same": the messages that the original's own test stores


def id_valid(case: Case) -> Outcome:
    text = repeated(case.input)
    if case.expected is True and len(text) > _LONGEST:
        return NotApplicable("a session id becomes a file name: what is longer than 128 is shortened, with a hash")
    return compare(case, True if is_session_id(text) else {"error": f"Invalid sessionId: {text}"})


def id_format(case: Case) -> Outcome:
    channel, chat = case.input["channel"], case.input["chatId"]
    if channel.startswith("http"):
        return NotApplicable("not built yet (belongs to a later issue: HTTP channel and REST API)")
    return compare(case, session_id(channel, chat))


def load_corrupt(case: Case) -> Outcome:
    """What an import reads out of an old conversation's file."""
    return compare(case, [row for row in json_lines(case.input) if row is not None])


def load_limit(case: Case) -> Outcome:
    """The first and the last message that the prompt's history begins with."""
    lines, limit = case.input["lines"], case.input["limit"]
    count = _LINES if lines == "same" else lines
    texts = asyncio.run(
        _latest(
            [f"msg {number}" for number in range(count)] if isinstance(count, int) else count,
            PromptLimits().history_min if limit == "default" else limit,
        )
    )
    return compare(case, [texts[0], texts[-1]] if texts else [])


async def _latest(texts: list[str], limit: int) -> list[str]:
    def work(connection: Connection) -> list[str]:
        for number, text in enumerate(texts, 1):
            turn = conversation.FinishedTurn("telegram-1", number, START, text, "", "owner")
            conversation.append_turn(connection, turn)
        return [line.text for line in conversation.load_latest(connection, "telegram-1", limit)]

    with scratch() as folder:
        database = Database.open(Path(folder) / "kenobot.db", Path(folder) / "backups")
        try:
            return await database.write(work)
        finally:
            await database.close()
