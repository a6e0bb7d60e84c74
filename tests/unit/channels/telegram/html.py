"""Spans shown as the HTML that means the same, which is easier to read and to compare."""

from collections.abc import Sequence

from kenobot.ports.messages import TextEntity

_TAGS = {"bold": "b", "italic": "i", "strikethrough": "s", "code": "code"}


def as_html(text: str, spans: Sequence[TextEntity]) -> str:
    """The HTML of `text`; fails unless the spans are well nested, the outer ones first."""
    raw = text.encode("utf-16-le")
    out: list[str] = []
    enclosing: list[TextEntity] = []
    at = 0

    def write_until(offset: int) -> None:
        nonlocal at
        out.append(_escape(raw[2 * at : 2 * offset].decode("utf-16-le")))
        at = offset

    def close_until(offset: int) -> None:
        while enclosing and _end(enclosing[-1]) <= offset:
            span = enclosing.pop()
            write_until(_end(span))
            out.append(_closing(span))

    for span in spans:
        close_until(span.offset)
        assert not enclosing or _end(span) <= _end(enclosing[-1]), "spans overlap"
        write_until(span.offset)
        out.append(_opening(span))
        enclosing.append(span)
    close_until(len(raw) // 2)
    write_until(len(raw) // 2)
    return "".join(out)


def _end(span: TextEntity) -> int:
    return span.offset + span.length


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _opening(span: TextEntity) -> str:
    if span.kind == "pre":
        return f'<pre><code class="language-{span.detail}">' if span.detail else "<pre><code>"
    if span.kind == "text_link":
        return '<a href="{}">'.format(_escape(span.detail).replace('"', "&quot;"))
    return f"<{_TAGS[span.kind]}>"


def _closing(span: TextEntity) -> str:
    return {"pre": "</code></pre>", "text_link": "</a>"}.get(span.kind) or f"</{_TAGS[span.kind]}>"
