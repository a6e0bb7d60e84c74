"""Run `kenobot` and count, thread by thread, what it does: `python -m bench_counted run …`.

Copied beside the scene, and loaded by the bot's own process before anything else. Counts hardly vary with the machine;
the CPU of such a run means nothing.
"""

import io
import os
import re
import runpy
import sqlite3
import sys
import threading
from asyncio import Handle, Task
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

_ROLES = {"MainThread": "loop", "kenobot-writer": "writer", "kenobot-background": "background"}
_VALUE = re.compile(r"'(?:[^']|'')*'|\b[0-9.]+\b|NULL")
_JOBS = frozenset({"_look", "Database._commit"})  # of the database, which call the work of a job
_CALLBACK = Handle._run.__code__
_FILES = frozenset(
    getattr(os, name)
    for name in "fdatasync fsync link listdir lstat mkdir open readlink remove rename replace rmdir scandir stat "
    "truncate unlink utime".split()
) | {io.open}


class _Thread:
    """What one thread has done.

    called: calls by the Python function that was called, or that called one of C. jobs: calls by the job of the
    database, or the task of the event loop, that they were made for.
    """

    def __init__(self, role: str) -> None:
        self.role = role
        self.calls = self.callbacks = self.files = 0
        self.called: Counter[CodeType] = Counter()  # bounded: the functions there are; turn
        self.jobs: Counter[str] = Counter()  # bounded: the kinds of jobs and tasks; turn
        self._job = ""

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        """Take a profiler's event."""
        if event == "call":
            if frame.f_code is _CALLBACK:
                self.callbacks += 1
                self._job = _task_of(frame)
            elif frame.f_back is not None and frame.f_back.f_code.co_qualname in _JOBS:
                self._job = frame.f_code.co_qualname
        elif event == "c_call":
            self.files += argument in _FILES
        else:
            return
        self.calls += 1
        self.called[frame.f_code] += 1
        self.jobs[self._job] += 1


def _task_of(frame: FrameType) -> str:
    """Name what a callback of the event loop belongs to: its task, without the chat's name, or itself."""
    callback = frame.f_locals["self"]._callback
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, Task):
        return f"task {getattr(owner.get_coro(), '__qualname__', '')}"
    return str(getattr(callback, "__qualname__", callback))


_threads: list[_Thread] = []
_statements: list[tuple[str, list[str]]] = []


def read() -> dict[str, int]:
    """The totals since the start: calls and SQL statements by kind of thread, and the rest of the whole process."""
    found: Counter[str] = Counter()
    for thread in (*_threads,):
        found[f"{thread.role}_calls"] += thread.calls
        found["calls"] += thread.calls
        found["callbacks"] += thread.callbacks
        found["files"] += thread.files
    for role, statements in (*_statements,):
        found["statements"] += len(statements)
        found[f"{role}_statements"] += len(statements)
        found["commits"] += statements.count("COMMIT") if role == "writer" else 0
        found["reads"] += statements.count("BEGIN") if role == "readers" else 0
    return dict(found)


def details() -> dict[str, int]:
    """The calls since the start by kind of thread, file and function, and SQL by its first characters."""
    profile = sys.getprofile()
    sys.setprofile(None)  # or this very counting would be counted
    found = Counter(f"{role} {_VALUE.sub('?', text)[:100]}" for role, texts in (*_statements,) for text in (*texts,))
    for thread in (*_threads,):
        for name, calls in thread.jobs.copy().items():
            found[f"{thread.role} for {name}"] += calls
        for code, calls in thread.called.copy().items():
            place = "/".join(code.co_filename.split("/")[-3:])
            found[f"{thread.role} {place}:{code.co_qualname}"] += calls
    sys.setprofile(profile)
    return dict(found)


def _begin(frame: FrameType, event: str, argument: object) -> None:
    name = threading.current_thread().name
    thread = _Thread(_ROLES.get(name, "readers" if name.startswith("kenobot-reader") else "other"))
    _threads.append(thread)
    sys.setprofile(thread.note)
    thread.note(frame, event, argument)


def _traced(connect: Callable[..., sqlite3.Connection]) -> Callable[..., sqlite3.Connection]:
    def connect_traced(database: Any, *args: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(database, *args, **named)
        is_main = "kenobot.db" in str(database)
        statements: list[str] = []
        _statements.append(("index" if not is_main else "readers" if "mode=ro" in database else "writer", statements))
        connection.set_trace_callback(statements.append)  # of C, so that it counts as no call
        return connection

    return connect_traced


if __name__ == "__main__":
    sys.modules["bench_counted"] = sys.modules["__main__"]
    sqlite3.connect = _traced(sqlite3.connect)  # type: ignore[assignment]
    threading.setprofile(_begin)
    sys.setprofile(_begin)
    runpy.run_module("kenobot", run_name="__main__", alter_sys=True)
