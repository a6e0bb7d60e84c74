"""One page of a vault: its names, its facts, and what each of its lines is. Pure."""

import contextlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from importlib import resources
from itertools import pairwise
from typing import Literal

from kenobot.core import lazy
from kenobot.language.words import fold, words
from kenobot_importers import markdown

LineKind = Literal["kept", "system", "media", "empty"]

_LONGEST_HEAD = 16_000  # characters of front matter
_DEEPEST = 20  # lists and maps of front matter within each other
_BOOKKEEPING = frozenset(
    """
    tags tag alias aliases title name cssclass cssclasses publish permalink created updated modified date day id uid
    collapsed heading background-color template position kanban-plugin excalidraw-plugin banner cover
    icon sticker lang layout slug draft
    """.split()
)
_NAMES = ("alias", "aliases")
_DAY_KEYS = ("date", "day", "created")
_DATES = (
    lazy.regex(r"(?P<y>\d{4})[-_. ]?(?P<m>\d{2})[-_. ]?(?P<d>\d{2})(?!\d)"),
    lazy.regex(r"(?P<d>\d{1,2})[-_.](?P<m>\d{1,2})[-_.](?P<y>\d{4})(?!\d)"),
)
_LONG_DATES = (
    lazy.regex(r"(?P<m>[^\W\d_]{3,10})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})(?!\d)"),
    lazy.regex(
        r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.)? (?:of |de )?(?P<m>[^\W\d_]{3,10})\.?,? (?:de |del )?(?P<y>\d{4})(?!\d)"
    ),
)
_WEEKDAY = lazy.regex(r"([^\W\d_]{3,10})[.,]* ")
_INNER_DATE = lazy.regex(r"(?<![\w.-])(\d{4})-(\d{2})-(\d{2})(?![\w-])")
_WEEK = lazy.regex(r"(\d{4})-?[Ww](\d{1,2})(?!\d)")
_CALENDAR = tomllib.loads(resources.files(__package__).joinpath("headings.toml").read_text("utf-8"))["calendar"]
_MONTHS = {name: at for at, names in enumerate(_CALENDAR["months"], 1) for name in names.split()}
_WEEKDAYS = frozenset(_CALENDAR["weekdays"].split())
_HASH = lazy.regex(r"[ _-][0-9a-f]{32}$")  # behind the names of pages that Notion exports
_PROPERTY = lazy.regex(r"[ \t]*(?:[-*+] )?([\w][\w-]{0,40})::[ \t]*(.*)")
_SYSTEM_FENCE = lazy.regex(r"(?:`{3,}|~{3,})\s*(?:dataview|dataviewjs|tasks|query|button|calendar|kanban|base)\b")
_FENCE = lazy.regex(r"\s*(`{3,}|~{3,})")
_EMBED = lazy.regex(r"!\[\[([^\[\]\n]{1,300})\]\]|!\[[^\[\]\n]{0,300}\]\([^()\n]{1,2000}\)")
_LINK = lazy.regex(r"\[\[([^\[\]|#\n]{0,300})(#[^\[\]|\n]{0,300})?(?:\|([^\[\]\n]{1,300}))?\]\]")
_URL_LINK = lazy.regex(r"\[([^\[\]\n]{1,300})\]\((https?://[^()\s]{1,2000})\)")
_FIELD = lazy.regex(r"(?<![:\w])([\w][\w \-]{0,40})::[ \t]+")
_BLOCK_ID = lazy.regex(r"[ \t]\^[\w-]{1,60}[ \t]*$")
_TAGS_ONLY = lazy.regex(r"\s*(?:[-*+]\s+)?(?:#[^\s#]+\s*)+")
_TEMPLATE = lazy.regex(r"\{\{[^{}\n]{1,200}\}\}|<%[^%\n]{1,500}%>")
_QUOTE = lazy.regex(r"\s{0,3}(?:>\s?)+(?:\[![\w|-]+\][+-]?\s*)?")
_HEADING = lazy.regex(r"#{1,6}[ \t]+(.*?)[ \t]*#*$")
_RULE = lazy.regex(r"\s*(?:[-*_=][ \t]*){3,}")
_HTML = lazy.regex(r"\s*</?[A-Za-z][^<>\n]{0,500}>\s*")
_KEY = lazy.regex(r"([^\s:#'\"\[{-][^:\n]{0,80}?):(?:[ \t]+(.*))?$")
_LABELLED = lazy.regex(r"[^:\n]{1,60}:[ \t]+\S")
_UNFILLED = lazy.regex(r"[^:\n]{1,60}:[ \t]*")
_DRAWING = lazy.regex(r"#{1,2} (?:Element Links|Embedded Files|Drawing)\s*|%%\s*")
_DRAWN = lazy.regex(r"==⚠|#{1,2} (?:Excalidraw Data|Text Elements)\s*$")
_LONGEST_HEADING = 100  # characters of one that is put before what stands below it
_SAYS_LITTLE = 3  # words of a heading that is no sentence
_LONGEST_FACT = 4000  # characters
_NUMBERED = lazy.regex(r"[\d\W_]+")
_QUOTED = "\ue000"  # before a line that was quoted, while the page is read
_GENERIC = frozenset(
    """
    readme index inbox untitled sin titulo home start moc todo todos tasks tareas log scratch me yo mi about sobre
    """.split()
)


