"""Log to stderr, one line an event, plain or JSON, with the current trace id and without secrets."""

import json
import logging
import sys
import threading
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TextIO

from kenobot.core.redaction import Redactor, escape_controls, one_line

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_log = logging.getLogger(__name__)

current_trace: ContextVar[str] = ContextVar("trace", default="")

_CHATTY = (
    "httpx",
    "httpx2",
    "mcp",
    "httpcore",
    "anthropic",
    "telegram",
    "slixmpp",
    "discord",
    "slack_sdk",
    "apscheduler",
    "asyncio",
    "uvicorn",
)


def configure(
    level: str = "info",
    log_format: Literal["plain", "json"] = "plain",
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
) -> None:
    """Log to `stream` (stderr) from now on, in place of an earlier configuration.

    secrets: values that must never appear; what looks like a secret is redacted as well.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter((_Json if log_format == "json" else _Plain)(Redactor(secrets)))
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old.formatter, _Redacting)]:
        root.removeHandler(old)
    root.addHandler(handler)
    set_level(level)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def set_level(level: str) -> None:
    """Log at a level, such as "debug", from now on."""
    logging.getLogger().setLevel(level.upper())


def write_to(handler: logging.Handler, *, instead: bool) -> None:
    """Log to `handler` as well from now on, formatted and redacted alike. instead: no longer to the stream."""
    root = logging.getLogger()
    present = [old for old in root.handlers if isinstance(old.formatter, _Redacting)]
    handler.setFormatter(present[0].formatter)
    root.addHandler(handler)
    for old in present if instead else ():
        root.removeHandler(old)


def redact_also(secrets: Iterable[str]) -> None:
    """Keep further secrets out of the log."""
    known = tuple(secrets)
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, _Redacting):
            handler.formatter.learn(known)


def install_exception_hooks() -> None:
    """Log uncaught errors redacted: a traceback can quote a secret. Foreign hooks for threads and finalizers stay."""
    sys.excepthook = _log_uncaught
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _log_uncaught_in_thread
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _log_unraisable


def _log_uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    _log.critical("KenoBot broke down", exc_info=(kind, error, traceback))


def _log_uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
    name = told.thread.name if told.thread else "a thread"
    error = told.exc_value or told.exc_type()
    _log.critical("%s broke down", name, exc_info=(told.exc_type, error, told.exc_traceback))


def _log_unraisable(told: "UnraisableHookArgs") -> None:
    error = told.exc_value or told.exc_type()
    _log.error("%s", told.err_msg or "an error was ignored", exc_info=(told.exc_type, error, told.exc_traceback))


class _Redacting(logging.Formatter):
    """Redacts the finished text, with arguments and traceback; a Filter would have to rewrite the shared record."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def learn(self, secrets: Iterable[str]) -> None:
        """Redact these secrets as well."""
        self._redact.learn(secrets)

    def parts(self, record: logging.LogRecord) -> tuple[str, str, str]:
        """Return the time, message and traceback of a record, redacted."""
        try:
            message = record.getMessage()
        except Exception as error:  # a bad format string must not cost the line, nor print its arguments unblotted
            message = f"{record.msg} (could not be formatted: {type(error).__name__})"
        details = [self.formatException(record.exc_info)] if record.exc_info and record.exc_info[0] else []
        details += [self.formatStack(record.stack_info)] if record.stack_info else []
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return at, self._redact(message), self._redact("\n".join(details))


class _Plain(_Redacting):
    def format(self, record: logging.LogRecord) -> str:
        at, message, details = self.parts(record)
        mark = f" [{current_trace.get()}]" if current_trace.get() else ""
        line = f"{at} {record.levelname.lower()} {record.name}{mark}: {one_line(message)}"
        return f"{line}\n{escape_controls(details)}" if details else line


class _Json(_Redacting):
    def format(self, record: logging.LogRecord) -> str:
        at, message, details = self.parts(record)
        line = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": message}
        if current_trace.get():
            line["trace"] = current_trace.get()
        if details:
            line["exception"] = details
        return json.dumps(line, ensure_ascii=False)
