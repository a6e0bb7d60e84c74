"""Keys of older releases: renamed ones, which still work, and retired ones, of which a constant took the place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kenobot.ports.frozen import dataclass

KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OlderKey:
    """A key of an older release that is still set. now: its new name; or of one that is `retired`, what holds."""

    key: str
    origin: str
    now: str
    retired: bool


RENAMED_KEYS: Mapping[KeyPath, KeyPath] = {
    ("extraction", "model"): ("models", "cheap"),
    ("extraction", "daily_tokens"): ("budget", "purposes", "extraction", "daily_tokens"),
    ("compaction", "daily_tokens"): ("budget", "purposes", "compaction", "daily_tokens"),
    ("memory", "rerank_tokens"): ("budget", "purposes", "rerank", "daily_tokens"),
    ("memory", "rerank_daily_tokens"): ("budget", "purposes", "rerank", "daily_tokens"),
    ("experts", "queries_daily_tokens"): ("budget", "purposes", "queries", "daily_tokens"),
    ("sleep", "budget_tokens"): ("budget", "purposes", "sleep", "daily_tokens"),
    ("sleep", "daily_tokens"): ("budget", "purposes", "sleep", "daily_tokens"),
    ("sleep", "retention"): ("sleep", "daily_log"),
    ("mail",): ("messages",),
    ("channels", "http", "mcp_hosts"): ("channels", "http", "server_names"),
}
"""Keys that have another name: the old one still works, where the new one is not set."""

_NEVER_ASKED: Final = {"0": 1}
"""No tokens for a job: in a budget, 0 is no limit."""
RENAMED_VALUES: Mapping[KeyPath, Mapping[str, str | int]] = {
    ("sleep", "retention"): {"kenobot": "30-days", "joya": "weekly"},
    **{key: _NEVER_ASKED for key, new in RENAMED_KEYS.items() if new[-1] == "daily_tokens"},
}

_SERVICES: Final = (
    *("openai", "gemini", "mistral", "groq", "cerebras", "deepseek", "openrouter"),
    *("ollama", "llamacpp", "lmstudio", "vllm", "compatible"),
)
_PROGRAMS: Final = ("claude-cli", "gemini-cli", "codex-cli")
_BY_NAME: Final = "the model's own"

_RETIRED_KEYS: Mapping[str, Mapping[str, str]] = {
    "provider": {
        "continuations": "2",
        "answer_chars": "100000",
        "attempts": "3",
        "retry_seconds": "90",
        "breaker_failures": "5",
        "breaker_seconds": "60",
    },
    "providers.anthropic": {"connect_seconds": "10", "idle_seconds": "60", "total_seconds": "300"},
    **{f"providers.{name}": {"connect_seconds": "10", "total_seconds": "600"} for name in _SERVICES},
    **{f"providers.{name}": {"at_once": "2", "idle_seconds": "180", "total_seconds": "300"} for name in _PROGRAMS},
    "channels.console": {"colour": "true, unless the variable NO_COLOR is set"},
    "channels.telegram": {"poll_seconds": "30", "request_seconds": "20"},
    "channels.irc": {"request_seconds": "20", "ping_seconds": "60"},
    "channels.http": {"body_kilobytes": "256", "requests_per_minute": "300"},
    "channels.email": {"poll_seconds": "10", "request_seconds": "30", "most_mb": "25"},
    "channels.xmpp": {"request_seconds": "20", "ping_seconds": "60"},
    "channels.discord": {"request_seconds": "20"},
    "channels.slack": {"request_seconds": "20"},
    "channels.whatsapp": {"request_seconds": "20"},
    "channels.matrix": {"poll_seconds": "30", "request_seconds": "20"},
    "observers.otel": {"service_name": "kenobot", "interval": "30", "seconds": "10"},
    "tools": {"rounds": "8", "seconds": "30", "total_seconds": "120", "result_chars": "8000"},
    "tools.background": {"at_once": "2", "rounds": "40"},
    "tools.shell": {"seconds": "25", "processes": "128", "file_mb": "500"},
    "tools.git": {"seconds": "25"},
    "tools.web_fetch": {"seconds": "12", "most_mb": "10"},
    "tools.web_search": {"results": "6"},
    "context": {
        "recent_tokens": "1000",
        "history_min": "20",
        "history_max": "60",
        "history_messages": "20",
        "history_most": "60",
        "message_tokens": "4000",
    },
    "memory": {"recall": "auto", "days": "as many as fit"},
    "embedders.openai": {
        "dimensions": _BY_NAME,
        "query_prefix": _BY_NAME,
        "passage_prefix": _BY_NAME,
        "seconds": "20",
    },
    "embedders.ollama": {"query_prefix": _BY_NAME, "passage_prefix": _BY_NAME, "seconds": "20"},
    "experts": {"duplicates": "true", "errors": "true"},
    "extraction": {"immediate": "true", "at_once": "true", "every_turns": "5", "every_minutes": "15"},
    "compaction": {"enabled": "true", "summary_tokens": "700"},
    "messages": {"answer_parts": "10", "stale_minutes": "15", "patience_seconds": "25", "expire_hours": "48"},
    "mail": {"late_minutes": "15", "expire_hours": "48"},
    "media": {
        "most_mb": "20",
        "keep_mb": "2000",
        "fetch_seconds": "60",
        "document_chars": "12000",
        "document_seconds": "20",
    },
    "transcribers.whisper": {"threads": "2", "seconds": "120"},
    "transcribers.openai": {"seconds": "120"},
    "backup": {"command_seconds": "3600"},
    "loop": {
        "parallel_chats": "32",
        "backlog": "1000",
        "chat_backlog": "100",
        "attempts": "5",
        "turn_seconds": "600",
    },
    "watch": {
        "every_seconds": "60",
        "pause_seconds": "10",
        "disk_least_mb": "a tenth of watch.disk_mb",
        "memory_mb": "the limit of the service or container",
        "sleep_days": "3",
        "backup_hours": "12",
        "poll_minutes": "5",
        "queue_minutes": "10",
        "outbox_minutes": "15",
        "growth_mb": "500",
        "database_hours": "24",
    },
    "signals": {"keep": "20000"},
    "log": {"max_mb": "10", "keep_files": "10", "keep_days": "30"},
}
RETIRED: Mapping[KeyPath, str] = {
    (*section.split("."), key): now for section, keys in _RETIRED_KEYS.items() for key, now in keys.items()
} | {(section,): "" for section in ("signals", "loop", "compaction")}
"""Keys that are no settings any more, each with what holds in its place."""

_NAMED: Final = 3


def find_older(key: str) -> OlderKey | None:
    """Return the older key of a dotted name, without an origin."""
    path = tuple(key.split("."))
    if path in RETIRED:
        return OlderKey(key, "", RETIRED[path], retired=True)
    return OlderKey(key, "", ".".join(RENAMED_KEYS[path]), retired=False) if path in RENAMED_KEYS else None


def list_older(found: Mapping[KeyPath, str]) -> Iterator[OlderKey]:
    """Yield the older keys among those that are set, with their origins."""
    for path, origin in found.items():
        if each := find_older(".".join(path)):
            yield replace(each, origin=origin)


def warn_of(keys: Sequence[OlderKey]) -> Iterator[str]:
    """Yield a warning of each older key, or one of all where they are many."""
    if len(keys) <= _NAMED:
        yield from map(_explain, keys)
        return
    gone = sum(each.retired for each in keys)
    yield (
        f"{len(keys)} settings have names of older releases: {len(keys) - gone} still work, {gone} are no settings any "
        "more; `kenobot config` lists them with what holds now"
    )


def _explain(key: OlderKey) -> str:
    place = key.origin.partition(" ")[2]
    if not key.retired:
        return f"{place}: {key.key} is called {key.now} now"
    return f"{place}: {key.key} is no setting any more" + (f"; what holds now: {key.now}" if key.now else "")
