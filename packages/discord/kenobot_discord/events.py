"""Read what happens on Discord, and write what the bot says there."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import discord

from kenobot.channels.markup import mark_up
from kenobot.core import lazy
from kenobot.ports.messages import Attachment, Inbound, MediaKind, MessagePart, TextEntity

NAME: Final = "discord"
_MOST_QUOTED: Final = 1000
_SAID: Final = (discord.MessageType.default, discord.MessageType.reply)
_SIGNS: Final = {"bold": "**", "italic": "*", "strikethrough": "~~"}
_SPECIAL = lazy.regex(r"(?m)(https?://[^\s<>]+)|^([ \t]*)([>#])|([\\*_~`|])")
_MENTION = lazy.regex(r"<@([!&]?)(\d+)>")


def read_message(message: discord.Message, me: discord.ClientUser) -> Inbound | None:
    """Read a message for the bot; None for one that is not."""
    author, channel = message.author, message.channel
    if author.bot or message.webhook_id is not None or message.type not in _SAID:
        return None
    private = isinstance(channel, discord.DMChannel)
    answered = message.reference.resolved if message.reference is not None else None
    replied = answered if isinstance(answered, discord.Message) else None
    to_bot = replied is not None and replied.author.id == me.id
    roles = {role.id for role in message.role_mentions if role.is_bot_managed() and role.tags.bot_id == me.id}  # type: ignore[union-attr]
    if not (private or to_bot or roles or any(user.id == me.id for user in message.mentions)):
        return None
    chat, thread = _place(channel)
    said = message.message_snapshots[0] if message.message_snapshots else message
    inbound = Inbound(
        channel=NAME,
        external_id=str(message.id),
        chat=chat,
        thread=thread,
        user=str(author.id),
        text=_words(said.content, message, {me.id, *roles}),
        sent_at=message.created_at,
        user_name=author.display_name,
        private=private,
        forwarded=said is not message,
        attachments=tuple(_attachment(message, file) for file in said.attachments),
        platform_id=str(message.id),
        reply_to=str(replied.id) if replied else "",
        quoted=replied.content[:_MOST_QUOTED] if replied else "",
        quoted_author=replied.author.display_name if replied and not to_bot else "",
    )
    return inbound if inbound.text or inbound.attachments else None


def read_edit(message: discord.Message, me: discord.ClientUser) -> Inbound | None:
    """Read the change of a message; None where its words did not change, as when Discord adds a preview."""
    inbound = read_message(message, me) if message.edited_at is not None else None
    if inbound is None or message.edited_at is None:
        return None
    number = f"{message.id} edited {message.edited_at.isoformat()}"
    return replace(inbound, kind="edit", external_id=number, target=inbound.platform_id)


def read_reaction(
    event: discord.RawReactionActionEvent, client: discord.Client, me: discord.ClientUser, now: datetime
) -> Inbound | None:
    """Read a reaction to a message of the bot; None for any other."""
    if event.message_author_id != me.id or event.user_id == me.id or (event.member and event.member.bot):
        return None
    channel = client.get_channel(event.channel_id)
    chat, thread = _place(channel) if channel is not None else (str(event.channel_id), "")
    return Inbound(
        channel=NAME,
        external_id=f"{event.message_id} {event.user_id} {event.emoji} {now.isoformat()}",
        chat=chat,
        thread=thread,
        user=str(event.user_id),
        text="",
        sent_at=now,
        user_name=event.member.display_name if event.member else "",
        private=event.guild_id is None,
        kind="reaction",
        target=str(event.message_id),
        value=event.emoji.name[:64] if event.emoji.is_unicode_emoji() else "",
    )


def read_press(press: discord.Interaction) -> Inbound | None:
    """Read the pressing of a button; None for any other interaction."""
    if press.type is not discord.InteractionType.component or press.message is None or press.channel is None:
        return None
    data: Any = press.data
    chat, thread = _place(press.channel)
    return Inbound(
        channel=NAME,
        external_id=str(press.id),
        chat=chat,
        thread=thread,
        user=str(press.user.id),
        text="",
        sent_at=press.created_at,
        user_name=press.user.display_name,
        private=press.guild_id is None,
        kind="action",
        target=str(press.message.id),
        value=str(data.get("custom_id", "")),
    )


def _place(channel: object) -> tuple[str, str]:
    """Name the chat, and the thread within, of a channel of Discord, which gives threads ids of their own."""
    if isinstance(channel, discord.Thread):
        return str(channel.parent_id), str(channel.id)
    return str(getattr(channel, "id", "")), ""


def _words(text: str, message: discord.Message, mine: set[int]) -> str:
    """Write mentions as names, and leave out those of the bot at the beginning."""
    names = {user.id: user.display_name for user in message.mentions}
    names |= {role.id: role.name for role in message.role_mentions}
    while (first := _MENTION.match(text)) and int(first[2]) in mine:
        text = text[first.end() :].lstrip(" ,:\n")
    return _MENTION.sub(lambda found: f"@{names.get(int(found[2]), found[2])}", text).strip()


def _attachment(message: discord.Message, file: discord.Attachment) -> Attachment:
    mime = (file.content_type or "").partition(";")[0]
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    kind = "voice" if file.is_voice_message() else kinds.get(mime.partition("/")[0], "document")
    handle = f"{message.channel.id}/{message.id}/{file.id}"
    return Attachment(kind, mime[:100], file.filename[:200], file.size, handle, seconds=file.duration or 0.0)


def write(part: MessagePart) -> str:
    """Write a part in Discord's Markdown."""
    return mark_up(part, _marks, _quote, lambda code: code.replace("```", "`\u200b``"))


def _quote(text: str) -> str:
    """Escape what Discord would read as formatting, except in addresses; a list stays a list."""
    return _SPECIAL.sub(lambda found: found[1] or f"{found[2] or ''}\\{found[3] or found[4]}", text)


def _marks(entity: TextEntity, text: str) -> tuple[str, str]:
    match entity.kind:
        case "text_link":
            is_web = entity.detail.startswith(("https://", "http://")) and text != entity.detail
            return ("[", f"](<{entity.detail}>)") if is_web else ("", "")
        case "pre":
            return f"```{entity.detail}\n", "```" if text.endswith("\n") else "\n```"
        case "code":
            return ("`` ", " ``") if "`" in text else ("`", "`")
    sign = _SIGNS.get(entity.kind, "")
    return sign, sign
