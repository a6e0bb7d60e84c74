"""The scanner on the recorded replies of the system that this one follows."""

from typing import Any

from tests.cases import each
from tests.unit.postprocessors.recorded import recorded
from tests.unit.postprocessors.tags_found import found

# What we want where the recorded behaviour is a defect or contradicts the design.
BETTER: dict[str, dict[str, Any]] = {
    "<memory>a <memory>b</memory> c</memory>": {"cleanText": "", "items": ["a b c"]},
    "<memory>x</memory >": {"cleanText": "", "items": ["x"]},
    "<CHAT-MEMORY>x</CHAT-MEMORY>": {"cleanText": "", "items": ["x"]},
    "<chat-memory>x</chat-memory >": {"cleanText": "", "items": ["x"]},
    "<chat-memory>unclosed one\n<chat-memory>second</chat-memory> tail": {
        "cleanText": "unclosed one\n tail",
        "items": ["second"],
    },
    "<working-memory>a <working-memory>b</working-memory> c</working-memory>": {"cleanText": "", "items": ["a b c"]},
    "<WORKING-MEMORY>x</WORKING-MEMORY>": {"cleanText": "", "items": ["x"]},
    "<working-memory>x</working-memory >": {"cleanText": "", "items": ["x"]},
    "<working-memory>unclosed one\n<working-memory>second</working-memory> tail": {
        "cleanText": "unclosed one\n tail",
        "items": ["second"],
    },
    "<user>a <user>b</user> c</user>": {"cleanText": "", "items": ["a b c"]},
    "<USER>x</USER>": {"cleanText": "", "items": ["x"]},
    "<user>x</user >": {"cleanText": "", "items": ["x"]},
    "<CHAT-CONTEXT>x</CHAT-CONTEXT>": {"cleanText": "", "items": ["x"]},
    '<chat-context scope="x">attr</chat-context>': {"cleanText": "", "items": ["attr"]},
    "<chat-context>x</chat-context >": {"cleanText": "", "items": ["x"]},
    "<chat-context>unclosed one\n<chat-context>second</chat-context> tail": {
        "cleanText": "unclosed one\n tail",
        "items": ["second"],
    },
    "<BOOTSTRAP-COMPLETE/>": {"cleanText": "", "items": [""]},
    "<bootstrap-complete></bootstrap-complete>": {"cleanText": "", "items": [""]},
    "Response.\n<memory>global fact</memory>\n<chat-memory>chat fact</chat-memory>": {
        "cleanText": "Response.",
        "items": ["chat fact"],
    },
}

AREAS = (
    "tags.memory",
    "tags.chat-memory",
    "tags.working-memory",
    "tags.user",
    "tags.chat-context",
    "tags.bootstrap-complete",
)

KEYS = ("memories", "chatMemories", "workingMemory", "updates", "chatContext", "isComplete")


def better(text: str) -> dict[str, Any] | None:
    """What should come out where the recorded behaviour is not what we want; None where it is."""
    if text in BETTER:
        return BETTER[text]
    if text.startswith("```\n<"):
        return {"cleanText": text, "items": []}
    if text.startswith("line1\r\n"):
        return {"cleanText": "line1\n\nline2", "items": ["z"]}
    if text.startswith("Text with <") and "<user>" not in text:
        return {"cleanText": "Text with unclosed tag", "items": []}
    return None


@each("case", recorded(*AREAS))
def test_recorded_cases(case: dict[str, Any]) -> None:
    """The recorded replies come apart as they did, or better where that was a defect."""
    name = {"user": "user-update"}.get(case["area"].removeprefix("tags."), case["area"].removeprefix("tags."))
    clean, elements = found(case["input"])
    contents = [content.strip() for found_name, content in elements if found_name == name]
    wanted = better(case["input"])
    if wanted is None:
        value = next(case["expected"][key] for key in KEYS if key in case["expected"])
        expected = {True: [""], False: [], None: []}[value] if value is None or isinstance(value, bool) else value
        wanted = {"cleanText": case["expected"]["cleanText"], "items": expected}
    if isinstance(wanted["items"], str):
        contents, wanted = contents[-1:], {**wanted, "items": [wanted["items"]]}
    elif name != "bootstrap-complete":
        contents = [content for content in contents if content]
    assert (clean, contents) == (wanted["cleanText"], wanted["items"])
