"""Put results of a server's tools into words for the model, within limits. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence

from kenobot.core.left_out import cut_text
from kenobot.tools.mcp.schema import shorten

_LONGEST = 200_000  # characters, as many as settings let a model be shown
_MOST_BLOCKS = 1000
_LONGEST_QUESTION = 300  # characters
_NO_REASON = "The tool failed and does not say why."


def word_result(content: Sequence[Mapping[str, object]], structured: object) -> str:
    """Return what a tool brought: its texts, else its structured result, and a count of what is no text."""
    texts, others = list[str](), dict[str, int]()
    for block in content[:_MOST_BLOCKS]:
        text = _text_of(block)
        if text is None:
            kind = str(block.get("type", ""))
            kind = kind if kind in ("image", "audio") else "file"
            others[kind] = others.get(kind, 0) + 1
        elif text:
            texts.append(text)
    if not texts and structured is not None:
        texts.append(json.dumps(structured, ensure_ascii=False, default=str))
    if len(content) > _MOST_BLOCKS:
        texts.append(f"[{len(content) - _MOST_BLOCKS} more parts are not shown]")
    texts += [
        f"[{count} {kind}{'s' if count > 1 and kind != 'audio' else ''}, not shown]" for kind, count in others.items()
    ]
    return cut_text("\n".join(texts), _LONGEST)


def word_failure(content: Sequence[Mapping[str, object]]) -> str:
    """Return why a tool failed, in its own words."""
    return word_result(content, None).strip() or _NO_REASON


def word_request(requests: Mapping[str, Mapping[str, object]], why: str = "") -> str:
    """Say what a server wants to know before it goes on with a call, where nobody can be asked. why: that is so."""
    wishes = [wish for request in list(requests.values())[:5] for wish in _wishes(request)]
    wanted = "; ".join(wishes) or "an input that it does not describe"
    return (
        f"The server did not run this to its end: it wants an input first: {wanted}. It cannot be given here"
        f"{f': {why}' if why else ''}. Tell the person what it wants, and call the tool again only if its arguments "
        "have a place for the answer."
    )


def _wishes(request: Mapping[str, object]) -> Iterator[str]:
    parameters = request.get("params")
    message = parameters.get("message") if isinstance(parameters, Mapping) else None
    if isinstance(message, str) and message.strip():
        yield f'"{shorten(message, _LONGEST_QUESTION)}"'
    elif isinstance(method := request.get("method"), str):
        yield shorten(method, 60)


def _text_of(block: Mapping[str, object]) -> str | None:
    """Return the text of a part of a result; None for what is no text."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource_link", "uri": uri}:
            return f"[link: {shorten(str(block.get('name', '')), 100)} {shorten(str(uri), 500)}]"
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case _:
            return None
