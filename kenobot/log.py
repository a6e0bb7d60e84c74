"""The log: one line an event on stderr, plain or JSON, with the trace id of the message at work and no secrets."""

import json
import logging
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal, TextIO

from kenobot.secrets import Redactor
from kenobot.terminal import one_line, safe

trace: ContextVar[str] = ContextVar("trace", default="")

_CHATTY = ("httpx", "httpx2", "httpcore", "anthropic", "telegram", "apscheduler", "asyncio")


def set_up(
    level: str = "info",
    form: Literal["plain", "json"] = "plain",
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
) -> None:
    """Send everything logged from now on to `stream` (stderr), in place of what was set up before.

    secrets: values that must never appear; what only looks like a secret is blotted out as well.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter((_Json if form == "json" else _Plain)(Redactor(secrets)))
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old.formatter, _Redacting)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


class _Redacting(logging.Formatter):
    """Blots out secrets in the finished text, where arguments and tracebacks are in it already.

    Not a logging.Filter: that would have to rewrite the record, which other handlers share.
    """

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def parts(self, record: logging.LogRecord) -> tuple[str, str, str]:
        """Time, message and traceback of `record`, clean."""
        try:
            message = record.getMessage()
        except Exception as error:  # a bad format string must not cost the line, nor print its arguments unblotted
            message = f"{record.msg} (could not be formatted: {type(error).__name__})"
        details = "\n".join(
            text
            for text in (
                self.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else "",
                self.formatStack(record.stack_info) if record.stack_info else "",
            )
            if text
        )
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return at, self._redact(message), self._redact(details)


class _Plain(_Redacting):
    def format(self, record: logging.LogRecord) -> str:
        at, message, details = self.parts(record)
        mark = f" [{trace.get()}]" if trace.get() else ""
        line = f"{at} {record.levelname.lower()} {record.name}{mark}: {one_line(message)}"
        return f"{line}\n{safe(details)}" if details else line


class _Json(_Redacting):
    def format(self, record: logging.LogRecord) -> str:
        at, message, details = self.parts(record)
        line = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": message}
        if trace.get():
            line["trace"] = trace.get()
        if details:
            line["exception"] = details
        return json.dumps(line, ensure_ascii=False)
