"""Find the addresses in a text: whatever a chat shows as something to tap, or a client might fetch by itself.

Found are addresses with a scheme (`https://…`, `tg://…`, `mailto:…`), Markdown's links, pictures and references, bare
names (`docs.example.org/page`) and mail addresses, also in wide letters, with dots of other scripts, and with what
takes no room in between. An address goes on to the next blank, because what a client takes for its end differs.

Not found: what a person would have to put together by hand ("example dot org"), @names and #tags. A bare name of two
parts that is as likely a file or a variable (`README.md`, `user.name`) is no address unless something follows it.

Time is linear in the text, whatever the text.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from linkify_it.tlds import TLDS

_TABLES = tomllib.loads(resources.files(__package__).joinpath("urls.toml").read_text("utf-8"))
_RESERVED, _IN_PROGRAMS, _AMBIGUOUS, _FILES = (
    frozenset(_TABLES[kind].split()) for kind in ("reserved", "in_programs", "ambiguous", "files")
)
_DOMAINS = (frozenset(map(str.lower, TLDS)) | _RESERVED) - _IN_PROGRAMS
_CONSTANT = frozenset({"www", "self", "this"})

# What takes no room on screen: a client may drop it, and the address works.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_UNSEEN_RUN = re.compile(f"[{_UNSEEN}]+")
_DOTS = dict.fromkeys(map(ord, "。．｡․"), ".") | {ord("⁄"): "/", ord("∕"): "/", ord("："): ":"}

_SCHEMES = (
    "mailto|tel|sms|smsto|data|javascript|vbscript|magnet|xmpp|sips?|geo|bitcoin|ethereum|lightning|facetime|callto|tg"
)
_WITH_SCHEME = rf"(?<![^\W_])(?:(?ai:[a-z][a-z0-9+.-]{{1,30}}):[/\\]{{2}}|(?ai:{_SCHEMES}):)(?=[^\s<>])"
_HOST = r"(?<![\w-])[\w-]++(?:\.[\w-]++)++"
_TARGET = r"\]\(\s{0,8}<?(?=[^\s)])|(?<![^\n])[ \t]{0,3}\[[^\[\]\n]{1,200}\]:[ \t]{0,8}<?(?=\S)"
_FOUND = re.compile(rf"(?P<target>{_TARGET})|(?P<scheme>{_WITH_SCHEME})|(?P<host>{_HOST})")
_NOT_BLANK = re.compile(r"[^\s]*+")
# A link whose words are an address: what follows is an address of its own, and looked at as such.
_UNTIL_TARGET = re.compile(r"(?:[^\s\]]++|\](?!\((?ai:https?)://))*+")
_IN_BRACKETS = re.compile(r"[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+")
_AFTER_HOST = re.compile(r"(?::[0-9]{1,5})?+(?=[/\\?#])|:[0-9]{1,5}")
_REST_OF_TARGET = re.compile(r"""[^\S\n]{0,8}(?:"[^"\n]{0,200}"|'[^'\n]{0,200}')?[^\S\n]{0,8}\)""")
_LOCAL_PART = re.compile(r"[\w.+%-]{1,64}\Z")
_TRAILING = ".,;:!?¡¿…'\"`´*_~)]}>|»”’“‘«，。、；：！？）」』】"
_HOST_PART = re.compile(r"[^/\\?#]*+")
_FIGURES = re.compile(r"[0-9.]*")
_LONGEST_TEXT = 1024
_ROUNDS = 5
_MOST_BEGINNINGS = 20


@dataclass(frozen=True, slots=True)
class Url:
    """An address and where it stands. `end` is exclusive; `text` is as written, without Markdown around it."""

    start: int
    end: int
    text: str


def find_urls(text: str) -> list[Url]:
    """Find the addresses in `text`, in order; they do not overlap."""
    folded, places = _folded(text)
    return [
        Url(places[start], places[end - 1] + 1, folded[start:end]) if places else Url(start, end, text[start:end])
        for start, end in _spans(folded)
    ]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    at = taken = 0  # taken: where the last address ended; before an @ may stand a name that was none
    while match := _FOUND.search(text, at):
        start, end = match.start(), match.end()
        if match["target"] is not None:
            start = end
            inside = text[match.start()] == "]"
            end = _past(_IN_BRACKETS if inside else _NOT_BLANK, text, start)
            if not any(sign in text[start:end] for sign in ".:/\\"):
                at = max(start, match.end())
                continue
        elif match["scheme"] is not None:
            end = _past(_UNTIL_TARGET, text, end)
        else:
            span = _bare(text, start, end, taken)
            if span is None:
                at = end
                continue
            start, end = span
        end = _trimmed(text, start, end)
        if end > start:
            yield start, end
        at = taken = max(end, match.end())


def _bare(text: str, start: int, end: int, floor: int) -> tuple[int, int] | None:
    """Return the span of the address that a name with dots is part of; None for a mere name with dots."""
    name = text[start:end].casefold()
    mail = start > floor and text[start - 1] == "@"
    more = _AFTER_HOST.match(text, end)
    if not _is_host(name, followed=more is not None or mail):
        return None
    if mail:
        local = _LOCAL_PART.search(text, max(floor, start - 65), start - 1)
        start = local.start() if local else start
    return start, _past(_UNTIL_TARGET, text, end) if more else end


