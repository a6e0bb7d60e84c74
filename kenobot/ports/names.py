"""Names that people chose for themselves, made fit to stand beside what they said."""

import hashlib
import re
import unicodedata
from typing import Literal, get_args
from urllib.parse import quote

from kenobot.ports.frozen import dataclass

Role = Literal["owner", "guest"]

_LONGEST_NAME = 40
_LONGEST_ID = 48  # characters; with a name it fits into the mark of a quotation
_LABEL = re.compile(rf"(?:([^\n:()]{{1,60}}) )?\(({'|'.join(get_args(Role))}), id ([^\s()]{{1,99}})\): ")
_NAME_ALONE = re.compile(r"([^\n:]{1,60}): ")  # before labels had roles and ids


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line of a group's conversation. name: the speaker's. id: as `label_id` writes it, "" where there is none."""

    name: str
    id: str
    text: str


def sanitize_name(name: str) -> str:
    """Return a name that a stranger chose, fit to be shown: letters, figures, no address, no second line."""
    letters = (char for char in unicodedata.normalize("NFKC", name[:400]))
    kept = "".join(char if unicodedata.category(char)[0] in "LMN" or char in "-'’" else " " for char in letters)
    return " ".join(kept.split())[:_LONGEST_NAME].rstrip()


def label_id(user: str) -> str:
    """Write a platform's id of a person so that it cannot pass for the end of a label; no two people's are the same."""
    plain = quote(user, safe="@:+").replace("~", "%7E")
    if len(plain) <= _LONGEST_ID:
        return plain
    return f"{plain[:31]}~{hashlib.sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def speaker_label(name: str, role: Role, user: str) -> str:
    """Name the speaker of a line in a group as the runtime knows them. People choose names; role and id they do not."""
    return f"{sanitize_name(name) or sanitize_name(user)} ({role}, id {label_id(user)}): ".lstrip()


def name_person(name: str, user_id: str) -> str:
    """Name a person of a group to those who were not there: names can be taken, ids cannot. user_id: of `label_id`."""
    plain = sanitize_name(name)
    return f"{plain} (id {user_id})".lstrip() if user_id else plain


def split_label(line: str) -> SpokenLine:
    """Split a line that may begin with a label of `speaker_label` into its speaker and what they said."""
    match = _LABEL.match(line)
    return SpokenLine(match[1] or "", match[3], line[match.end() :]) if match else SpokenLine("", "", line)


def split_line(line: str) -> SpokenLine:
    """Split a line of a group's conversation into its speaker and what they said."""
    if (found := split_label(line)).id:
        return found
    if match := _NAME_ALONE.match(line):
        return SpokenLine(match[1], "", line[match.end() :])
    return SpokenLine("", "", line)