@dataclass(frozen=True, slots=True)
class PageNames:
    """The name of a page and its others."""

    title: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageFact:
    """Something that a page says. at, day: when it says that it was so, where it does. is_heading: nothing is below."""

    text: str
    category: str = "fact"
    at: time | None = None
    day: date | None = None
    is_heading: bool = False


@dataclass(slots=True)
class Page:
    """Hold what a page says. day: of a daily note. is_about: its lines are about what its name says.

    counts: its lines by kind.
    """

    title: str
    aliases: tuple[str, ...]
    day: date | None
    is_about: bool
    facts: list[PageFact] = field(default_factory=list)
    counts: Counter[LineKind] = field(default_factory=Counter)


def page_names(text: str, stem: str) -> PageNames:
    """Read the names of a page: its file's, unless that is a number, and its aliases."""
    lines = split_lines(text)
    head, end = _front_matter(lines)
    stem = _HASH.sub("", stem)
    title = stem
    if _NUMBERED.fullmatch(stem) and day_in(stem) is None:
        headings = (_HEADING.fullmatch(line) for line in lines[end:])
        title = _text(head, "title") or next((found[1] for found in headings if found), stem)
    properties = [found for line in lines[end:] if (found := _PROPERTY.fullmatch(line)) and found[1].lower() in _NAMES]
    listed = [name.strip("[] ") for found in properties for name in found[2].split(",")]
    names = [*_texts(head.get("aliases")), *_texts(head.get("alias")), *listed]
    shown = _text(head, "title") or _text(head, "name")
    names += [shown] if shown and fold(shown) != fold(title) else []
    return PageNames(_one_line(title), tuple(dict.fromkeys(_one_line(name) for name in names if name.strip())))


def read_page(text: str, stem: str, links: Mapping[str, str]) -> Page:
    """Read a page. links: the page that each folded alias names."""
    lines = split_lines(text)
    head, end = _front_matter(lines)
    names = page_names(text, stem)
    day = day_in(stem)
    dated = next((found for key in _DAY_KEYS if (found := day_in(_text(head, key))) is not None), None)
    is_about = day is None and _is_about(names.title)
    page = Page(names.title, names.aliases, day or dated or _day_named(stem), is_about)
    if "excalidraw-plugin" in head:
        lines = _leave_drawing(page, lines)
    _read_head(page, head, lines[:end], links)
    kinds: dict[int, LineKind] = {}
    cleaned = list(_clean(lines, end, kinds, links))
    _count_blocks(page, cleaned, kinds, end)
    return page


def _leave_drawing(page: Page, lines: Sequence[str]) -> list[str]:
    """Leave the texts of a drawing of Excalidraw, and count the rest as a picture."""
    end = next((at for at, line in enumerate(lines) if _DRAWING.fullmatch(line)), len(lines))
    page.counts["media"] += len(lines) - end
    return ["" if _DRAWN.match(line) else line for line in lines[:end]]


def split_lines(text: str) -> list[str]:
    """Split a text into its lines; a last line break begins no other."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def day_in(text: str) -> date | None:
    """Return the day that a text begins with, in the forms of files' names; None when it does with none."""
    text = fold(text.strip())
    if (named := _WEEKDAY.match(text)) and named[1] in _WEEKDAYS:
        text = text[named.end() :]
    for pattern in (*_DATES, *_LONG_DATES):
        if found := pattern.match(text):
            month = found["m"]
            with contextlib.suppress(ValueError):
                return date(int(found["y"]), int(month) if month.isdigit() else _MONTHS.get(month, 0), int(found["d"]))
    return None


def _day_named(stem: str) -> date | None:
    """Return the day within the name of a page that is not a day's: of "Retro 2026-02-03"; of a week its Monday."""
    with contextlib.suppress(ValueError):
        if week := _WEEK.match(stem):
            return date.fromisocalendar(int(week[1]), int(week[2]), 1)
        if inner := _INNER_DATE.search(stem):
            return date(int(inner[1]), int(inner[2]), int(inner[3]))
    return None


def _is_about(title: str) -> bool:
    said = words(title)
    return (
        bool(said) and not all(word in _GENERIC or word.isdigit() for word in said) and not markdown.is_general(title)
    )