def _is_host(name: str, *, followed: bool) -> bool:
    if _FIGURES.fullmatch(name):
        return followed and name.count(".") == 3
    labels = name.split(".")
    last = labels[-1]
    known = last in _DOMAINS or last.startswith("xn--") or not last.isascii()
    if followed:
        return (known or last.isalpha()) and len(last) > 1 and last not in _FILES
    if not known or not last.replace("-", "").isalnum() or last.isdigit():
        return False
    while len(labels) > 2 and labels[0] in _CONSTANT:
        del labels[0]
    return len(labels) > 2 or name.startswith("www.") or not (last in _AMBIGUOUS or not last.isascii())


def _past(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of a match of `pattern` at `start`."""
    match = pattern.match(text, start)
    return match.end() if match else start


def _trimmed(text: str, start: int, end: int) -> int:
    """Exclude the marks of the sentence around an address; a bracket opened within it stays."""
    surplus = text.count(")", start, end) - text.count("(", start, end)
    while end > start and text[end - 1] in _TRAILING:
        if text[end - 1] == ")":
            if surplus <= 0:
                break
            surplus -= 1
        end -= 1
    return end


def _folded(text: str) -> tuple[str, list[int]]:
    """Fold `text` as a client may read it, with the place of each character in `text`; no places if all are equal."""
    if text.isascii():
        return text, []
    letters: list[str] = []
    places: list[int] = []
    at = 0
    for gap in [*_UNSEEN_RUN.finditer(text), None]:
        end = gap.start() if gap else len(text)
        letters.append("".join(map(_plain, text[at:end])))
        places.extend(range(at, end))
        at = gap.end() if gap else end
    return "".join(letters), places


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    if char.isascii():
        return char
    mapped = _DOTS.get(ord(char)) or unicodedata.normalize("NFKC", char)
    return mapped if len(mapped) == 1 and not mapped.isspace() else char


# ── which are new ────────────────────────────────────────────────────────────────────────────────────────────────


class SeenUrls:
    """The addresses in texts that the model was shown: it did not put these together itself."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._forms: set[str] = set()  # bounded: the addresses in one prompt; turn
        for text in texts:
            for address in find_urls(text):
                self._forms.update(_beginnings(_form(address.text)))

    def __call__(self, address: str) -> bool:
        """Return whether `address`, or a longer one that begins with it, was shown."""
        return _form(address) in self._forms


def _form(address: str) -> str:
    """Normalise an address: http or https, www, the case of its host and a last slash make no difference."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        scheme, rest = "", address
    elif scheme.casefold() in ("http", "https"):
        scheme = ""
    end = _past(_HOST_PART, rest, 0)
    host, path = rest[:end], rest[end:]
    host = host.casefold().removeprefix("www.")
    return f"{scheme.casefold()}{':' if scheme else ''}{host}{path}".rstrip("/")


def _beginnings(form: str) -> Iterator[str]:
    """Yield `form` and the pages above it."""
    yield form
    for _ in range(_MOST_BEGINNINGS):
        cut = max(form.rfind("/"), form.rfind("?"), form.rfind("#"))
        if cut <= 0:
            return
        form = form[:cut].rstrip("/")
        yield form


def remove_urls(text: str, keep: Callable[[str], bool], mark: str) -> tuple[str, int]:
    """Replace each address that `keep` turns down by `mark`; returns the text and how many they were.

    Of a Markdown link the words stay. A new address that the rest makes is replaced as well; a text that goes on making
    new ones is hostile and is replaced whole.
    """
    total = 0
    for _ in range(_ROUNDS):
        pieces: list[str] = []
        at = count = 0
        for address in find_urls(text):
            if keep(address.text):
                continue
            start, end, words = _around(text, at, address)
            pieces += text[at:start], f"{words} {mark}" if words else mark
            at, count = end, count + 1
        if not count:
            return text, total
        text, total = "".join([*pieces, text[at:]]).replace(f"[{mark}]({mark})", mark), total + count
    return mark, total


def _around(text: str, floor: int, address: Url) -> tuple[int, int, str]:
    """Return the span of an address with its Markdown, and the words of the link."""
    start, end = address.start, address.end
    if text[start - 1 : start] == "<" and start > floor:
        start -= 1
        end += text[end : end + 1] == ">"
    before = text[max(floor, start - 10) : start].rstrip()
    rest = _REST_OF_TARGET.match(text, end)
    if not before.endswith("](") or rest is None:
        return start, end, ""
    close = max(floor, start - 10) + len(before) - 2
    opening = text.rfind("[", max(floor, close - _LONGEST_TEXT), close)
    if opening < 0:
        return start, end, ""
    words = text[opening + 1 : close]
    if opening > floor and text[opening - 1] == "!":
        opening -= 1
    return opening, rest.end(), "" if find_urls(words) else words
