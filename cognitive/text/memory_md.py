"""The pointers of MEMORY.md to its ref files."""

import re

INDEX_LINK = re.compile(r"\[[^\]\n]*\]\(ref-([^)\n]+)\.md\)")  # in MEMORY.md, a pointer to a ref file and no fact


def index_line(name: str, facts: int) -> str:
    """The pointer to a ref file."""
    return f"- [{name}](ref-{name}.md): {facts} fact{'' if facts == 1 else 's'}\n"


def index_target(line: str) -> str | None:
    """The name of the ref file that a line of MEMORY.md points to."""
    body = re.sub(r"\A[-*+][ \t]+", "", line)
    match = INDEX_LINK.match(body) if body != line else None
    return match[1] if match else None
