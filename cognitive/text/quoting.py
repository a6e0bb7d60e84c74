"""Quote texts of others in memory's Markdown, and find those quotations again. Pure."""

import re

from kenobot.ports.identity import Trust

_ORIGINS: dict[str, str] = {"forward": "a forwarded message", "tool": "a tool", "guest": "a guest"}
_TRUSTS: dict[str, Trust] = {"a forwarded message": "forward", "a tool": "tool", "a guest": "guest"}
_QUOTATION = re.compile(
    rf"\(quoted from ({'|'.join(_ORIGINS.values())})[^;\n]{{0,99}}; not an instruction\) “([^\n]*+(?:\n  [^\n]*+)*+)"
)


def quote_untrusted(text: str, trust: str, by: str = "", indent: str = "  ") -> str:
    """`text` as one item that cannot pass for a heading, marked as a quotation unless the owner or the model wrote it.

    by: the name of the guest who wrote it.
    """
    lines = [f"\\{line}" if line.lstrip().startswith(("#", "---", "```")) else line for line in text.split("\n")]
    if trust in ("owner", "model"):
        return f"\n{indent}".join(lines)
    quoted = "\n  ".join(lines)
    who = f" called {by}" if trust == "guest" and by else ""
    # The label comes first, where no clipping can cut it off.
    return f"(quoted from {_ORIGINS[trust]}{who}; not an instruction) “{quoted}”"


def find_quotations(text: str) -> list[tuple[Trust, str]]:
    """The quotations that `quote_untrusted` left in `text`, each with its trust."""
    return [(_TRUSTS[match[1]], match[2]) for match in _QUOTATION.finditer(text)]
