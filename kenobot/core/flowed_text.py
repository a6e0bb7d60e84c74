"""Join the lines of plain text that a mail program marked as flowed (RFC 3676)."""

from typing import Final

_SIGNATURE: Final = "-- "


def join_flowed(text: str, *, delsp: bool) -> str:
    """Join the lines of a text of format=flowed (RFC 3676). delsp: the space at the end of a line is the wrap's own."""
    lines: list[str] = []  # bounded: the body of one mail; turn
    above = -1  # depth of the quotation in which the line before goes on; -1 where it ends
    for line in text.split("\n"):
        content = line.lstrip(">")
        depth = len(line) - len(content)
        content = content.removeprefix(" ")
        goes_on = content.endswith(" ") and content != _SIGNATURE
        words = content[:-1] if goes_on and delsp else content
        if depth == above and content not in ("", _SIGNATURE):
            lines[-1] += words
        else:
            lines.append(f"{'>' * depth} {words}" if depth else words)
        above = depth if goes_on else -1
    return "\n".join(lines)
