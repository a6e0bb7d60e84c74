"""Write and find quotations of others, and pointers to ref files, in memory's Markdown. Pure."""

import re

from kenobot.ports.identity import Trust

_ORIGINS: dict[str, str] = {"forward": "a forwarded message", "tool": "a tool", "guest": "a guest"}
_TRUSTS: dict[str, Trust] = {"a forwarded message": "forward", "a tool": "tool", "a guest": "guest"}
_QUOTATION = re.compile(
    rf"\(quoted from ({'|'.join(_ORIGINS.values())})[^;\n]{{0,99}}; not an instruction\) “([^\n]*+(?:\n  [^\n]*+)*+)"
)
INDEX_LINK = re.compile(r"\[[^\]\n]*\]\(ref-([^)\n]+)\.md\)")  # in MEMORY.md, a pointer to a ref file and no fact


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


def index_line(name: str, facts: int) -> str:
    """The pointer to a ref file."""
    return f"- [{name}](ref-{name}.md): {facts} fact{'' if facts == 1 else 's'}\n"


def index_target(line: str) -> str | None:
    """The name of the ref file that a line of MEMORY.md points to."""
    body = re.sub(r"\A[-*+][ \t]+", "", line)
    match = INDEX_LINK.match(body) if body != line else None
    return match[1] if match else None
