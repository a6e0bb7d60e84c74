"""Add a line to rules.json or preferences.md at the owner's word, and keep the rest to the letter."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from kenobot.identity import rules
from kenobot.ports.errors import KenobotError
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.storage import disk

_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


class AmendError(KenobotError):
    """The file cannot be amended; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """An amended text. inserted: the piece that was added; "" when it stood there already."""

    text: str
    inserted: str


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def add_rule(text: str, rule: Mapping[str, Json]) -> Amendment:
    """Add a behavioral rule to rules.json, at the end. Raises AmendError when the file cannot be used as it is."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(mark)
    if not body.strip():
        whole = json.dumps({"behavioral": [dict(rule)], "forbidden": []}, ensure_ascii=False, indent=2) + "\n"
        return Amendment(mark + whole, whole)
    require_rules(body)
    content = json.loads(body)
    instructions = [each.get("instruction") for each in content.get("behavioral", ()) if isinstance(each, dict)]
    if rule.get("instruction") in instructions:
        return Amendment(text, "")
    line = "\r\n" if "\r\n" in body else "\n"
    at, piece = _place(body, rule, line)
    amended = body[:at] + piece + body[at:]
    wanted = {**content, "behavioral": [*content.get("behavioral", ()), dict(rule)]}
    if json.loads(amended) != wanted:
        raise AmendError("identity.closed_rules")
    require_rules(amended)
    return Amendment(mark + amended, piece)


def add_preference(text: str, preference: str) -> Amendment:
    """Add a line to preferences.md, at the end."""
    item = f"- {' '.join(preference.split())}"
    if item in (line.strip() for line in text.splitlines()):
        return Amendment(text, "")
    line = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else line
    last = text.rstrip().rpartition("\n")[2].lstrip()
    if last and not last.startswith(("-", "*", "+")) and not (text + gap).endswith(line * 2):
        gap += line
    piece = f"{gap}{item}{line}"
    return Amendment(text + piece, piece)


def revert_amendment(text: str, before: str, after: str, piece: str) -> str:
    """Undo an amendment; where the text was changed since, remove the piece alone.

    Raises AmendError when the piece no longer stands there, or more than once.
    """
    if text == after:
        return before
    if not piece.strip() or text.count(piece) != 1:
        raise AmendError("identity.changed_since")
    return text.replace(piece, "")


def require_rules(text: str) -> None:
    """Raise AmendError for a text that is no valid rules.json."""
    try:
        rules.parse(text)
    except ValueError:
        raise AmendError("identity.broken_rules") from None


def _place(text: str, rule: Mapping[str, Json], line: str) -> tuple[int, str]:
    """Find the position in rules.json at which a rule is inserted, and its text in the file's own layout."""
    members = {key: (start, end) for key, start, end in _values(text, _skip(text, 0))}
    if "behavioral" not in members:
        inside = text.rindex("}")
        end = len(text[:inside].rstrip(_BLANK))
        comma = "," if members else ""
        entry = json.dumps([dict(rule)], ensure_ascii=False)
        return end, f'{comma}{line}  "behavioral": {entry}'
    start, end = members["behavioral"]
    items = list(_values(text, start))
    close = len(text[: end - 1].rstrip(_BLANK))
    if not items:
        indent = _indent(text, start)
        return start + 1, f"{line}{indent}  {json.dumps(dict(rule), ensure_ascii=False)}"
    (_, first, first_end), (_, last, _) = items[0], items[-1]
    if line not in text[start:last]:
        return close, f", {json.dumps(dict(rule), ensure_ascii=False)}"
    indent = _indent(text, last)
    spread = line in text[first:first_end]
    entry = json.dumps(dict(rule), ensure_ascii=False, indent=2 if spread else None)
    return close, f",{line}{indent}" + entry.replace("\n", f"{line}{indent}")


def _indent(text: str, at: int) -> str:
    begun = text[text.rfind("\n", 0, at) + 1 : at]
    return begun[: len(begun) - len(begun.lstrip(" \t"))]


def _values(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Find the values of the JSON object or array at `start`: the name of each, "" in an array, its start and end."""
    is_object, key, at = text[start] == "{", "", start + 1
    while text[at := _skip(text, at)] not in "]}":
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield key, at, end
        at = _skip(text, end)
        at += text[at] == ","


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_text(path: Path) -> str:
    """Read a file's text; "" when there is none. Raises AmendError."""
    try:
        raw = path.read_bytes() if not path.is_symlink() else b"\xff"
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise AmendError("files.unreadable", path=path.name, reason=error) from error
    try:
        if len(raw) <= disk.MAX_FILE_BYTES:
            return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise AmendError("identity.no_plain_file", name=path.name)


def replace_text(path: Path, before: str, after: str) -> None:
    """Replace a file that still says `before`, all of it or nothing. Raises AmendError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        if disk.write_if(path, after, lambda: read_text(path) == before, mode) is None:
            raise AmendError("identity.changed_now", name=path.name)
        disk.fsync_folder(path.parent)
    except OSError as error:
        raise AmendError("files.unwritable", path=path.name, reason=error) from error
