"""Write what the bot says in WhatsApp's formatting, and as the bodies of its messages."""

from collections.abc import Iterator, Mapping
from typing import Final

from kenobot.channels.markup import mark_up, plain_marks
from kenobot.core import lazy
from kenobot.core.graphemes import last_whole
from kenobot.core.i18n import guess_language
from kenobot.ports.messages import Button, EntityKind, MessagePart

LONGEST: Final = 4096  # UTF-16 units
LONGEST_CAPTION: Final = 1024  # also of what stands above buttons or a list
_MOST_BUTTONS, _MOST_ROWS = 3, 10
_LABEL, _TITLE, _DESCRIPTION = 20, 24, 72  # UTF-16 units
_CHOOSE: Final = {"en": "Options", "es": "Opciones"}
_SIGNS: Final[Mapping[EntityKind, str]] = {
    "bold": "*",
    "italic": "_",
    "strikethrough": "~",
    "code": "`",
    "pre": "```",
}
_MARKS = plain_marks(_SIGNS)
_SCOPED = lazy.regex(r"[A-Z]{2}\..+")


def recipient(chat: str) -> dict[str, str]:
    """Return how a message names a chat: a phone number, Meta's own id of a person, or a group."""
    if chat.isascii() and chat.isdecimal():
        return {"recipient_type": "individual", "to": chat}
    if _SCOPED.fullmatch(chat):
        return {"recipient_type": "individual", "recipient": chat}
    return {"recipient_type": "group", "to": chat}


def write(part: MessagePart) -> str:
    """Write a part in WhatsApp's formatting. It knows no escapes: a sign in the text may be read as one."""
    return mark_up(part, _MARKS, quote_code=lambda code: code.replace("```", "`\u200b``"))


def length(text: str) -> int:
    """Return the length in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def text_body(part: MessagePart) -> dict[str, object]:
    """Return the body of a text. Links get no preview: WhatsApp's servers would call their addresses."""
    return {"type": "text", "text": {"preview_url": False, "body": write(part)}}


def button_bodies(part: MessagePart) -> Iterator[dict[str, object]]:
    """Yield the bodies of a part with buttons: up to three below the text, more, or longer ones, in a list.

    A list has ten rows; what is beyond them stands below a message of its own, as does what is too long a text.
    """
    buttons = [button for row in part.buttons for button in row]
    text, labels = write(part), {button.label for button in buttons}
    if length(text) > LONGEST_CAPTION:
        yield text_body(part)
        text = "…"
    if (
        len(buttons) <= _MOST_BUTTONS
        and len(labels) == len(buttons)
        and all(length(label) <= _LABEL for label in labels)
    ):
        replies = [{"type": "reply", "reply": {"id": button.value, "title": button.label}} for button in buttons]
        yield _interactive("button", text, {"buttons": replies})
        return
    choose = _CHOOSE[guess_language(part.text)]
    for first in range(0, len(buttons), _MOST_ROWS):
        rows = [_row(button) for button in buttons[first : first + _MOST_ROWS]]
        yield _interactive("list", "…" if first else text, {"button": choose, "sections": [{"rows": rows}]})


def _interactive(kind: str, text: str, action: Mapping[str, object]) -> dict[str, object]:
    return {"type": "interactive", "interactive": {"type": kind, "body": {"text": text}, "action": dict(action)}}


def _row(button: Button) -> dict[str, str]:
    title = _clip(button.label, _TITLE)
    more = {} if title == button.label else {"description": _clip(button.label, _DESCRIPTION)}
    return {"id": button.value, "title": title, **more}


def _clip(text: str, units: int) -> str:
    """Cut a label to so many UTF-16 units, between what is shown as one character."""
    if length(text) <= units:
        return text
    end = len(text.encode("utf-16-le", "surrogatepass")[: 2 * (units - 1)].decode("utf-16-le", "ignore"))
    return text[: last_whole(text, end)].rstrip() + "…"
