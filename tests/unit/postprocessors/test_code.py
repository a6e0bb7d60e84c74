"""Where code stands in Markdown."""

import pytest

from kenobot.postprocessors.code_ranges import code_ranges, find_fenced_ranges


def quoted(text: str) -> list[str]:
    return [text[start:end] for start, end in code_ranges(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```\na\n```", ["```\na\n```"]),
        ("x\n  ```py\na\n  ```  \ny", ["  ```py\na\n  ```  "]),
        ("~~~\n```\n~~~", ["~~~\n```\n~~~"]),
        ("````\n```\n````", ["````\n```\n````"]),
        ("```\na\n`````", ["```\na\n`````"]),
        ("```\na\n```\n```\nb\n```", ["```\na\n```", "```\nb\n```"]),
        ("```\na", []),
        ("```\na\n``` b", []),
        ("``` a ``` b\nc\n```", []),
        ("````\n```\na\n```", ["```\na\n```"]),
        ("    ```\na\n    ```", []),
        ("x ```\na\n```", []),
        ("~~~\na\n~~~\n```\nb\n```\n~~~\nc\n~~~", ["~~~\na\n~~~", "```\nb\n```", "~~~\nc\n~~~"]),
        ("``` ~~~\na\n```\n~~~\n~~~ ```\n~~~", ["``` ~~~\na\n```", "~~~\n~~~ ```\n~~~"]),
        ("```\n~~~\n", []),
    ],
)
def test_closed_fences_are_blocks(text: str, blocks: list[str]) -> None:
    """A fence needs a line of its own at both ends, and the closer is at least as long."""
    assert [text[start:end] for start, end in find_fenced_ranges(text)] == blocks


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a `b` c `d`", ["`b`", "`d`"]),
        ("a ``b ` c`` d", ["``b ` c``"]),
        ("a ` b `` c", []),
        ("a `b\nc` d", ["`b\nc`"]),
        ("a `b\n \nc` d", []),
        ("a `b\n```\nc\n```\nd` e", ["```\nc\n```"]),
        ("a `b\n\n`c`", ["`c`"]),
        ("no code", []),
    ],
)
def test_matched_backticks_within_a_paragraph_are_code(text: str, spans: list[str]) -> None:
    """A run of backticks is closed by the next run of its length, if that comes before the paragraph ends."""
    assert quoted(text) == spans
