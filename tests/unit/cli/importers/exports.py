"""Exports of messengers and assistants, as these write them, of talk that nobody had."""

from collections.abc import Mapping, Sequence

ROOT = "00000000-0000-4000-8000-000000000000"

WHATSAPP_IPHONE = (
    "[13/1/26, 9:03:07\u202fp.\u00a0m.] Viaje a Roma: "
    "\u200eLos mensajes y las llamadas están cifrados de extremo a extremo.\n"
    "\u200e[13/1/26, 9:04:00\u202fp.\u00a0m.] Ana García: \u200eimagen omitida\n"
    "[13/1/26, 9:05:00\u202fp.\u00a0m.] ~\u202fLuis: El dentista de Toby se llama Quintanilla\n"
    "tiene consulta en Lugo\n"
    "\n"
    "[14/1/26, 12:05:00\u202fa.\u00a0m.] \u202a+34\u00a0612\u00a034\u00a056\u00a078\u202c: "
    "Voy a Roma \u200e<Se editó este mensaje>\n"
    "[14/1/26, 12:06:00\u202fa.\u00a0m.] Ana García: mira \u200e<adjunto: 00001-PHOTO-2026-01-14.jpg>\n"
    "[14/1/26, 12:07:00\u202fa.\u00a0m.] Ana García: \u200eEliminaste este mensaje.\n"
)


def telegram_chat(messages: Sequence[Mapping[str, object]], name: str = "Ana") -> dict[str, object]:
    """One chat."""
    return {"name": name, "type": "personal_chat", "id": 4711, "messages": [*messages]}


def telegram_message(number: int, text: object, **more: object) -> dict[str, object]:
    """A message of Ana's."""
    said = {
        "id": number,
        "type": "message",
        "date": f"2026-01-05T10:{number:02}:00",
        "from": "Ana",
        "from_id": "user77",
    }
    stamp = {"date_unixtime": str(1_767_603_600 + 60 * number), "text_entities": []}
    return {**said, **stamp, "text": text, **more}


def chatgpt_node(
    name: str, parent: str | None, role: str = "user", text: object = "", **more: object
) -> tuple[str, dict[str, object]]:
    """A node of a conversation's tree. more: of its message."""
    parts = text if isinstance(text, list) else [text]
    message: dict[str, object] = {
        "id": name,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_767_603_600.25,
        "content": {"content_type": "text", "parts": parts},
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
    }
    return name, {"id": name, "message": message | more, "parent": parent, "children": []}


def chatgpt_conversation(nodes: Sequence[tuple[str, dict[str, object]]], current: str | None) -> dict[str, object]:
    """A conversation with its tree."""
    root: tuple[str, dict[str, object]] = ("root", {"id": "root", "message": None, "parent": None, "children": []})
    about = {"title": "Bread", "create_time": 1_767_603_600.0, "conversation_id": "c-1", "current_node": current}
    return about | {"mapping": dict([root, *nodes])}


def claude_message(number: int, sender: str, text: str, parent: int | None = None, **more: object) -> dict[str, object]:
    """A message of a conversation with Claude. parent: the number of the one that it follows."""
    block = {"type": "text", "text": text, "start_timestamp": None, "stop_timestamp": None}
    above = {"parent_message_uuid": f"m-{parent}" if parent else ROOT} if parent is not None else {}
    at = f"2026-01-05T10:{number:02}:00.123456Z"
    return {
        "uuid": f"m-{number}", "text": text, "content": [block], "sender": sender, "created_at": at, "attachments": [],
        "files": [], **above, **more,
    }  # fmt: skip


def claude_conversation(messages: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """A conversation."""
    return {"uuid": "k-1", "name": "Tea", "created_at": "2026-01-05T10:00:00Z", "chat_messages": [*messages]}
