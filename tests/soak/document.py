"""Puts figures into docs/figures/soak.md, each under the command that measured them."""

from datetime import UTC, datetime
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "figures" / "soak.md"
BEGIN, END = "<!-- soak:begin -->", "<!-- soak:end -->"


def placed(text: str, command: str, figures: str) -> str:
    """`text` with the figures of `command` in the soak section, in place of its earlier ones; all else stays."""
    if BEGIN not in text:
        text = f"{text.rstrip()}\n\n{BEGIN}\n## A long run\n{END}\n"
    head, _, rest = text.partition(BEGIN)
    section, _, tail = rest.partition(END)
    intro, *others = section.strip().split("\n### ")
    kept = [intro.strip(), *(f"### {each.strip()}" for each in others if not each.startswith(f"`{command}`"))]
    day = datetime.now(UTC).date().isoformat()
    pieces = [*kept, f"### `{command}`, {day}\n\n{figures.strip()}"]
    return f"{head}{BEGIN}\n" + "\n\n".join(pieces) + f"\n{END}{tail}"
