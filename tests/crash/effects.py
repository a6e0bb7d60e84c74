"""What the shipped tools do to the world when they are called, and how often that happened: one class a tool."""

import json
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from kenobot.core.settings.home import Home
from kenobot.tools.mcp.declared import read_tools
from kenobot.tools.mcp.trust import TrustFile

_SECONDS = 0.3  # that what is outside takes to answer
_BASE = "the beginning\n"
_SERVER = Path(__file__).with_name("mcp_notes.py")


class Effect(Protocol):
    """A tool that is called once for each tag, and what came of that. once: it may not happen twice."""

    once: bool

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        """Return the name and arguments of the call for a tag."""
        ...

    def count(self, tag: str) -> int:
        """Count how often it happened."""
        ...


class Site:
    """A site that counts what is asked of it by tag, and what it did: once for each key."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.keys: dict[str, set[str]] = defaultdict(set)
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked[self.path.strip("/")] += 1
                self.answer()

            def do_POST(self) -> None:
                tag = self.rfile.read(int(self.headers["content-length"])).decode()
                site.asked[tag] += 1
                site.keys[tag].add(self.headers["idempotency-key"])
                self.answer()

            def answer(self) -> None:
                """Answer after a while, to a client that may be gone."""
                time.sleep(_SECONDS)
                try:
                    self.send_response(200)
                    self.send_header("content-type", "text/plain")
                    self.send_header("content-length", "4")
                    self.end_headers()
                    self.wfile.write(b"done")
                except ConnectionError:
                    pass

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class Fetch:
    """A page is fetched; that changes nothing, so it may be fetched again."""

    once = False

    def __init__(self, site: Site) -> None:
        self._site = site

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "web_fetch", {"url": f"http://{self._site.host}/{tag}"}

    def count(self, tag: str) -> int:
        return self._site.asked[tag]


class Post:
    """A request is sent that changes something there."""

    once = True

    def __init__(self, site: Site) -> None:
        self._site = site

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "http_request", {"url": f"http://{self._site.host}/things", "method": "POST", "body": tag}

    def count(self, tag: str) -> int:
        return max(self._site.asked[tag], len(self._site.keys[tag]))


class Write:
    """A file is written that was not there."""

    once = True

    def __init__(self, work: Path) -> None:
        self._work = work

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "write_file", {"path": f"notes/{tag}.txt", "text": f"{tag}\n" * 1000}

    def count(self, tag: str) -> int:
        file = self._work / "notes" / f"{tag}.txt"
        return file.read_text().count(tag) // 1000 if file.exists() else 0


class Edit:
    """A line is put into a file."""

    once = True

    def __init__(self, work: Path) -> None:
        self._file = work / "list.txt"
        self._file.write_text(_BASE)

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "edit_file", {"path": "list.txt", "old": _BASE, "new": f"{_BASE}{tag}\n"}

    def count(self, tag: str) -> int:
        return self._file.read_text().count(tag)


class Run:
    """A command appends a line and goes on for a while."""

    once = True

    def __init__(self, work: Path) -> None:
        self._file = work / "ran.txt"

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "shell", {"command": f"echo {tag} >> ran.txt; sleep {_SECONDS}"}

    def count(self, tag: str) -> int:
        return self._file.read_text().count(tag) if self._file.exists() else 0


class Commit:
    """A commit is made of what stands in a repository of its own."""

    once = True

    def __init__(self, work: Path) -> None:
        self._work = work

    def prepare(self, tag: str) -> None:
        """Make the repository, with something to commit."""
        folder = self._work / tag
        folder.mkdir()
        (folder / "a.txt").write_text("a")
        for words in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", "-C", str(folder), *words], check=True)

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        if not (self._work / tag).exists():
            self.prepare(tag)
        return "git", {"verb": "commit", "folder": tag, "message": f"about {tag}"}

    def count(self, tag: str) -> int:
        if not any((self._work / tag / ".git" / "refs" / "heads").glob("*")):
            return 0  # so that no program is started for nothing
        told = subprocess.run(
            ["git", "-C", str(self._work / tag), "log", "--format=%s"], capture_output=True, text=True, check=False
        )
        return told.stdout.count(f"about {tag}")


class Note:
    """An MCP server writes something down."""

    once = True

    def __init__(self, file: Path) -> None:
        self.file = file

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "notes_note", {"tag": tag}

    def count(self, tag: str) -> int:
        return self.file.read_text().count(tag) if self.file.exists() else 0


async def trust_notes(home: Path) -> None:
    """Have the owner trust the tools of that server."""
    from tests.crash.mcp_notes import server  # the SDK is of an extra

    listed = [each.model_dump(by_alias=True, mode="json", exclude_none=True) for each in await server.list_tools()]
    TrustFile(Home(home).mcp, "notes").save(read_tools(listed)[0])


class Remind:
    """A reminder is set."""

    once = True

    def __init__(self, home: Path) -> None:
        self._database = home / "kenobot.db"

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "remind", {"text": f"{tag} is due", "when": "in 2 hours"}

    def count(self, tag: str) -> int:
        return _count(self._database, "SELECT count(*) FROM job WHERE text = ?", f"{tag} is due")


class Forget:
    """A memory is forgotten, which stands in memory for each tag before."""

    once = True

    def __init__(self, home: Path) -> None:
        self._database = home / "kenobot.db"

    def remembered(self, tag: str) -> str:
        """What is remembered before the call."""
        return f"The harbour of {_word(tag)} is deep"

    def call(self, tag: str) -> tuple[str, Mapping[str, Any]]:
        return "memory_forget", {"text": self.remembered(tag)}

    def count(self, tag: str) -> int:
        sql = "SELECT count(*) FROM event JOIN record ON record.id = record_id WHERE type = 'forgotten' AND text = ?"
        return _count(self._database, sql, self.remembered(tag))


def _word(tag: str) -> str:
    """A name made of the figures of a tag, which is none itself."""
    return "Port" + "".join("abcdefghij"[int(figure)] for figure in tag[1:])


def _count(database: Path, sql: str, text: str) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as connection:
        number: int = connection.execute(sql, (text,)).fetchone()[0]
    return number


def write_settings(site: Site, work: Path, notes: Path | None) -> str:
    """The settings by which a bot has all these tools, and runs each without a question. notes: of the MCP server."""
    tools = "web_fetch http_request write_file edit_file shell git remind memory_forget".split()
    settings = f"""
[extraction]
enabled = false
[plugins]
enabled = ["posting"]
[tools]
enabled = {json.dumps(tools)}
rules = [{{ tool = "*", decision = "allow" }}]
[tools.workspaces.desk]
path = {json.dumps(str(work))}
[tools.web_fetch]
own_hosts = ["{site.host}"]
[tools.http_request.hosts."{site.host}"]
methods = ["POST"]
private = true
"""
    if notes is None:
        return settings
    return f"""{settings}
[mcp.notes]
command = {json.dumps(sys.executable)}
args = {json.dumps([str(_SERVER), str(notes)])}
effects = ["changes_outside"]
"""


def no_sandbox() -> str:
    """Why no command can be run here."""
    missing = [name for name in ("bwrap", "git") if shutil.which(name) is None]
    return f"{missing[0]} is not installed" if missing else ""
