"""Make names of files and folders of words of every script. Whatever the words, no name leads anywhere else."""

import hashlib
import re
import unicodedata

_UNSAFE = re.compile(r"[^\w+#-]+")
_LONGEST_SLUG = 60  # bytes
_LONGEST_PAGE = 120
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE)
_HASHED = re.compile(r"-[0-9a-f]{10}\Z")


def scope_folder(scope: str) -> str:
    """Name the folder in which everything of a scope stands, with its slash: "" for the owner's."""
    kind, _, name = scope.partition(":")
    return {"owner": "", "chat": f"chats/{name}/", "user": f"users/{name}/"}[kind]


def slug(text: str, longest: int = _LONGEST_SLUG) -> str:
    """`text` as part of a file name: letters and digits of every script, + and #; nothing that means a folder."""
    plain = _UNSAFE.sub("-", unicodedata.normalize("NFC", text).casefold()).strip("-_")
    return plain.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore").strip("-_")


def page_name(subject: str) -> str:
    """Name the page about `subject`, without its suffix: the same for the same subject only.

    Blanks become hyphens. A subject that cannot be a file name like that, or that could pass for another's, keeps a
    legible part and a hash. See `subject_of`.
    """
    folded = unicodedata.normalize("NFC", subject).casefold()
    plain = slug(folded, _LONGEST_PAGE)
    if plain and plain.replace("-", " ") == folded and not _RESERVED.fullmatch(plain) and not _HASHED.search(plain):
        return plain
    digest = hashlib.sha256(folded.encode("utf-8", "replace")).hexdigest()
    return f"{slug(folded, 40) or 'entity'}-{digest[:10]}"


def subject_of(name: str) -> str | None:
    """Recover the subject of a page from its name; None when that keeps a part of it only."""
    subject = name.replace("-", " ")
    return subject if page_name(subject) == name else None
