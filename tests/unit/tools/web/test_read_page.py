"""The words of a page are read as a browser shows them, in the charset that they have."""

import sys

import pytest

from kenobot.tools.web.read_page import read_page
from tests.cases import each

_PAGE = "<html><head><title>Menu of the day</title></head><body><nav>Home</nav><p>{}</p></body></html>"


@pytest.mark.parametrize(
    ("raw", "charset", "shown"),
    [
        ("canción".encode(), "", "canción"),
        ("canción".encode(), "iso-8859-1", "canción"),
        ("canción".encode(), "punycode", "canción"),
        ("canción".encode(), "no such", "canción"),
        ("canción".encode(), "hex", "canción"),
        ("canción".encode("cp1252"), "", "canción"),
        ("canción “x” €".encode("cp1252"), "iso-8859-1", "canción “x” €"),
        ("привет".encode("koi8-r"), "koi8-r", "привет"),
        ("音楽".encode("shift_jis"), "shift_jis", "音楽"),
        ("音楽".encode("iso-2022-jp"), "iso-2022-jp", "音楽"),
        ("音楽".encode("gb18030"), "gb18030", "音楽"),
        ("naïve".encode("utf-16"), "", "naïve"),
        ("naïve".encode("utf-16-le"), "utf-16le", "naïve"),
        ("\ufeffñu".encode(), "utf-8", "ñu"),
        ("ab音".encode()[:-1], "utf-8", "ab"),
        (b"ab\xff\xfe", "utf-8", "abÿþ"),
    ],
)
def test_a_text_is_decoded_in_its_charset(raw: bytes, charset: str, shown: str) -> None:
    """In what it says unless that cannot be, also where its last letter is cut."""
    assert read_page(raw, "raw", charset, "http://example.com")["text"] == shown


def test_all_words_are_read_without_trafilatura(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the title of the page."""
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    read = read_page(_PAGE.format("Soup").encode(), "text", "", "http://example.com")
    assert read == {"title": "Menu of the day", "date": "", "text": "Menu of the day\nHome\nSoup", "how": "page"}


@each("html", ["", "<", "<html>", "<p", "<base href='http://['><a href=x>y", "<a href='http://[::1'>x</a>"])
@each("show", ["text", "all", "links", "raw"])
def test_a_broken_page_is_read_as_far_as_it_goes(html: str, show: str) -> None:
    """Without an error."""
    assert read_page(html.encode(), show, "", "http://example.com/")["how"]
