"""Read the words of a page: a program of its own, with limits of memory and time, that prints them as JSON.

Run as `python -I read_page.py FILE MEGABYTES SECONDS CHARACTERS`. The first line of the file is a JSON list: what to
show, the charset and the address of what follows; all users of a machine see arguments. To show: "text", what
trafilatura takes for the page's own words; "all", what a browser shows; "links"; "raw", what the file holds. It prints
title, date, text as far as CHARACTERS, the length of all of it, and how it was read: "article" is without menus.
"""

import codecs
import json
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

_SEVEN_BITS = ("iso-2022", "utf-16", "utf-32", "hz")  # charsets that pass for UTF-8, or are told by their name alone
_NO_CHARSETS = ("punycode", "idna", "unicode", "raw", "undefined")  # of Python alone, some of them slow
_LATIN = ("iso-8859-1", "iso8859-1", "latin-1", "latin1", "us-ascii", "ascii")
_LITTLE = 250  # letters of an article, where the page has many times more
_TIMES = 4
_LONGEST_TITLE = 300


def _decode(raw: bytes, charset: str) -> str:
    """Decode a file as UTF-8, or else in the charset of the answer, or the one that the page declares."""
    from kenobot.core.web_page import decode_page

    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    charset = "" if charset.startswith(_NO_CHARSETS) else "cp1252" if charset in _LATIN else charset
    for name in (charset,) if charset.startswith(_SEVEN_BITS) else ("utf-8-sig", charset):
        try:
            return codecs.getincrementaldecoder(name)().decode(raw)  # whose last letter may be cut
        except (LookupError, ValueError, AttributeError, TypeError):
            continue
    return decode_page(raw)


def _article(page: str, address: str) -> dict[str, str] | None:
    """Return title, date and text of an article; None where none is found."""
    try:
        from trafilatura import extract, extract_metadata

        text = extract(page, url=address, output_format="markdown")
        told = extract_metadata(page, default_url=address)
    except Exception:  # without the package, or over what it has not met before
        return None
    return (
        {"title": told.title or _title(page), "date": told.date or "", "text": text, "how": "article"} if text else None
    )


def _read_words(page: str) -> dict[str, str]:
    """Return the words that a browser shows."""
    from kenobot.core.web_page import page_lines

    return {"title": _title(page), "date": "", "text": "\n".join(page_lines(page)).strip(), "how": "page"}


def _title(page: str) -> str:
    from kenobot.core.html_tokens import read_tokens

    inside = False
    for tag, text, *_ in read_tokens(page):
        if inside:
            return " ".join(text.split())
        inside = tag == "title"
    return ""


def _links(page: str, address: str) -> dict[str, str]:
    lines = "\n".join(f"- {words or '(no words)'}: {link}" for link, words in _find_links(page, address).items())
    return {"title": _title(page), "date": "", "text": lines, "how": "links"}


def _find_links(page: str, address: str) -> dict[str, str]:
    """Return the words of each link of a page by its address."""
    from kenobot.core.html_tokens import read_tokens

    found: dict[str, str] = {}
    base, link = address, ""
    for tag, text, given, *_ in read_tokens(page):
        try:
            if tag == "base" and "href" in given:
                base = urljoin(address, given["href"].strip())
            elif tag in ("a", "area", "/a"):
                link = urljoin(base, given.get("href", "").strip()).partition("#")[0] if "href" in given else ""
                if link.startswith(("http://", "https://")):
                    found.setdefault(link, " ".join(given.get("aria-label", given.get("alt", "")).split()))
                else:
                    link = ""
        except ValueError:  # brackets that do not match
            link = ""
        if link and not tag and len(found[link]) < _LITTLE:
            found[link] = " ".join(f"{found[link]} {text}".split())
    return found


def read_page(raw: bytes, show: str, charset: str, address: str) -> dict[str, str]:
    page = _decode(raw, charset)
    if show == "raw":
        return {"title": "", "date": "", "text": page.strip(), "how": "raw"}
    if show == "links":
        return _links(page, address)
    article = _article(page, address) if show == "text" else None
    if article is None or len(article["text"]) < _LITTLE:
        whole = _read_words(page)
        if article is None or len(whole["text"]) > _TIMES * len(article["text"]):
            return whole
    return article


def _limits(megabytes: int, seconds: int) -> Iterator[tuple[int, int]]:
    yield resource.RLIMIT_AS, megabytes * 1_000_000
    yield resource.RLIMIT_CPU, seconds
    yield resource.RLIMIT_FSIZE, 0


def main(arguments: list[str]) -> None:
    """Print the words of a page."""
    megabytes, seconds, characters = map(int, arguments[1:])
    os.nice(10)
    for limit, most in _limits(megabytes, seconds):
        resource.setrlimit(limit, (most, most))
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(__file__).parents[3]))
    order, _, raw = Path(arguments[0]).read_bytes().partition(b"\n")
    read = read_page(raw, *json.loads(order))
    text = read["text"].replace("\0", "")
    told = {**read, "title": read["title"][:_LONGEST_TITLE], "text": text[:characters], "length": len(text)}
    sys.stdout.buffer.write(json.dumps(told).encode())  # in ASCII: half a letter cannot be written otherwise


if __name__ == "__main__":
    main(sys.argv[1:])
