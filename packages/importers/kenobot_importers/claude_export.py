"""Read Claude's export: conversations with their messages, of which one branch is read."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from kenobot.ports.provider import Role
from kenobot_importers.json_items import parse_stamp, read_conversations
from kenobot_importers.talk import LONGEST_SAID, TalkFormat, TalkKind, TalkOptions, TalkRecord

_ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_USER, _PROGRAM = "user", "Claude"
_UNSUPPORTED = "this block is not supported on your current device yet"
_NO_PARENT = "00000000-0000-"
_LONGEST_PART = LONGEST_SAID - 1000  # characters of an attached text
_QUIET = frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking", "flag", "token_budget"))


def _is_of(name: str, head: bytes) -> bool:
    return name.lower().endswith(".json") and b'"chat_messages"' in head


def _read_conversation(value: object, before: int, options: TalkOptions) -> Iterator[TalkRecord]:
    """Read a conversation in the order of the file. before: messages that the file has before it."""
    messages = value.get("chat_messages") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(messages, list):
        yield TalkRecord("unclear", before + 1, "a conversation without messages")
        return
    key = str(value.get("uuid") or value.get("name") or before)
    title = str(value.get("name") or "")
    at = parse_stamp(value.get("created_at")) or options.default_at
    branch = _branch(messages, value.get("current_leaf_message_uuid"))
    for number, message in enumerate(messages, before + 1):
        if not isinstance(message, dict):
            yield TalkRecord("unclear", number, str(message)[:200])
            continue
        at = parse_stamp(message.get("created_at")) or at
        role = _ROLES.get(str(message.get("sender")))
        on_branch = number - before - 1 in branch
        for name, part in _list_attached(message):
            shown: TalkKind = "kept" if on_branch else "branch"
            yield TalkRecord(shown, number, f"{name}:\n{part}", _USER, at, "user", key, title, quoted=True)
        kind, text = _read_said(message)
        if role is None and kind == "kept":
            kind = "system" if message.get("sender") == "system" else "unclear"
        if kind == "kept" and not on_branch:
            kind = "branch"
        speaker = _USER if role == "user" else _PROGRAM
        yield TalkRecord(kind, number, text, speaker, at, role or "assistant", key, title)


def _branch(messages: Sequence[object], leaf: object) -> set[int]:
    """Return the places of the messages from the first to the one that was shown last.

    A message whose parent is not there follows the one before it.
    """
    places = {message.get("uuid"): at for at, message in enumerate(messages) if isinstance(message, dict)}
    at = places.get(leaf, len(messages) - 1) if isinstance(leaf, str) else len(messages) - 1
    way: set[int] = set()
    while at >= 0 and at not in way:
        way.add(at)
        message = messages[at]
        parent = message.get("parent_message_uuid") if isinstance(message, dict) else None
        begins = isinstance(parent, str) and parent.startswith(_NO_PARENT)
        at = -1 if begins else places.get(parent, at - 1)
    return way


def _read_said(message: Mapping[str, object]) -> tuple[TalkKind, str]:
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    text = "\n".join(filter(None, texts)).strip() or str(message.get("text") or "").strip()
    bare = "\n".join(line for line in text.split("\n") if line.strip(" `.").lower() != _UNSUPPORTED)
    if bare.strip(" \n`"):
        return "kept", bare.strip()
    if any(message.get(name) for name in ("attachments", "files", "files_v2")):
        return "media", ""
    return ("system" if any(block.get("type") in _QUIET for block in blocks) or text else "empty"), ""


def _list_attached(message: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Return the texts attached to a message, in pieces that memory takes whole, each with the name of its file."""
    attached = message.get("attachments")
    for each in attached if isinstance(attached, list) else ():
        text = each.get("extracted_content") if isinstance(each, dict) else None
        if not isinstance(text, str) or not text.strip():
            continue
        name = " ".join(str(each.get("file_name") or "file").split())[:200]
        for begin in range(0, len(text), _LONGEST_PART):
            yield name, text[begin : begin + _LONGEST_PART].strip()


_read = partial(read_conversations, _read_conversation)

CLAUDE = TalkFormat("claude", "Claude", "message", _is_of, _read, with_assistant=True)
