"""The commands of docs/getting-started.md, as somebody would type them who follows it from the top."""

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "getting-started.md"
_BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+#.*$")

SKIPPED: Mapping[str, str] = {
    "make chat": "needs make, which is not Python",
    "kenobot setup": "asks in a terminal; the line for scripts follows",
    "kenobot setup --json ": "waits for a code from the owner's phone; the trial installs the service without it",
    "kenobot setup --yes --enable irc ": "needs an IRC server",
    "kenobot run": "the service does it",
    "docker ": "another way to the same",
}
"""Lines that begin so, or are that, and are left out: with the reason."""


def commands(text: str) -> list[str]:
    """Every line of the page's shell blocks, without comments, in order."""
    blocks = (block.replace("\\\n", " ") for block in _BLOCK.findall(text))
    return [line for block in blocks for each in block.splitlines() if (line := _COMMENT.sub("", each).strip())]


def reason_to_skip(command: str) -> str:
    """Return why the trial leaves a line out; "" when it does not."""
    for left_out, reason in SKIPPED.items():
        if command == left_out or (left_out.endswith(" ") and command.startswith(left_out)):
            return reason
    return ""
