"""The tags that the tests of the scanner know, and what it finds of them."""

from kenobot.postprocessors.scanner import scan_tags

NAMES = {
    "memory": "memory",
    "chat-memory": "chat-memory",
    "working-memory": "working-memory",
    "user-update": "user-update",
    "user": "user-update",
    "update-preferences": "user-update",
    "chat-context": "chat-context",
    "bootstrap-complete/": "bootstrap-complete",
}


def found(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The clean text, and each element as name and content."""
    result = scan_tags(text, NAMES)
    return result.clean, [(element.name, element.content) for element in result.elements]
