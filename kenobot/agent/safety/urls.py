"""Find the addresses in a text: whatever a chat shows as something to tap, or a client might fetch by itself.

Found are addresses with a scheme (`https://…`, `tg://…`, `mailto:…`), Markdown's links, pictures and references, bare
names (`docs.example.org/page`, `shop.casino`), mail addresses, `@handles` and phone numbers, also in wide letters, with
dots of other scripts or spelt out (`shop[.]casino`, "shop dot com"), and with what takes no room in between. An address
goes on to the next blank, because what a client takes for its end differs.

Not found: #tags, which carry nothing to their author; names of files, programs and front pages that everybody knows.

Time is linear in the text, whatever the text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from kenobot.agent.safety.contacts import FIGURES, figures_of, find_contacts
from kenobot.agent.safety.hosts import FRONT_PAGES, is_domain, is_file_name, is_host
from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.postprocessors.code_ranges import Range, code_ranges

# What takes no room on screen: a client may drop it, and the address works.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
# What Markdown takes away or writes for another sign, where that makes a name with dots: `a**b**.c`, `a&#46;b`.
_WRITTEN = dict.fromkeys(("46", "x2e", "period"), ".") | dict.fromkeys(("64", "x40", "commat"), "@")
_WRITTEN |= dict.fromkeys(("47", "x2f", "sol"), "/")
_WRITTEN |= dict.fromkeys(("dot", "punto", "ponto"), ".") | dict.fromkeys(("slash", "barra"), "/")
_COMMON = frozenset("app biz club co com dev edu eu gov info io me mobi net online org shop site tv xyz".split())
# Words for signs that are joined to the name: `shop-dot-example-slash-page`, `shopDOTcom`.
_JOIN = r"[ ]?[-_~|*]{1,3}[ ]?"
_JOINED = (
    rf"(?<=[^\W_]){_JOIN}(?ai:(dot|punto|ponto)){_JOIN}"
    rf"(?=(?ai:{'|'.join(sorted(_COMMON))})(?![\w-])|[^\W_]{{2,24}}{_JOIN}(?ai:slash|barra){_JOIN})"
    rf"|(?<=[^\W_]){_JOIN}(?ai:(slash|barra)){_JOIN}(?=[^\W_])"
    rf"|(?<=[a-z0-9])(DOT|PUNTO|PONTO)(?=(?:{'|'.join(sorted(_COMMON))})(?![a-z])|[a-z]{{2,24}}(?:SLASH|BARRA))"
    r"|(?<=[a-z0-9])(SLASH|BARRA)(?=[a-z0-9])"
)
_UNSEEN_RUN = lazy.regex(
    rf"{_JOINED}|[{_UNSEEN}]+|(?:\*{{1,3}}|~~|__|\\)(?=\.)|\\(?=[_-])|(?<=\.)(?:\*{{1,3}}|~~|__)(?=\w)"
    rf"|(?<=[^\W\d_])(?:\*{{1,3}}|~~)(?=[^\W\d_])|&(?ai:#0{{0,6}}({'|'.join(_WRITTEN)})|({'|'.join(_WRITTEN)}));"
)
_DOTS = dict.fromkeys(map(ord, "。．｡․"), ".") | {ord("⁄"): "/", ord("∕"): "/", ord("："): ":"}

_SCHEMES = (
    "mailto|tel|sms|smsto|data|javascript|vbscript|magnet|xmpp|sips?|geo|bitcoin|ethereum|lightning|facetime|callto|tg"
)
_WITH_SCHEME = rf"(?<![^\W_])(?:(?ai:[a-z][a-z0-9+.-]{{1,30}}):[/\\]{{2}}|(?ai:{_SCHEMES}):)(?=[^\s<>])"
# A letter of a name; \w leaves out the vowel signs of Indic and other scripts. Not the danda, which ends a sentence.
_LETTER = (
    r"[\w\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
    r"\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3-]"
)
_HOST = rf"(?<!{_LETTER}){_LETTER}++(?:\.{_LETTER}++)++"
# Dots that are spelt out: in brackets with or without a word, a word between blanks, a dot between blanks.
_MIDDLE_DOTS = "·•∙⋅‧"
_DOT = (
    r"(?:[ ]?[\[({][ ]?(?:\.|(?ai:dot|punto|point|punkt|ponto))[ ]?[\])}][ ]?|[ ](?ai:dot|punto|ponto)[ ]|[ ]\.[ ]"
    rf"|[ ]?[{_MIDDLE_DOTS}][ ]?)"
)
_SPELT = rf"(?<!{_LETTER}){_LETTER}++(?:\.{_LETTER}++)*+(?={_DOT})(?:(?:{_DOT}|\.){_LETTER}++)++"
_SPELT_DOT = lazy.regex(rf"{_DOT}|\.")
_LOOSE_DOT = lazy.regex(rf"[ ](?:(?ai:dot|punto|ponto)|\.)[ ]|[{_MIDDLE_DOTS}]")
_SPELT_PATH = lazy.regex(
    r"(?:[ ](?ai:slash|barra|/)[ ][^\s]++|[ ]?[\[({](?ai:slash|barra|/)[\])}][ ]?[^\s]++|[ ]?/[^\s]++)++"
)
# Letters with a blank after each.
_SPACED = lazy.regex(r"(?<!\S)(?:(?:\S|(?ai:dot|punto|ponto|slash|barra))[ \u00a0]{1,2}){6,}\S(?!\S)")
_SPACED_SIGNS = lazy.regex(r"[ \u00a0]+(?:(?ai:(dot|punto|ponto|slash|barra))[ \u00a0]+)?")
_AT = r"[ ]?[\[({][ ]?(?ai:at|arroba|@)[ ]?[\])}][ ]?|[ ](?ai:arroba)[ ]"
_LOCAL_IN_WORDS = lazy.regex(rf"[\w.+%-]{{1,64}}(?:{_AT})\Z")
_SPELT_LOCAL = lazy.regex(rf"[\w.+%-]{{1,64}}(?:{_AT}|[ ](?ai:at)[ ]|@)\Z")
_SPELT_AT = lazy.regex(_AT)
_NUMBER = "number"
_IS_NUMBER = lazy.regex(r"[+(*#]?[ ]?[0-9*#][0-9 \u00a0().*#/–-]*\Z")
_NAME = lazy.regex(rf"{_LETTER}++")
_WHOLE_HOST = lazy.regex(_HOST)
_TARGET = r"\]\(\s{0,8}<?(?=[^\s)])|(?<![^\n])[ \t]{0,3}\[[^\[\]\n]{1,200}\]:[ \t]{0,8}<?(?=\S)"
_FOUND = lazy.regex(rf"(?P<target>{_TARGET})|(?P<scheme>{_WITH_SCHEME})|(?P<spelt>{_SPELT})|(?P<host>{_HOST})")
_NOT_BLANK = lazy.regex(r"[^\s]*+")
# A link whose words are an address: what follows is an address of its own, and looked at as such.
_UNTIL_TARGET = lazy.regex(r"(?:[^\s\]]++|\](?!\((?ai:https?)://))*+")
_IN_BRACKETS = lazy.regex(r"[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+")
_AFTER_HOST = lazy.regex(r"(?::[0-9]{1,5})?+(?=[/\\?#])|:[0-9]{1,5}")
_REST_OF_TARGET = lazy.regex(r"""[^\S\n]{0,8}(?:"[^"\n]{0,200}"|'[^'\n]{0,200}')?[^\S\n]{0,8}\)""")
_LOCAL_AND_AT = lazy.regex(r"[\w.+%-]@\Z")
_LOCAL_PART = lazy.regex(r"[\w.+%-]{1,64}\Z")
_NUMBERED = lazy.regex(r"(?<![0-9])(?!(?:19|20)[0-9]{2}(?![0-9]))[0-9]{3}")
_CALLED = lazy.regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+\Z")
_TRAILING = ".,;:!?¡¿…'\"`´*_~)]}>|»”’“‘«，。、；：！？）」』】"
_HOST_PART = lazy.regex(r"[^/\\?#]*+")
_WEB = lazy.regex(r"(?:(?ai:https?)://)?([\w-]+(?:\.[\w-]+)+)((?:[/?#].*)?)\Z")
_BEFORE_WORD = lazy.regex(r"[ ](?=[^\W\d_])[^A-Z]")
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
    folded, places = _fold(text)
    return [
        Url(places[start], places[end - 1] + 1, folded[start:end]) if places else Url(start, end, text[start:end])
        for start, end in _merge_spans(chain(_spans(folded), find_contacts(folded), _find_spaced(folded)))
    ]