# ── front matter ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _front_matter(lines: Sequence[str]) -> tuple[Mapping[str, object], int]:
    """Read the values between two lines of ---, and how many lines these are."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    end = next((at for at, line in enumerate(lines[1:400], 1) if line.rstrip() in ("---", "...")), 0)
    head = "\n".join(lines[1:end])
    if not end or len(head) > _LONGEST_HEAD:
        return {}, 0
    return _yaml(head) or _by_lines(lines[1:end]), end + 1


def _yaml(head: str) -> Mapping[str, object]:
    """Parse YAML without references or deep nesting, which takes long; nothing for what is none."""
    import yaml

    depth = 0
    try:
        for event in yaml.parse(head, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
                return {}
        values = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return {}
    return {str(key).lower(): value for key, value in values.items()} if isinstance(values, dict) else {}


def _by_lines(lines: Sequence[str]) -> Mapping[str, object]:
    """Read what is no YAML line by line: keys with their values, and the lists below them."""
    values: dict[str, list[str]] = {}
    said: list[str] = []
    for line in lines:
        if key := _KEY.match(line):
            said = values.setdefault(key[1].strip().lower(), [])
        said.append((key[2] or "" if key else line).strip("'\"- \t"))
    return {name: texts for name, found in values.items() if (texts := list(filter(None, found)))}


def _texts(value: object) -> list[str]:
    """Return a value of front matter as texts, with the names of what it holds."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [f"{name}: {', '.join(texts)}" for name, each in value.items() if (texts := _texts(each))]
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts(each)]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return [str(value)] if str(value).strip() else []


def _text(head: Mapping[str, object], name: str) -> str:
    """Return the first text of a value of front matter; "" when there is none."""
    return next(iter(_texts(head.get(name))), "")


def _read_head(page: Page, head: Mapping[str, object], lines: Sequence[str], links: Mapping[str, str]) -> None:
    """Add what front matter says, and count its lines: a list belongs to the name above it."""
    is_kept = False
    for line in lines:
        key = _KEY.match(line)
        if key:
            name = key[1].strip()
            said = _texts(head.get(name.lower())) if name.lower() not in _BOOKKEEPING else []
            said = [text for text in said if not _TEMPLATE.search(text)]
            is_kept = bool(said)
            if said:
                page.facts.append(PageFact(f"{name}: {_read_spoken(', '.join(said), links)}"))
        elif not line[:1].isspace() and not line.startswith("-"):
            is_kept = False
        page.counts["kept" if is_kept and line.rstrip() != "---" else "system"] += 1


# ── the text ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _clean(lines: Sequence[str], begin: int, kinds: dict[int, LineKind], links: Mapping[str, str]) -> Iterator[str]:
    """Yield each line as it is read; "" for one that says nothing, whose kind is noted.

    begin: where the text begins.
    """
    fence, comment, is_system = "", "", False
    for at, line in enumerate(lines[begin:], begin):
        if comment:
            kinds[at] = "system"
            comment = "" if comment in line else comment
            yield ""
            continue
        found = _FENCE.match(line)
        if fence or found:
            begins = not fence
            if begins and found:
                fence, is_system = found[1], _SYSTEM_FENCE.match(line.strip()) is not None
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            if is_system:
                kinds[at] = "system"
            yield "" if is_system else line
            is_system = is_system and bool(fence)
            continue
        text, comment = _strip_comments(line)
        said, kind = _read_line(text, links)
        if text != line and not said.strip():
            kind = "system"
        if kind is not None:
            kinds[at] = kind
        yield said


def _strip_comments(line: str) -> tuple[str, str]:
    """Return a line without what stands in comments; and the mark that ends a comment that goes on."""
    for begin, end in (("%%", "%%"), ("<!--", "-->")):
        while begin in line:
            before, _, rest = line.partition(begin)
            _, closed, after = rest.partition(end)
            if not closed:
                return before, end
            line = before + after
    return line, ""


def _read_line(line: str, links: Mapping[str, str]) -> tuple[str, LineKind | None]:
    """Return what a line says, and its kind where that is known of the line alone."""
    bare = _EMBED.sub("", line)
    if bare != line and not bare.strip(" \t>-*+"):
        return "", "media"
    if not bare.strip():
        return "", "empty"
    if (found := _PROPERTY.fullmatch(bare)) and found[1].lower() in _BOOKKEEPING:
        return "", "system"
    if _TEMPLATE.search(bare) or _TAGS_ONLY.fullmatch(bare) or _RULE.fullmatch(bare) or _HTML.fullmatch(bare):
        return "", "system"
    if _leads_to_days(bare):
        return "", "system"
    if quote := _QUOTE.match(bare):
        bare = bare[quote.end() :] if quote[0].strip() else bare
        if not bare.strip():
            return "", "empty"
    mark = _QUOTED if quote and quote[0].strip() else ""
    return mark + _read_spoken(_BLOCK_ID.sub("", bare), links), None


