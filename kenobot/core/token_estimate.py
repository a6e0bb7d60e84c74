"""Estimate the tokens of a text or a request without a model."""

import json

from kenobot.ports.provider import Block, Image, Request, ToolCall, ToolResult

BYTES_A_TOKEN = 3.5
PICTURE_TOKENS = 1600
"""What services count for a picture of the size that chats send, at most."""
_LONGEST_CHARACTER = 4


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text`, rounded up.

    Byte-level tokenizers come to 3.5–4.5 bytes a token over English, Spanish and code, and to about 3 over Chinese;
    3.5 errs on the side of too many.
    """
    length = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return int(length / BYTES_A_TOKEN) + 1


def clip_to_tokens(text: str, tokens: int) -> str:
    """Clip `text` to `tokens`, between characters."""
    room = max(0, int((tokens - 1) * BYTES_A_TOKEN))
    if len(text) * _LONGEST_CHARACTER <= room:
        return text
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= room:
        return text
    while room > 0 and (raw[room] & 0xC0) == 0x80:
        room -= 1
    return raw[:room].decode("utf-8", "surrogatepass")


def request_tokens(request: Request) -> int:
    """Estimate the tokens that a request may use in all, its longest answer included."""
    tokens, texts = request.max_tokens, [block.text for block in request.system]
    for spec in request.tools:
        tokens += spec.tokens or estimate_tokens(f"{spec.name} {spec.description} {json.dumps(dict(spec.schema))}")
    contents = [content for message in request.messages for content in message.blocks]
    texts += [content.text for content in contents if type(content) is Block or type(content) is ToolResult]
    tokens += PICTURE_TOKENS * sum([type(content) is Image for content in contents])
    for content in contents:
        if type(content) is ToolCall:
            texts.append(f"{content.name} {json.dumps(dict(content.arguments))}")
    return tokens + estimate_tokens("".join(texts)) + len(texts)  # each of which is rounded up
