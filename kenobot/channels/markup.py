"""Render a Markdown reply for platforms whose formatting stands within the text."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from typing import Final

from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.channels.telegram.split import split_message
from kenobot.ports.messages import EntityKind, MessagePart, TextEntity

Marks = Callable[[TextEntity, str], tuple[str, str]]
"""Give what stands before and after the formatted text of an entity."""

NOTHING_TO_SEE: Final = MessagePart("…")


def render_parts(markdown: str, limit: int, fits: Callable[[MessagePart], bool] | None = None) -> list[MessagePart]:
    """Cut a reply into parts of at most `limit` UTF-16 units, and into smaller ones as long as one does not fit.

    A text in which there is nothing to see becomes an ellipsis.
    """
    parts = split_message(*parse_markdown(markdown), limit)
    if fits is not None:
        parts = [piece for part in parts for piece in fit(part, limit, fits)]
    return parts or ([NOTHING_TO_SEE] if markdown else [])


def fit(part: MessagePart, limit: int, fits: Callable[[MessagePart], bool]) -> Iterator[MessagePart]:
    """Yield a part of at most `limit` UTF-16 units in pieces that fit."""
    limit //= 2
    if limit < 2 or fits(part):
        yield part
        return
    for piece in split_message(part.text, part.entities, limit):
        yield from fit(piece, limit, fits)


def split_lines(parts: Iterable[MessagePart]) -> Iterator[MessagePart]:
    """Yield each line that is not blank as a part of its own, with the formatting that runs through it."""
    for part in parts:
        at = 0
        for line in part.text.split("\n"):
            end = at + _units(line)
            if line.strip():
                clipped = (_clip(entity, at, end) for entity in part.entities)
                yield MessagePart(line, tuple(entity for entity in clipped if entity.length > 0))
            at = end + 1


def _clip(entity: TextEntity, first: int, last: int) -> TextEntity:
    start, end = max(entity.offset, first), min(entity.offset + entity.length, last)
    return TextEntity(entity.kind, start - first, end - start, entity.detail)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def mark_up(
    part: MessagePart,
    marks: Marks,
    quote: Callable[[str], str] = str,
    quote_code: Callable[[str], str] | None = None,
) -> str:
    """Write the formatting of a part into its text. quote: escapes what the platform would read as formatting.

    quote_code: the same within code, where it is another.
    """
    units = part.text.encode("utf-16-le", "surrogatepass")

    def text(first: int, last: int) -> str:
        return units[2 * first : 2 * last].decode("utf-16-le", "replace")

    out: list[str] = []
    open_until: list[tuple[int, str, bool]] = []
    at = 0

    def put(until: int) -> None:
        nonlocal at
        is_code = any(code for _, _, code in open_until)
        out.append((quote_code or quote)(text(at, until)) if is_code else quote(text(at, until)))
        at = until

    def write(until: int) -> None:
        while open_until and open_until[-1][0] <= until:
            put(open_until[-1][0])
            out.append(open_until.pop()[1])
        put(until)

    for entity in part.entities:
        write(entity.offset)
        end = entity.offset + entity.length
        before, after = marks(entity, text(entity.offset, end))
        out.append(before)
        open_until.append((end, after, entity.kind in ("code", "pre")))
    write(len(units) // 2)
    return "".join(out)


def plain_marks(signs: Mapping[EntityKind, str], link: str = " ({})") -> Marks:
    """Give marks that are the same on both sides. link: what stands behind a link whose text is not its address."""

    def marks(entity: TextEntity, text: str) -> tuple[str, str]:
        if entity.kind == "text_link":
            return "", "" if text == entity.detail else link.format(entity.detail)
        sign = signs.get(entity.kind, "")
        return sign, sign

    return marks


_TAGS: Final[Mapping[EntityKind, str]] = {"bold": "strong", "italic": "em", "strikethrough": "del", "code": "code"}


def as_html(part: MessagePart) -> str:
    """Write a part as HTML, with line breaks."""

    def marks(entity: TextEntity, _: str) -> tuple[str, str]:
        match entity.kind:
            case "text_link":
                return f'<a href="{escape(entity.detail)}">', "</a>"
            case "pre":
                language = f' class="language-{escape(entity.detail)}"' if entity.detail else ""
                return f"<pre><code{language}>", "</code></pre>"
            case kind if kind in _TAGS:
                return f"<{_TAGS[kind]}>", f"</{_TAGS[kind]}>"
        return "", ""

    pieces = mark_up(part, marks, escape).split("<pre>")
    first, *others = pieces
    lines = [first.replace("\n", "<br>\n")]
    for piece in others:
        code, closing, rest = piece.partition("</pre>")
        lines.append(f"<pre>{code}{closing}" + rest.replace("\n", "<br>\n"))
    return "".join(lines)