def _leads_to_days(line: str) -> bool:
    """Return whether a line only links to the pages of days, such as the ones before and after."""
    found = list(_LINK.finditer(line))
    if not found or any(char.isalnum() for char in _LINK.sub("", line)):
        return False
    return all(day_in(link[1].rpartition("/")[2]) is not None for link in found)


def _read_spoken(text: str, links: Mapping[str, str]) -> str:
    """Return a line with its links as people read them, and fields `name:: value` as `name: value`."""
    text = _LINK.sub(lambda found: _show_link(found, links), text)
    text = _URL_LINK.sub(r"\1 (\2)", text)
    return _FIELD.sub(r"\1: ", text)


def _show_link(link: re.Match[str], links: Mapping[str, str]) -> str:
    """Return what a link shows, and in brackets the page that it names by another name."""
    page = link[1].rpartition("/")[2].removesuffix(".md").strip()
    shown = (link[3] or page or (link[2] or "").lstrip("#^")).strip()
    named = links.get(fold(page), page)
    if not named or set(words(named)) <= set(words(shown)):
        return shown
    return f"{shown} ({named})"


def _count_blocks(page: Page, cleaned: Sequence[str], kinds: Mapping[int, LineKind], begin: int) -> None:
    """Add the facts of the text, and count each line once."""
    own = fold(page.title)
    text = [("" if (found := _HEADING.fullmatch(line)) and fold(found[1]) == own else line) for line in cleaned]
    page.counts.update(kinds.values())
    page.counts["system"] += sum(line != read for line, read in zip(cleaned, text, strict=True))
    page.counts["empty"] += sum(not line.strip() and at not in kinds for at, line in enumerate(cleaned, begin))
    blocks = [*markdown.read_blocks(list(_apart(text))), (["# "], [])]
    for (block, facts), (below, _) in pairwise(blocks):
        filled = [_name_subject(page, fact) for fact in facts if fact is not None]
        heading, is_alone = _HEADING.fullmatch(block[0]), _HEADING.fullmatch(below[0]) is not None
        if heading and is_alone:
            filled = _lone_heading(heading[1])
        page.facts += [part for fact in filled for part in _parts(fact)]
        is_kept = bool(filled) or (heading is not None and not is_alone and not markdown.is_general(heading[1]))
        kind: LineKind = "kept" if is_kept else "system" if heading else "empty"
        page.counts[kind] += sum(bool(line.strip()) for line in block)


def _lone_heading(heading: str) -> list[PageFact]:
    """Return what a heading without text below says; nothing for the name of a part that is still to be written."""
    text = markdown.strip_bold(heading)
    is_open = text.endswith((":", "?")) or len(words(text)) <= _SAYS_LITTLE or markdown.is_general(text)
    return [] if is_open else [PageFact(text, is_heading=True)]


def _apart(lines: Sequence[str]) -> Iterator[str]:
    """Put blank lines around lines like "Birthday: 1 May" and quotations, each of which says something of its own."""
    before = fence = ""
    for line in lines:
        found, was_open = _FENCE.match(line), bool(fence)
        if found and fence in ("", found[1]):
            fence = "" if fence else found[1]
        begins = _LABELLED.match(line) or _LABELLED.match(before) or (line[:1] == _QUOTED) != (before[:1] == _QUOTED)
        begins = begins or bool(_UNFILLED.fullmatch(line) and _UNFILLED.fullmatch(before))
        if begins and not (fence or was_open) and before.strip() and not line[:1].isspace():
            yield ""
        yield line.removeprefix(_QUOTED)
        before = line


def _name_subject(page: Page, fact: markdown.MarkdownFact) -> PageFact:
    """Put the heading before what stands below it, unless it only tells the kind of that."""
    text, heading = fact.text, fact.heading
    about = set(words(heading)) - set(words(page.title))
    is_named = len(heading) <= _LONGEST_HEADING and (_LABELLED.match(text) or not markdown.tells_kind(heading))
    if about and is_named and not markdown.is_general(heading) and not about <= set(words(text)):
        text = f"{heading}: {text}"
    return PageFact(text, fact.category, fact.at, fact.day)


def _parts(fact: PageFact) -> Iterator[PageFact]:
    """Split a fact into pieces that memory takes whole, between words."""
    text = fact.text
    while len(text) > _LONGEST_FACT:
        end = max(text.rfind(mark, 0, _LONGEST_FACT) for mark in ("\n", ". ", " ")) + 1 or _LONGEST_FACT
        yield replace(fact, text=text[:end].rstrip())
        text = text[end:].lstrip()
    yield replace(fact, text=text)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
