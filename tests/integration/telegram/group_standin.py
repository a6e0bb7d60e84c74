"""A Telegram server of groups: who sees which message, and when one may be sent to a single person."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.integration.telegram.standin import Answer, FakeTelegram

OCCASION_SECONDS = 15
_PARAMETERS = {"receiver_user_id": int, "callback_query_id": str, "replace_callback_query_message": bool}
_OLD = "Bad Request: query is too old and response timeout expired or query ID is invalid"


@dataclass
class Shown:
    """A message that stands in a chat. reader: who alone sees it; "" for everybody. buttons: their values by label."""

    chat: str
    text: str
    reader: str = ""
    buttons: dict[str, str] = field(default_factory=dict)


class GroupTelegram(FakeTelegram):
    """Keeps what stands in each chat, by its number.

    now: seconds. knows_ephemeral: it is of Bot API 10.3; an older one leaves out what it does not know, or refuses it
    where it is `strict`. administered: the groups in which the bot is an administrator. blocked: people who never let
    it write. occasions: what people did, by the query of a press or the number of a message: chat, person and time.
    arrivals: updates for the bot, one at a time. asked: how often it was asked whether it knows such messages.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.now = now
        self.knows_ephemeral = True
        self.strict = False
        self.administered: set[str] = set()
        self.blocked: set[str] = set()
        self.occasions: dict[str | int, tuple[str, str, float]] = {}
        self.messages: dict[int, Shown] = {}
        self.asked = 0
        self.arrivals: asyncio.Queue[object] = asyncio.Queue()

    def happens(self, name: str | int, chat: str, user: str) -> None:
        """A person presses a button, or writes a message that the bot alone sees."""
        self.occasions[name] = (chat, user, self.now())

    def seen_by(self, user: str, chat: str) -> list[str]:
        """Return what a person sees in a chat, in order."""
        return [m.text for m in self.messages.values() if m.chat == chat and m.reader in ("", user)]

    async def handle(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        if method == "getUpdates" and not self.script[method]:
            self.calls.append((method, {}))
            self.idle.set()
            return Answer([await self.arrivals.get()]).response()
        if self.script[method] or method not in _METHODS:
            return await super().handle(request)
        fields = {key: str(value) for key, value in (await request.post()).items()}
        self.calls.append((method, fields))
        return _METHODS[method](self, fields).response()

    def _send(self, fields: dict[str, str]) -> Answer:
        chat, written = fields["chat_id"], fields.get("ephemeral_message_parameters")
        if chat in self.blocked:
            return Answer(status=403, error="Forbidden: bot can't initiate conversation with a user")
        if written is not None and not self.knows_ephemeral:
            if self.strict:
                return _refused("unknown parameter ephemeral_message_parameters")
            written = None
        reader = ""
        if written is not None:
            parameters: dict[str, Any] = json.loads(written)
            if problem := self._problem(chat, parameters, json.loads(fields.get("reply_parameters", "{}"))):
                return Answer(status=400, error=problem)
            reader = str(parameters["receiver_user_id"])
        number = len(self.messages) + 101
        self.messages[number] = Shown(chat, fields["text"], reader, _buttons(fields))
        told: dict[str, object] = {"date": 1, "chat": {"id": int(chat), "type": "supergroup"}, "text": fields["text"]}
        unseen = {"message_id": 0, "ephemeral_message_id": number, "receiver_user": {"id": int(reader or 0)}}
        return Answer(told | (unseen if reader else {"message_id": number}))

    def _problem(self, chat: str, parameters: dict[str, Any], reply: dict[str, Any]) -> str:
        """Say why a message may not be sent to one person; "" where it may."""
        wrong = any(not isinstance(value, _PARAMETERS.get(name, ())) for name, value in parameters.items())
        if wrong or "receiver_user_id" not in parameters or not reply.keys() <= {"ephemeral_message_id"}:
            return "Bad Request: can't parse ephemeral message parameters"
        if not chat.startswith("-"):
            return "Bad Request: ephemeral messages can be sent only to groups and supergroups"
        if chat in self.administered:
            return ""
        name = parameters.get("callback_query_id") or reply.get("ephemeral_message_id")
        if name is None:
            return "Bad Request: not enough rights to send the message to one person"
        where, user, at = self.occasions.get(name, ("", "", 0.0))
        fitting = (where, user) == (chat, str(parameters["receiver_user_id"]))
        return "" if fitting and self.now() - at <= OCCASION_SECONDS else _OLD

    def _edit(self, fields: dict[str, str]) -> Answer:
        shown = self.messages.get(int(fields["message_id"]))
        if shown is None or shown.reader or shown.chat != fields["chat_id"]:
            return _refused("message to edit not found")
        shown.text, shown.buttons = fields["text"], _buttons(fields)
        return Answer(
            {"message_id": int(fields["message_id"]), "date": 1, "chat": {"id": int(shown.chat), "type": "x"}}
        )

    def _edit_unseen(self, fields: dict[str, str]) -> Answer:
        if not self.knows_ephemeral:
            return Answer(status=404, error="Not Found: method not found")
        shown = self.messages.get(int(fields["ephemeral_message_id"]))
        if shown is None or (shown.chat, shown.reader) != (fields["chat_id"], fields["receiver_user_id"]):
            return _refused("message to edit not found")
        shown.text, shown.buttons = fields["text"], _buttons(fields)
        return Answer(True)

    def _delete_unseen(self, fields: dict[str, str]) -> Answer:
        self.asked += 1
        if not self.knows_ephemeral:
            return Answer(status=404, error="Not Found: method not found")
        assert "ephemeral_message_id" not in fields, "the bot deletes none of its own"
        return _refused("parameter ephemeral_message_id is required")

    def _delete(self, fields: dict[str, str]) -> Answer:
        del self.messages[int(fields["message_id"])]
        return Answer(True)


_METHODS: dict[str, Callable[[GroupTelegram, dict[str, str]], Answer]] = {
    "sendMessage": GroupTelegram._send,
    "editMessageText": GroupTelegram._edit,
    "editEphemeralMessageText": GroupTelegram._edit_unseen,
    "deleteEphemeralMessage": GroupTelegram._delete_unseen,
    "deleteMessage": GroupTelegram._delete,
}


def _refused(why: str) -> Answer:
    return Answer(status=400, error=f"Bad Request: {why}")


def _buttons(fields: dict[str, str]) -> dict[str, str]:
    rows = json.loads(fields["reply_markup"])["inline_keyboard"] if "reply_markup" in fields else []
    return {button["text"]: button["callback_data"] for row in rows for button in row}
