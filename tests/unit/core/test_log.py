"""The log says what happened, in one line, without secrets."""

import gc
import io
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Literal

import pytest

from kenobot.core import log

SECRET = "hunter2hunter2"
TOKEN = "123456789:" + "A" * 35
Start = Callable[..., io.StringIO]


@pytest.fixture
def start() -> Iterator[Start]:
    """Set the log up on a stream; everything is as before afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def set_up(level: str = "info", form: Literal["plain", "json"] = "plain") -> io.StringIO:
        stream = io.StringIO()
        root.handlers[:] = []  # pytest's own handler would raise where ours goes on
        log.configure(level, form, [SECRET], stream)
        return stream

    yield set_up
    root.handlers[:] = handlers
    root.setLevel(level)


def raise_with(text: str) -> None:
    raise ValueError(text)


@pytest.mark.parametrize("form", ["plain", "json"])
def test_secrets_are_blotted_out(start: Start, form: Literal["plain", "json"]) -> None:
    """Neither a known secret nor what looks like one gets through a message, an argument or a traceback."""
    stream = start(form=form)
    logger = logging.getLogger("test")
    logger.info("known %s in arguments, %r too", SECRET, {"token": TOKEN})
    try:
        raise_with(f"https://api.telegram.org/bot{TOKEN}/getMe and {SECRET}")
    except ValueError:
        logger.exception("it broke with %s", SECRET)
    written = stream.getvalue()
    assert SECRET not in written
    assert TOKEN not in written
    assert "ValueError" in written
    assert written.count("[secret]") >= 5


def test_the_trace_id_stands_in_every_line(start: Start) -> None:
    """What belongs to one message can be found by its trace id."""
    stream = start()
    token = log.current_trace.set("abc123")
    logging.getLogger("test").info("working")
    log.current_trace.reset(token)
    logging.getLogger("test").info("idle")
    first, second = stream.getvalue().splitlines()
    assert first.endswith("info test [abc123]: working")
    assert second.endswith("info test: idle")


def test_json_is_one_object_a_line(start: Start) -> None:
    """Line breaks in a message do not break the line, and a traceback is a field."""
    stream = start(form="json")
    logging.getLogger("test").warning("two\nlines")
    try:
        raise_with("x")
    except ValueError:
        logging.getLogger("test").exception("failed")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["message"] == "two\nlines"
    assert first["level"] == "warning"
    assert "raise_with" in second["exception"]


def test_a_message_cannot_forge_a_line(start: Start) -> None:
    """Line breaks and escape sequences in what people wrote stay inside the line, visible."""
    stream = start()
    logging.getLogger("test").info("from %s", "Eve\n2026-01-01 info root: \x1b[2Jall well")
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


def test_a_bad_format_string_costs_nothing(start: Start) -> None:
    """A mistake in a log call is logged, not raised and not printed elsewhere."""
    stream = start()
    logging.getLogger("test").info("%d things", "many")
    assert "%d things (could not be formatted: TypeError)" in stream.getvalue()


def test_levels_and_chatty_libraries(start: Start) -> None:
    """Debug lines need the debug level; libraries that log every request stay at warnings even then."""
    stream = start(level="debug")
    logging.getLogger("test").debug("shown")
    logging.getLogger("httpx").info("HTTP Request: POST")
    start(level="warning")
    logging.getLogger("test").info("gone")
    assert "shown" in stream.getvalue()
    assert "HTTP Request" not in stream.getvalue()
    assert "gone" not in stream.getvalue()


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard is up; every hook is as before afterwards."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    log.install_exception_hooks()


def test_what_nobody_caught_is_logged_without_its_secrets(start: Start, guarded: None) -> None:
    """In the program, in a thread and in a finalizer: one clean entry each, with its traceback."""
    stream = start()
    try:
        raise_with(f"in the program with {SECRET}")
    except ValueError as error:
        sys.excepthook(ValueError, error, error.__traceback__)
    thread = threading.Thread(target=raise_with, args=(f"in a thread with {SECRET}",), name="worker")
    thread.start()
    thread.join()

    class Sick:
        def __del__(self) -> None:
            raise_with(f"in a finalizer with {TOKEN}")

    Sick()
    gc.collect()
    written = stream.getvalue()
    assert "critical kenobot.core.log: KenoBot broke down" in written
    assert "worker broke down" in written
    for where in ("in the program", "in a thread", "in a finalizer"):
        assert f"ValueError: {where} with [secret]" in written
    assert SECRET not in written
    assert TOKEN not in written


def test_hooks_of_somebody_else_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches threads and finalizers already goes on doing so."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    mine = print
    monkeypatch.setattr(sys, "unraisablehook", mine)
    monkeypatch.setattr(threading, "excepthook", mine)
    log.install_exception_hooks()
    assert (sys.unraisablehook, threading.excepthook) == (mine, mine)
