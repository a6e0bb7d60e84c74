"""Programs that stand in for the command-line ones: a shell script each, with the script entries of the services.

Their lines of output were written down from the real programs (Claude Code 2.1.332, Gemini CLI 0.61.0, Codex 0.169.0)
before a server on loopback, and shortened by hand. Only the first entry of a script is played, at every request:
reply, thinking, stop_reason (null: the program ends without saying that it is through), breaks (of Claude Code: what
comes after its stream broke off, piece by piece), usage, status (its service
refuses), ping, hang, delay, drip, flood, says (on its standard error), code (its exit code), text (in place of lines),
unended (the last line has no end).
"""

import asyncio
import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.integration.providers.anthropic_standin import Entry, in_pieces

_RECORD = """#!/bin/sh
exec 9> "$0.alive"
printf '%s\\n' "$@" > "$0.$$.arguments"; env > "$0.$$.environment"; ls -a > "$0.$$.folder"
cat > "$0.$$.prompt"; cat ../system.md > "$0.$$.system"
"""


class ProgramStandIn:
    """A program. name: which one."""

    def __init__(self, name: str, folder: Path, script: Sequence[Entry]) -> None:
        self._path = folder / name
        text = _RECORD + _played(name, {"reply": "ok, and on", **(script[0] if script else {})})
        self._path.write_text(text, "utf-8")
        self._path.chmod(0o700)
        self.left = _Gone(Path(f"{self._path}.alive"))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.left.close()

    @property
    def url(self) -> str:
        return str(self._path)

    def recorded(self, what: str) -> list[str]:
        """What each request gave it: arguments, environment, folder, prompt or system."""
        files = sorted(self._path.parent.glob(f"{self._path.name}.*.{what}"), key=lambda file: file.stat().st_mtime_ns)
        return [file.read_text("utf-8") for file in files]


class _Gone:
    """Tells when no process is left of those that the program has started: each holds a pipe open."""

    def __init__(self, pipe: Path) -> None:
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        self._pipe = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    async def wait(self) -> None:
        while True:
            try:
                if not os.read(self._pipe, 1):
                    return
            except BlockingIOError:
                await asyncio.sleep(0.01)

    def close(self) -> None:
        os.close(self._pipe)


def _played(name: str, entry: Entry) -> str:
    """The shell commands that play an entry."""
    steps = [f"sleep {entry.get('delay', 0)}"]
    if says := entry.get("says"):
        steps.append(f"printf %s {shlex.quote(says)} >&2")
    if megabytes := entry.get("flood"):
        steps.append(f"head -c {megabytes * 1024 * 1024} /dev/zero | tr '\\0' x")
    lines = [entry["text"]] if "text" in entry else [json.dumps(line) for line in _lines(name, entry)]
    for number, line in enumerate(lines):
        pause = entry.get("drip")
        printed = line + ("" if entry.get("unended") and number == len(lines) - 1 else "\n")
        pieces = list(printed) if pause else [printed]
        steps += [f"printf %s {shlex.quote(piece)}" + (f"; sleep {pause}" if pause else "") for piece in pieces]
        if number == _FIRST_TEXT[name] + bool(entry.get("thinking")):
            if ping := entry.get("ping"):
                steps.append(f'while :; do echo \'{{"type": "status"}}\'; sleep {ping}; done')
            if entry.get("hang"):
                steps.append("sleep 1000")
    return "\n".join([*steps, f"exit {entry.get('code', 0)}", ""])


_FIRST_TEXT = {"claude": 1, "gemini": 1, "codex": 0}


def _lines(name: str, entry: Entry) -> list[Any]:
    return {"claude": _claude, "gemini": _gemini, "codex": _codex}[name](entry)


_REFUSED = "unexpected status {} Oh: the stand-in was told to fail"


def _claude(entry: Entry) -> list[Entry]:
    def event(inner: Entry) -> Entry:
        return {"type": "stream_event", "event": inner, "parent_tool_use_id": None}

    def delta(kind: str, piece: str) -> Entry:
        return event({"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: piece}})

    counted = {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}
    end: Entry = {"type": "result", "subtype": "success", "is_error": False, "usage": counted}
    if status := entry.get("status"):
        said = _REFUSED.format(status)
        synthetic = {"type": "assistant", "message": {"content": [{"type": "text", "text": said}]}}
        return [synthetic, {**end, "is_error": True, "api_error_status": status, "result": said}]
    begun = {"input_tokens": 11, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1}
    start = event({"type": "message_start", "message": {"model": "some-model", "usage": begun}})
    lines = [start]
    lines += [delta("thinking", entry["thinking"])] if entry.get("thinking") else []
    lines += [delta("text", piece) for piece in in_pieces(entry["reply"])]
    lines.append({"type": "assistant", "message": {"content": [{"type": "text", "text": entry["reply"]}]}})
    if entry.get("breaks"):  # its stream does, and it has the model go on
        lines += [line for piece in entry["breaks"] for line in (start, delta("text", piece))]
    reason = entry.get("stop_reason", "end_turn")
    if reason is None:  # as 2.1.197 ends an answer that broke off
        lines.append({**end, "result": entry["reply"], "stop_reason": None, "usage": {}})
        return lines
    lines.append(event({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}))
    if reason not in ("end_turn", "stop_sequence"):  # it goes on by itself, and calls it an error of its own in the end
        lines += [start, delta("text", "and so on ")] * 3
        told = reason if reason == "refusal" else "stop_sequence"
        said = "API Error: the stand-in was told to fail"
        return [*lines, {**end, "is_error": True, "result": said, "stop_reason": told}]
    lines.append({**end, "result": entry["reply"], "stop_reason": reason})
    return lines


def _gemini(entry: Entry) -> list[Entry]:
    if status := entry.get("status"):
        error = {"type": "Error", "message": _REFUSED.format(status)}
        return [{"type": "result", "status": "error", "error": error}]
    lines: list[Entry] = [{"type": "init", "model": "some-model"}]
    lines += [{"type": "thought", "content": entry["thinking"]}] if entry.get("thinking") else []
    lines += [{"type": "message", "role": "assistant", "content": piece} for piece in in_pieces(entry["reply"])]
    if entry.get("stop_reason", "end_turn"):
        counted = {"total_tokens": 27, "input_tokens": 11, "output_tokens": 7, "cached": 5, "input": 6}
        lines.append({"type": "result", "status": "success", "stats": counted})
    return lines


def _codex(entry: Entry) -> list[Entry]:
    if status := entry.get("status"):
        passing = {"type": "error", "message": "Reconnecting... 2/5 (unexpected status 404 Not Found, url: ws://x)"}
        return [passing, {"type": "turn.failed", "error": {"message": _REFUSED.format(status)}}]
    lines: list[Entry] = []
    if entry.get("thinking"):
        lines.append({"type": "item.completed", "item": {"type": "reasoning", "text": entry["thinking"]}})
    lines.append({"type": "item.completed", "item": {"type": "agent_message", "text": entry["reply"]}})
    if entry.get("stop_reason", "end_turn"):
        counted = {"input_tokens": 11, "cached_input_tokens": 5, "cache_write_input_tokens": 3, "output_tokens": 7}
        lines.append({"type": "turn.completed", "usage": counted})
    return lines
