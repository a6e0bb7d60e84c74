"""Small homes of other agents, as their programs write them."""

import json
from collections.abc import Mapping
from pathlib import Path

TOKEN = "12345678:" + "A" * 35


def lay(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write `files` below `root`."""
    for name, held in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held if isinstance(held, bytes) else held.encode())
    return root


def javascript(root: Path) -> Path:
    """A JavaScript KenoBot's."""
    said = [
        {"role": "user", "content": "¿Qué hora es en Lima?", "timestamp": 1_770_000_000_000},
        {"role": "assistant", "content": "Las nueve.", "timestamp": 1_770_000_001_000},
        {"role": "user", "content": f"mi token es {TOKEN}", "timestamp": 1_770_000_002_000},
    ]
    patterns = [
        {"id": "p1", "trigger": "n8n 401", "response": "use query params", "confidence": 0.6, "usageCount": 0},
        {"id": "p2", "trigger": "", "response": "x"},
    ]
    return lay(
        root,
        {
            "memory/MEMORY.md": "# User Profile\n- Adrian prefers Spanish for personal conversation\n"
            "- **Timezone:** America/Mexico_City\n- **Name:** (pending)\n\n"
            "## Consolidated — 2026-02-10\n- Deploys happen on Tuesdays\n\n## Decisiones\n- Usamos PostgreSQL\n",
            "memory/2026-02-12.md": "## 10:00 — El perro de Ana se llama Toby\n\n"
            "## 23:30 — Two lines\n  of one fact\n\n" + f"## 23:40 — token {TOKEN}\n\n",
            "memory/chats/telegram--100200/2026-02-12.md": "## 11:00 — The group meets on Fridays\n\n",
            "memory/chats/telegram--100200/context.md": "A hiking group",
            "memory/chats/..%2fevil/2026-02-12.md": "## 11:00 — no\n",
            "memory/working/telegram-1.md": "- Status: packing",
            "memory/procedural/patterns.json": json.dumps(patterns),
            "memory/identity/core.md": "# Soul",
            "memory/identity/rules.json": "{}",
            "memory/identity/preferences.md": "# User Preferences\n\n- learned: short answers\n- Háblame de tú\n",
            "data/sessions/telegram-1.jsonl": "\n".join(map(json.dumps, said)) + "\nnot json\n",
        },
    )


def openclaw(root: Path) -> Path:
    """An OpenClaw workspace."""
    return lay(
        root,
        {
            "AGENTS.md": "# AGENTS.md\nRead SOUL.md first.\n",
            "SOUL.md": "# SOUL\nBe kind.\n",
            "IDENTITY.md": "- **Name:** Claw\n",
            "USER.md": "# USER.md - About Your Human\n\n_Learn about the person._\n\n- **Name:** Marta\n"
            "- **Pronouns:** _(optional)_\n- **Notes:**\n\n## Context\n\nShe restores violins.\n",
            "MEMORY.md": "---\ntitle: x\n---\n# MEMORY.md\n\n## People\n- Omar: her brother\n\n"
            "## Projects\n- **Violins:**\n"
            "  - Stradivari copy is due in May\n  - Varnish comes from Cremona\n\n"
            "| Tool | Use |\n|---|---|\n| Plane | wood |\n",
            "memory/2026-02-10.md": "# 2026-02-10\n\n## 09:15 Workshop\n- Glue arrived\n- [ ] call the luthier\n\n"
            "### 4:30 PM\nThe bridge cracked\nand was replaced.\n",
            "memory/2026-02-11-bow-repair.md": "# Session: 2026-02-11 10:00:00 UTC\n\n- **Session Key**: agent:main\n"
            "- **Session ID**: abc\n\n## Conversation Summary\n\nassistant: hi\nuser: my secret plan\n\n"
            "The bow needs new hair.\n",
            "memory/projects/cello.md": "- The cello has a wolf note at F\n",
        },
    )


def nanobot(root: Path) -> Path:
    """A nanobot workspace."""
    rows = [
        {"cursor": 1, "timestamp": "2026-02-03 00:02", "content": "- User prefers dark mode\n- Decided on PostgreSQL"},
        {"cursor": 2, "timestamp": "2026-02-04 08:00", "content": "[RAW] 3 messages\n[2026-02-04 08:00] USER: hi"},
    ]
    return lay(
        root,
        {
            "AGENTS.md": "# Agent Instructions\nRemember what matters.\n",
            "HEARTBEAT.md": "# Heartbeat Tasks\n",
            "SOUL.md": "# Soul\nI am nanobot.\n",
            "TOOLS.md": "# Tool Usage Notes\n",
            "USER.md": "# User Profile\n\n## Basic Information\n\n- **Name**: Li Wei\n"
            "- **Timezone**: (your timezone)\n\n"
            "### Communication Style\n\n- [ ] Casual\n- [x] Technical\n\n## Topics of Interest\n\n- \n- Go\n",
            "memory/MEMORY.md": "# Long-term Memory\n\nThe user lives in Chengdu.\n\n## Project Context\n\n"
            "(Information about ongoing projects)\n\n---\n\n*This file is automatically updated.*\n",
            "memory/HISTORY.md": "[2026-02-01 09:00] Talked about the move to Chengdu.\nA second line.\n\n"
            "[2026-02-02 10:00] Chose a flat.\n\n",
            "memory/history.jsonl": "\n".join(map(json.dumps, rows)) + "\n{broken\n",
        },
    )
