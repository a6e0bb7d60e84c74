"""Read ChatGPT's export: conversations as trees, of which the branch is read that was shown last."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

from kenobot.ports.provider import Role
from kenobot_importers.json_items import read_conversations
from kenobot_importers.talk import Open, TalkFormat, TalkKind, TalkOptions, TalkRecord

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
_TEXTS = ("text", "multimodal_text")
_ABOUT: Mapping[str, tuple[str, ...]] = {
    "user_editable_context": ("user_profile", "user_instructions"),
    "model_editable_context": ("model_set_context",),
}
_USER, _PROGRAM = "user", "ChatGPT"


def _is_of(name: str, head: bytes) -> bool:
    return name.lower().endswith(".json") and b'"mapping"' in head


def _read(open_file: Open, options: TalkOptions) -> Iterator[TalkRecord]:
    """Read the conversations of a file. Raises OSError."""
    return read_conversations(partial(_read_conversation, set()), open_file, options)


def _read_conversation(known: set[str], value: object, before: int, options: TalkOptions) -> Iterator[TalkRecord]:
    """Read a conversation: its branch in order, then what stands on others. known: `_read_about` of those before it."""
    mapping = value.get("mapping") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(mapping, dict):
        yield TalkRecord("unclear", before + 1, "a conversation without messages")
        return
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    branch = _branch(nodes, value.get("current_node"))
    key = str(value.get("conversation_id") or value.get("id") or value.get("title") or before)
    title = str(value.get("title") or "")
    at = _read_moment(value.get("create_time")) or options.default_at
    number = before
    shown = set(branch)
    for name in (*branch, *(name for name in nodes if name not in shown)):
        message = nodes[name].get("message")
        if message is None:
            continue  # the root of a tree says nothing
        number += 1
        if not isinstance(message, dict):
            yield TalkRecord("unclear", number, str(message)[:200])
            continue
        at = _read_moment(message.get("create_time")) or at
        role, kind, text = _read_said(message)
        if (about := _read_about(message)) and about not in known:
            known.add(about)
            role, kind, text = _teller(message), "kept", about
        if name not in shown and kind == "kept":
            kind = "branch"
        speaker = _USER if role == "user" else _PROGRAM
        yield TalkRecord(kind, number, text, speaker, at, role, key, title)


def _branch(nodes: Mapping[str, Mapping[str, object]], leaf: object) -> list[str]:
    """Return the way from the root to the message that was shown last."""
    name = leaf if isinstance(leaf, str) and leaf in nodes else _newest_leaf(nodes)
    way: dict[str, None] = {}
    while isinstance(name, str) and name in nodes and name not in way:
        way[name] = None
        name = nodes[name].get("parent")
    return list(way)[::-1]


def _newest_leaf(nodes: Mapping[str, Mapping[str, object]]) -> object:
    parents = {node.get("parent") for node in nodes.values() if isinstance(node.get("parent"), str)}
    leaves = [name for name in nodes if name not in parents]

    def age(name: str) -> float:
        message = nodes[name].get("message")
        at = message.get("create_time") if isinstance(message, dict) else None
        return float(at) if isinstance(at, int | float) else 0.0

    return max(leaves, key=age, default=None)


def _read_said(message: Mapping[str, object]) -> tuple[Role, TalkKind, str]:
    author, content, metadata = (_mapping(message.get(name)) for name in ("author", "content", "metadata"))
    role = _ROLES.get(str(author.get("role")))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0
    addressed = str(message.get("recipient") or "all") != "all"  # a call of a tool
    if role is None or hidden or addressed or content.get("content_type") not in _TEXTS:
        known = role is not None or author.get("role") in ("system", "tool")
        return role or "assistant", "system" if known else "unclear", ""
    parts = content.get("parts")
    pieces = parts if isinstance(parts, list) else [content.get("text")]
    text = "\n".join(filter(None, (_part(piece) for piece in pieces))).strip()
    if text:
        return role, "kept", text
    return role, "media" if any(isinstance(piece, dict) for piece in pieces) else "empty", ""


def _read_about(message: Mapping[str, object]) -> str:
    """Read what the person told the program of themselves, or it noted of them; it stands before every conversation."""
    content = _mapping(message.get("content"))
    texts = (content.get(name) for name in _ABOUT.get(str(content.get("content_type")), ()))
    return "\n".join(text.strip() for text in texts if isinstance(text, str)).strip()


def _teller(message: Mapping[str, object]) -> Role:
    """Return who wrote what comes before every conversation."""
    return "user" if "user_profile" in _mapping(message.get("content")) else "assistant"


def _part(piece: object) -> str:
    """Return a piece of a message as text: of speech what was understood; nothing of pictures."""
    if isinstance(piece, str):
        return piece
    text = piece.get("text") if isinstance(piece, dict) else None
    return text if isinstance(text, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _read_moment(seconds: object) -> datetime | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


CHATGPT = TalkFormat("chatgpt", "ChatGPT", "message", _is_of, _read, with_assistant=True)
