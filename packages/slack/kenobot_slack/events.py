"""Read what happens on Slack, and write what the bot says there."""

import html
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from kenobot.channels.markup import mark_up
from kenobot.core import lazy
from kenobot.ports.messages import Attachment, Inbound, MediaKind, MessagePart, TextEntity

NAME: Final = "slack"
_SAID: Final = ("", "file_share", "thread_broadcast", "me_message")
_EMOJI: Final = {
    "+1": "👍",
    "-1": "👎",
    "heart": "❤",
    "eyes": "👀",
    "tada": "🎉",
    "fire": "🔥",
    "ok_hand": "👌",
    "joy": "😂",
    "cry": "😢",
    "rage": "😡",
    "thinking_face": "🤔",
    "clap": "👏",
    "100": "💯",
    "pray": "🙏",
    "white_check_mark": "✅",
    "x": "❌",
}
_ALSO: Final = {"thumbsup": "+1", "thumbsdown": "-1"}
_MENTION = lazy.regex(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")
_LINK = lazy.regex(r"<([^>|@#!][^>|]*)(?:\|([^>]*))?>")
_IN_WORDS: Final = frozenset({"bold", "italic", "strikethrough", "code"})
_EDGE: Final = "\u200b"  # an edge of a word that nobody sees
_SIGNS: Final = {"bold": "*", "italic": "_", "strikethrough": "~", "code": "`", "pre": "```"}


def read_message(event: Mapping[str, Any], me: str) -> Inbound | None:
    """Read a message for the bot, whose Slack id is `me`; None for one that is not.

    Raises KeyError, TypeError and ValueError for one without the fields of a message.
    """
    edited = event.get("subtype") == "message_changed"
    said: Mapping[str, Any] = event["message"] if edited else event
    if said.get("bot_id") or said.get("user", me) == me or said.get("subtype", "") not in _SAID:
        return None
    text, channel, ts = str(said.get("text", "")), str(event["channel"]), str(said["ts"])
    if edited and text == event.get("previous_message", {}).get("text"):
        return None  # a preview of a link was added
    private = channel.startswith("D")
    if not (private or f"<@{me}" in text or said.get("parent_user_id") == me):
        return None
    thread = str(said.get("thread_ts", ""))
    inbound = Inbound(
        channel=NAME,
        external_id=f"{channel} {ts}" + (f" edited {event['ts']}" if edited else ""),
        chat=channel,
        user=str(said["user"]),
        text=_words(text, me),
        sent_at=datetime.fromtimestamp(float(ts), UTC),
        private=private,
        kind="edit" if edited else "message",
        target=ts if edited else "",
        attachments=tuple(_attachment(file) for file in said.get("files", ()) if file.get("url_private")),
        thread="" if thread == ts else thread,
        platform_id=ts,
    )
    return inbound if inbound.text or inbound.attachments else None


def read_reaction(event: Mapping[str, Any], me: str) -> Inbound | None:
    """Read a reaction to a message of the bot; None for any other."""
    item, user = event["item"], str(event["user"])
    if event.get("item_user") != me or user == me or item.get("type") != "message":
        return None
    name = str(event["reaction"]).partition("::")[0]
    return Inbound(
        channel=NAME,
        external_id=f"{item['channel']} {item['ts']} {user} {event['event_ts']}",
        chat=str(item["channel"]),
        user=user,
        text="",
        sent_at=datetime.fromtimestamp(float(event["event_ts"]), UTC),
        private=str(item["channel"]).startswith("D"),
        kind="reaction",
        target=str(item["ts"]),
        value=_EMOJI.get(_ALSO.get(name, name), ""),
    )


def read_press(payload: Mapping[str, Any]) -> Inbound | None:
    """Read the pressing of a button; None for any other interaction."""
    if payload.get("type") != "block_actions" or not payload.get("actions"):
        return None
    action, channel = payload["actions"][0], str(payload["channel"]["id"])
    return Inbound(
        channel=NAME,
        external_id=f"{channel} {payload['message']['ts']} {payload['user']['id']} {action['action_ts']}",
        chat=channel,
        user=str(payload["user"]["id"]),
        text="",
        sent_at=datetime.fromtimestamp(float(action["action_ts"]), UTC),
        private=channel.startswith("D"),
        kind="action",
        target=str(payload["message"]["ts"]),
        thread=str(payload["message"].get("thread_ts", "")),
        value=str(action["value"]),
    )


def emoji_name(emoji: str) -> str:
    """Return Slack's name of an emoji; "" for one without."""
    return next((name for name, sign in _EMOJI.items() if sign == emoji.rstrip("\ufe0f")), "")


def _words(text: str, me: str) -> str:
    """Write links as addresses, and leave out mentions of the bot at the beginning."""
    while (first := _MENTION.match(text)) and first[1] == me:
        text = text[first.end() :].lstrip(" ,:\n")
    text = _MENTION.sub(lambda found: f"@{found[1]}", text)
    text = _LINK.sub(
        lambda found: f"{found[2]} ({found[1]})" if found[2] and found[2] not in found[1] else found[1], text
    )
    return html.unescape(text).strip()


def _attachment(file: Mapping[str, Any]) -> Attachment:
    mime = str(file.get("mimetype", ""))
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    kind = kinds.get(mime.partition("/")[0], "document")
    handle = "" if file.get("is_external") else str(file["id"])  # a file elsewhere is not Slack's to give
    return Attachment(kind, mime[:100], str(file.get("name", ""))[:200], file.get("size"), handle)


def write(part: MessagePart) -> str:
    """Write a part in Slack's formatting, whose marks count only at the edges of words."""
    units = part.text.encode("utf-16-le", "surrogatepass")

    def is_word(at: int) -> bool:
        char = units[2 * at : 2 * at + 2].decode("utf-16-le", "replace") if at >= 0 else ""
        return char.isalnum() or char == "_" or not (char.isascii() or char.isspace())

    def marks(entity: TextEntity, text: str) -> tuple[str, str]:
        before, after = _marks(entity, text)
        if entity.kind not in _IN_WORDS:
            return before, after
        first, behind = entity.offset - 1, entity.offset + entity.length
        return _EDGE * is_word(first) + before, after + _EDGE * is_word(behind)

    return mark_up(part, marks, lambda text: html.escape(text, quote=False)).encode("utf-8", "replace").decode()


def write_blocks(part: MessagePart) -> list[dict[str, Any]]:
    """Write a part with buttons as blocks."""
    blocks: list[dict[str, Any]] = [{"type": "section", "text": {"type": "mrkdwn", "text": write(part)}}]
    for row, buttons in enumerate(part.buttons):
        elements = [
            {
                "type": "button",
                "action_id": f"{row}-{column}",
                "text": {"type": "plain_text", "text": button.label[:75]},
                "value": button.value,
            }
            for column, button in enumerate(buttons)
        ]
        blocks.append({"type": "actions", "elements": elements})
    return blocks if part.buttons else []


def _marks(entity: TextEntity, text: str) -> tuple[str, str]:
    if entity.kind == "text_link":
        is_web = entity.detail.startswith(("https://", "http://")) and not set(entity.detail) & set("<>|")
        return (f"<{entity.detail}|", ">") if is_web and text != entity.detail else ("", "")
    sign = _SIGNS.get(entity.kind, "")
    return sign, sign
