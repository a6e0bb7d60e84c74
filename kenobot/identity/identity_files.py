"""Read the identity folder: core.md, rules.json, preferences.md and, until onboarding is over, BOOTSTRAP.md."""

import logging
import stat
import threading
from itertools import chain, count
from pathlib import Path

from kenobot.identity import rules
from kenobot.ports.frozen import dataclass
from kenobot.storage.disk import MAX_FILE_BYTES, UNKNOWN, FileStamp

_log = logging.getLogger(__name__)

FOLDER = "identity"  # within the memory folder
MAX_PROMPT_BYTES = 64 * 1024
_RULES = "rules.json"


@dataclass(frozen=True, slots=True)
class IdentityText:
    """The files' texts for a prompt; "" for a missing file. bootstrap: None once it is over."""

    core: str
    rules: str
    preferences: str
    bootstrap: str | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was read last."""

    stamp: FileStamp
    text: str
    problem: str = ""
    parsed: rules.Rules | None = None


class Identity:
    """Reads the identity folder `root`. `read` may be called from any thread; unchanged files cost a stat each."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: dict[str, Path] = {}  # bounded: 4 files; test_the_identity_folder_is_read_by_four_names
        self._seen: dict[str, _Seen] = {}  # bounded: 4 files; test_the_identity_folder_is_read_by_four_names
        self._lock = threading.Lock()

    def read(self) -> IdentityText:
        """Read the files. One that cannot be used counts as empty and is named in `problems`."""
        with self._lock:
            return IdentityText(
                core=self._text("core.md") or "",
                rules=self._text(_RULES) or "",
                preferences=self._text("preferences.md") or "",
                bootstrap=self._text("BOOTSTRAP.md"),
            )

    @property
    def problems(self) -> tuple[str, ...]:
        """Name what a person must mend, a sentence a file, as of the last `read`."""
        with self._lock:
            return tuple(seen.problem for _, seen in sorted(self._seen.items()) if seen.problem)

    def violations(self, reply: str) -> tuple[str, ...]:
        """Match in `reply` the patterns that rules.json forbade at the last `read`, which the prompt was made of."""
        with self._lock:
            seen = self._seen.get(_RULES)
            parsed = seen.parsed if seen is not None else None
            return tuple(rules.violations(parsed, reply[:MAX_PROMPT_BYTES])) if parsed is not None else ()

    def finish_bootstrap(self) -> None:
        """Move BOOTSTRAP.md to the archive, beside those moved there before."""
        source = self._root / "BOOTSTRAP.md"
        archive = self._root.parent / "archive"
        if not source.exists():
            return
        archive.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = chain(["BOOTSTRAP.md"], (f"BOOTSTRAP-{number}.md" for number in count(2)))
        source.rename(next(target for name in names if not (target := archive / name).exists()))

    def _text(self, name: str) -> str | None:
        """Read a file for a prompt; None when it is missing."""
        path = self._paths.get(name) or self._paths.setdefault(name, self._root / name)
        try:
            found = path.stat()
            stamp = FileStamp.of(found)
            known = self._seen.get(name)
            if known is None or known.stamp != stamp:
                if not stat.S_ISREG(found.st_mode):
                    raise ValueError("it is a folder, a pipe or a device.")
                if found.st_size > MAX_FILE_BYTES:
                    raise ValueError("it is larger than 5 MB.")
                text = path.read_bytes().decode("utf-8-sig")
                parsed = rules.parse(text) if name == _RULES and text.strip() else None
                if name == _RULES:
                    text = rules.render(parsed) if parsed is not None else ""
                known = _Seen(stamp, clip(text), parsed=parsed)
        except FileNotFoundError:
            self._seen.pop(name, None)
            return None
        except OSError as error:
            known = _Seen(UNKNOWN, "", f"{name} cannot be read ({error.strerror}): nothing of it is used.")
        except UnicodeDecodeError:
            known = _Seen(stamp, "", f"{name} is not UTF-8 text: nothing of it is used.")
        except ValueError as error:
            known = _Seen(stamp, "", f"{name} cannot be used: {_first_line(error)} Mend it, or take it away.")
        former = self._seen.get(name)
        if known.problem and (former is None or former.problem != known.problem):
            _log.warning("%s", known.problem)
        self._seen[name] = known
        return known.text


def clip(text: str) -> str:
    """Cut `text` to what a prompt has room for: at most 64 KB, cut between characters."""
    return text.encode("utf-8")[:MAX_PROMPT_BYTES].decode("utf-8", "ignore")


def _first_line(error: ValueError) -> str:
    """Render a validation error in one sentence, without what the file holds."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return str(error)
    first = errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where + ': ' if where else ''}{first['msg']}."