def _merge_spans(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join spans that overlap, as of `@name:server` and its server."""
    last: tuple[int, int] | None = None
    for span in sorted(spans):
        if last is not None and span[0] < last[1]:
            last = last[0], max(last[1], span[1])
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def _spans(text: str) -> Iterator[tuple[int, int]]:
    code = code_ranges(text) if "`" in text or "~~~" in text else []
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
        elif match["spelt"] is not None:
            span = _find_spelt(text, start, end, taken)
            if span is None:
                at = _past(_NAME, text, start)  # the rest may be an address by itself
                match = _WHOLE_HOST.match(text, start)
                span = _find_bare(text, start, match.end(), taken, code) if match else None
                if span is None:
                    continue
            start, end = span
            yield start, end
            at = taken = end
            continue
        else:
            span = _find_bare(text, start, end, taken, code)
            if span is None:
                at = end
                continue
            start, end = span
        end = _trim(text, start, end)
        if end > start:
            yield start, end
        at = taken = max(end, match.end())


def _find_spaced(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of addresses whose letters stand apart."""
    for match in _SPACED.finditer(text):
        if any(_spans(join_spaced(match[0]))):
            yield match.span()


def join_spaced(address: str) -> str:
    """Join the letters of an address where they stand apart."""
    if _SPACED.fullmatch(address) is None:
        return address
    return _SPACED_SIGNS.sub(lambda gap: _WRITTEN[gap[1].casefold()] if gap[1] else "", address)


def _find_bare(text: str, start: int, end: int, floor: int, code: Sequence[Range]) -> tuple[int, int] | None:
    """Return the span of the address that a name with dots is part of; None for a mere name with dots."""
    mail = _LOCAL_AND_AT.search(text, max(floor, start - 2), start) is not None
    more = _AFTER_HOST.match(text, end)
    if more is not None and more.end() > end and is_file_name(text[start:end]):
        more = None  # not a port, but a line of the file
    if not mail and text[end : end + 1] == "(" and _is_called(text[start:end]):
        return None
    if not is_host(
        text[start:end],
        followed=more is not None or mail,
        in_code=_is_within(code, start),
        before_word=_BEFORE_WORD.match(text, end) is not None,
    ):
        return None
    local = (_LOCAL_PART if mail else _LOCAL_IN_WORDS).search(text, max(floor, start - 80), start - mail)
    return local.start() if local else start, _past(_UNTIL_TARGET, text, end) if more else end


def _is_called(name: str) -> bool:
    """Return whether a name with dots before a bracket is rather the path of a function: `coro.utils.run()`."""
    ending = name.rpartition(".")[2].casefold()
    return _CALLED.match(name) is not None and ending not in _COMMON and not name.casefold().startswith("www.")


def find_code_names(text: str) -> Iterator[tuple[int, int]]:
    """Find the names with dots that are no addresses because they are called, stand in code, or are a file's.

    Of files, those with a number in their name: clients make an address of them.
    """
    code = code_ranges(text) if "`" in text or "~~~" in text else []
    for match in _WHOLE_HOST.finditer(text):
        is_numbered = is_file_name(match[0]) and _NUMBERED.search(match[0]) is not None
        if is_numbered or text[match.end() : match.end() + 1] == "(" or _is_within(code, match.start()):
            yield match.span()


def _is_within(ranges: Sequence[Range], at: int) -> bool:
    before = bisect_right(ranges, (at, len(ranges) and ranges[-1][1])) - 1
    return before >= 0 and at < ranges[before][1]


def _find_spelt(text: str, start: int, end: int, floor: int) -> tuple[int, int] | None:
    """Return the span of a host whose dots are spelt out, with what is in front and behind; None when there is none.

    A word between blanks may be a word of a sentence, so there the ending must be a common one, or the dots two.
    """
    ends = [*[dot.start() for dot in _SPELT_DOT.finditer(text, start, end)][1:], end]
    for count, stop in reversed(list(enumerate(ends, 1))):
        name = _SPELT_DOT.sub(".", text[start:stop]).casefold()
        ending = name.rpartition(".")[2]
        loose = _LOOSE_DOT.search(text, start, stop) is not None
        more = _SPELT_PATH.match(text, stop) or (None if loose else _AFTER_HOST.match(text, stop))
        is_list = any(sign in text[start:stop] for sign in _MIDDLE_DOTS)  # as people put between the items of one
        plain = not is_list and (ending in _COMMON or (count > 1 and len(ending) > 2))
        local = _LOCAL_IN_WORDS.search(text, max(floor, start - 80), start)
        if not is_domain(ending) or (loose and not (more or plain or local)):
            continue
        local = local or _SPELT_LOCAL.search(text, max(floor, start - 80), start)
        return local.start() if local else start, _past(_SPELT_PATH, text, stop) if more else stop
    return None


def _past(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of a match of `pattern` at `start`."""
    match = pattern.match(text, start)
    return match.end() if match else start


def _trim(text: str, start: int, end: int) -> int:
    """Exclude the marks of the sentence around an address; a bracket opened within it stays."""
    surplus = text.count(")", start, end) - text.count("(", start, end)
    while end > start and text[end - 1] in _TRAILING:
        if text[end - 1] == ")":
            if surplus <= 0:
                break
            surplus -= 1
        end -= 1
    return end


def _fold(text: str) -> tuple[str, list[int]]:
    """Fold `text` as a client may read it, with the place of each character in `text`; no places if all are equal."""
    if text.isascii() and _UNSEEN_RUN.search(text) is None:
        return text, []
    letters: list[str] = []
    places: list[int] = []
    at = 0
    for gap in [*_UNSEEN_RUN.finditer(text), None]:
        end = gap.start() if gap else len(text)
        letters.append("".join(map(_fold_char, text[at:end])))
        places.extend(range(at, end))
        if gap and gap.lastindex:
            letters.append(_WRITTEN[gap[gap.lastindex].casefold()])
            places.append(end)
        at = gap.end() if gap else end
    return "".join(letters), places


@lru_cache(maxsize=4096)
def _fold_char(char: str) -> str:
    if char.isascii():
        return char
    mapped = _DOTS.get(ord(char)) or unicodedata.normalize("NFKC", char)
    return mapped if len(mapped) == 1 and not mapped.isspace() else char


# ── which are new ────────────────────────────────────────────────────────────────────────────────────────────────


class SeenUrls:
    """The addresses in texts that the model was shown: it did not put these together itself."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._forms: set[str] = set()  # bounded: the addresses in one prompt; turn
        rows: list[str] = []
        for text in texts:
            for address in find_urls(text):
                self._forms.update(_beginnings(_form(address.text)))
            rows += [figures_of(row[0]) for row in FIGURES.finditer(_fold(text)[0])]
        self._figures = " ".join(rows)

    def __call__(self, address: str) -> bool:
        """Return whether `address`, or a longer one that begins with it, was shown, or is a well-known front page."""
        form = _form(address)
        if form in self._forms or form in FRONT_PAGES:
            return True
        kind, _, figures = form.partition(":")
        return kind == _NUMBER and figures in self._figures


def _form(address: str) -> str:
    """Normalise an address: what makes no difference to where it leads.

    That is http or https, www, the case of its host, a last slash and dots that are spelt out; and in a number all that
    is no figure.
    """
    if _IS_NUMBER.match(address):
        return f"{_NUMBER}:{figures_of(address)}"
    if address.startswith("@"):
        return address.casefold()
    if " " in address or "[" in address or "(" in address or "{" in address:
        address = _SPELT_AT.sub("@", _SPELT_DOT.sub(".", address))
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
    """Yield `form`, the pages above it, and of a mail address its host."""
    yield form
    if "@" in form[1:] and "/" not in form:
        yield form.rpartition("@")[2]
    for _ in range(_MOST_BEGINNINGS):
        cut = max(form.rfind("/"), form.rfind("?"), form.rfind("#"))
        if cut <= 0:
            return
        form = form[:cut].rstrip("/")
        yield form


def host_and_path(address: str) -> tuple[str, str] | None:
    """Split an address of the web, without "www."; None for one of another kind, with a port or a name to log in."""
    match = _WEB.match(address)
    return (match[1].casefold().removeprefix("www."), match[2]) if match else None


def is_picture(text: str, start: int) -> bool:
    """Return whether the address at `start` is the target of a Markdown picture."""
    close = text.rfind("](", max(0, start - 10), start)
    opening = text.rfind("[", max(0, close - _LONGEST_TEXT), close) if close >= 0 else -1
    return opening > 0 and text[opening - 1] == "!"


def remove_urls(
    text: str, keep: Callable[[str], bool], mark: str, keep_picture: Callable[[str], bool] | None = None
) -> tuple[str, list[str]]:
    """Replace each address that `keep` turns down by `mark`; returns the text and these addresses.

    keep_picture: the same for the target of a picture, which clients fetch by themselves. Of a Markdown link the words
    stay. A new address that the rest makes is replaced as well; a text that goes on making new ones is hostile and is
    replaced whole.
    """
    removed: list[str] = []
    for _ in range(_ROUNDS):
        pieces: list[str] = []
        at, count = 0, len(removed)
        for address in find_urls(text):
            keeps = keep_picture if keep_picture is not None and is_picture(text, address.start) else keep
            if keeps(address.text):
                continue
            start, end, words = _around(text, at, address)
            pieces += text[at:start], f"{words} {mark}" if words else mark
            at = end
            removed.append(text[address.start : address.end])
        if len(removed) == count:
            return text, removed
        text = "".join([*pieces, text[at:]]).replace(f"[{mark}]({mark})", mark)
    return mark, [*removed, text]


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
