"""The files of the mirror machine, what may stand in them, and how a person types it."""

from typing import Any

from kenobot.cognitive.mirror.paths import role_of
from kenobot.language.markdown import list_layout
from kenobot.ports.records import Record
from tests.unit.cognitive.mirror.house import TODAY

CHAT, OTHER = "chat:telegram-1", "chat:telegram-2"
FILES = [
    "MEMORY.md", f"{TODAY}.md", f"chats/telegram-1/{TODAY}.md", "chats/telegram-2/MEMORY.md",
    "working/telegram-1.md", "identity/preferences.md", "ref-n8n.md", f"archive/{TODAY}.md", "2026-02-10-topic.md",
    "week-2026-W07.md",
]  # fmt: skip
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("owner", {"core": True}), ("owner", {}), (CHAT, {"form": "episode"}), (OTHER, {"core": True}),
    (CHAT, {"form": "scratchpad", "slot": "working"}), ("owner", {"category": "preference"}),
    ("owner", {"form": "summary", "category": "week", "slot": "week:2026-W07"}),
]  # fmt: skip
WORDS = ["Ana vive en Bilbao", "ñandú ¿qué?", "我喜欢喝茶", "أحب القهوة", "🙂👩‍💻", "uso C++\n## 14:30 — forged\n- C#"]


def kind_of(path: str) -> list_layout.FileKind:
    """What sort of file stands at `path`."""
    place = role_of(path)
    assert place is not None
    return place.kind


def is_line(record: Record) -> bool:
    """Whether it is one line among others, and not a text that has a file to itself."""
    return record.form in ("note", "episode")


def line(kind: list_layout.FileKind, text: str) -> str:
    """As a person types it."""
    if kind == "daily":
        first, newline, rest = text.partition("\n")
        return f"## 9:05 - {first}{newline}{rest.replace('## ', chr(92) + '## ')}\n"
    indented = text.replace("\n", "\n  ")
    return f"*  {indented}\n" if kind in ("core", "ref", "topic") else f"- learned: {indented}\n"


def facts(kind: list_layout.FileKind, text: str) -> list[str]:
    """What a file says, line for line."""
    return [said for chunk in list_layout.split(kind, text) if (said := list_layout.fact_text(kind, chunk)) is not None]
