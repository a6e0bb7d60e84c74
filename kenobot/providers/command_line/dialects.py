"""Describe the programs: their arguments, what they need of the environment, and what their lines of output say."""

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.provider import Usage
from kenobot.providers.service import subtract_cached

Event = Mapping[str, Json]

SYSTEM_FILE: Final = "system.md"
_STATUS: Final = lazy.regex(r"\b(?:status(?: code)?:? |Error:? |\()([45]\d\d)\b")


@dataclass(frozen=True, slots=True)
class Step:
    """Meaning of one line of output.

    begins: a reply of its model does. ended: the answer has, for `stop_reason`; breaks_off: the program would go on by
    itself. failed: there is none, for the reason of `status` or, for a look at the cause, `said`.
    """

    text: str = ""
    begins: bool = False
    ended: bool = False
    breaks_off: bool = False
    failed: bool = False
    stop_reason: str = ""
    model: str = ""
    usage: Usage | None = None
    status: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One program.

    key: the variable that it takes an API key from. homes: variables of the folders that hold its login.
    arguments: of a model and a folder that holds SYSTEM_FILE. files: laid into that folder for it.
    environment: what it needs besides, of that folder. read: what an event of its output means.
    signed_out: its exit code without a login.
    """

    title: str
    program: str
    key: str
    homes: tuple[str, ...]
    arguments: Callable[[str, Path], list[str]]
    read: Callable[[Event], Step]
    environment: Callable[[Path], Mapping[str, str]] = lambda folder: {}
    files: Mapping[str, str] = field(default_factory=dict)  # bounded: constant; start
    signed_out: int = 0


def _claude_arguments(model: str, folder: Path) -> list[str]:
    wanted = ["--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]
    closed = ["--tools", "", "--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands"]
    named = ["--model", model] if model else []
    return [*wanted, *closed, "--no-session-persistence", "--system-prompt-file", str(folder / SYSTEM_FILE), *named]


_CLAUDE_STOPS: Final = ("max_tokens", "model_context_window_exceeded", "refusal")
"""Reasons for which it asks its model once more, up to four times, and then calls the answer an error."""


def _claude(event: Event) -> Step:
    if event.get("type") == "stream_event" and not event.get("parent_tool_use_id"):
        inner = _table(event, "event")
        delta = _table(inner, "delta")
        if inner.get("type") == "content_block_delta" and delta.get("type") == "text_delta":
            return Step(text=_text(delta, "text"))
        reason, message = _text(delta, "stop_reason"), _table(inner, "message")
        usage = _claude_usage(_table(message or inner, "usage"))
        stops, begins = reason in _CLAUDE_STOPS, inner.get("type") == "message_start"
        return Step("", begins, stops, stops, stop_reason=reason, model=_text(message, "model"), usage=usage)
    if event.get("type") != "result":
        return Step()
    said, reason = _text(event, "result"), _text(event, "stop_reason")
    usage = _claude_usage(_table(event, "usage"))
    if reason in _CLAUDE_STOPS:  # its words are the program's
        return Step(ended=True, stop_reason=reason, usage=usage)
    if event.get("is_error") or event.get("subtype") != "success":
        return Step(failed=True, status=_number(event, "api_error_status"), said=said)
    return Step(ended=True, stop_reason=reason, usage=usage, said=said)


def _claude_usage(counted: Event) -> Usage:
    return Usage(
        _number(counted, "input_tokens"),
        _number(counted, "output_tokens"),
        _number(counted, "cache_read_input_tokens"),
        _number(counted, "cache_creation_input_tokens"),
    )


def _gemini_arguments(model: str, folder: Path) -> list[str]:
    # The folder that is trusted is empty and was made for this request. Servers of tools in the settings of the person
    # would be started for nothing: none of them has the name that is allowed.
    closed = ["--approval-mode", "default", "--extensions", "none", "--allowed-mcp-server-names", "kenobot-none"]
    closed += ["--policy", str(folder / "policy.toml")]
    named = ["--model", model] if model else []
    return ["--output-format", "stream-json", "--skip-trust", *closed, *named]


def _gemini(event: Event) -> Step:
    if event.get("type") == "init":
        return Step(model=_text(event, "model"))
    if event.get("type") == "message" and event.get("role") == "assistant":
        return Step(text=_text(event, "content"))
    if event.get("type") != "result":
        return Step()
    if event.get("status") != "success":
        said = _text(_table(event, "error"), "message")
        return Step(failed=True, status=_status_in(said), said=said)
    counted = _table(event, "stats")
    read, cached = _number(counted, "input_tokens"), _number(counted, "cached")
    # What it thought is in the total alone.
    written = max(_number(counted, "output_tokens"), _number(counted, "total_tokens") - read)
    usage = Usage(subtract_cached(read, cached), written, cached)
    return Step(ended=True, stop_reason="end_turn", usage=usage)


_CODEX_CLOSED: Final = (
    *("shell_tool", "unified_exec", "hooks", "plugins", "apps", "goals", "multi_agent", "image_generation"),
    *("skill_search", "tool_suggest", "unbounded_connection_retries"),
)
"""Features of the program that an answer does not need. Versions without one of them take no notice."""


def _codex_arguments(model: str, folder: Path) -> list[str]:
    settings = {
        "model_instructions_file": json.dumps(str(folder / SYSTEM_FILE)),
        "web_search": '"disabled"',
        "include_environment_context": "false",
        "include_permissions_instructions": "false",
        "project_doc_max_bytes": "0",
        "skills.include_instructions": "false",
        **{f"features.{name}": "false" for name in _CODEX_CLOSED},
    }
    closed = ["--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral"]
    closed += ["--ignore-user-config", "--ignore-rules"]
    closed += [word for name, value in settings.items() for word in ("--config", f"{name}={value}")]
    return ["exec", "--json", "--color", "never", *closed, *(["--model", model] if model else []), "-"]


def _codex(event: Event) -> Step:
    kind, item = event.get("type"), _table(event, "item")
    if kind == "item.completed" and item.get("type") == "agent_message":
        return Step(text=_text(item, "text"))
    if kind == "turn.completed":
        counted = _table(event, "usage")
        read, cached = _number(counted, "input_tokens"), _number(counted, "cached_input_tokens")
        kept = _number(counted, "cache_write_input_tokens")
        usage = Usage(subtract_cached(read, cached, kept), _number(counted, "output_tokens"), cached, kept)
        return Step(ended=True, stop_reason="end_turn", usage=usage)
    if kind == "turn.failed":
        said = _text(_table(event, "error"), "message")
        return Step(failed=True, status=_status_in(said), said=said)
    if kind == "error":  # it tries again by itself, also where that cannot help
        said = _text(event, "message")
        status = 0 if "ws://" in said or "wss://" in said else _status_in(said)
        return Step(failed=400 <= status < 500, status=status, said=said)
    return Step()


def _status_in(said: str) -> int:
    found = _STATUS.search(said)
    return int(found.group(1)) if found else 0


def _table(event: Event, name: str) -> Event:
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def _text(event: Event, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _number(event: Event, name: str) -> int:
    value = event.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


CLAUDE: Final = Dialect(
    title="Claude Code",
    program="claude",
    key="ANTHROPIC_API_KEY",
    homes=("CLAUDE_CONFIG_DIR",),
    arguments=_claude_arguments,
    read=_claude,
    environment=lambda folder: {
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",  # else it asks for three minutes, also where its key is refused
    },
)
GEMINI: Final = Dialect(
    title="Gemini CLI",
    program="gemini",
    key="GEMINI_API_KEY",
    homes=("GEMINI_CLI_HOME",),
    arguments=_gemini_arguments,
    read=_gemini,
    environment=lambda folder: {"GEMINI_SYSTEM_MD": str(folder / SYSTEM_FILE)},
    files={
        "policy.toml": '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n',
        "home/.gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}',
    },
    signed_out=41,
)
CODEX: Final = Dialect(
    title="Codex",
    program="codex",
    key="CODEX_API_KEY",
    homes=("CODEX_HOME",),
    arguments=_codex_arguments,
    read=_codex,
)
