"""What is an address, which of them are new, and what is left when they are cut."""

import pytest

from kenobot.agent.safety.urls import SeenUrls, find_urls, remove_urls
from tests.cases import each

MARK = "[link removed]"


def everything(text: str) -> str:
    """`text` with every address cut."""
    return remove_urls(text, lambda address: False, MARK)[0]


@each(
    ("text", "expected"),
    [
        ("see https://evil.com/?q=x, ok", "https://evil.com/?q=x"),
        ("(https://a.com/x).", "https://a.com/x"),
        ("«https://a.com/x»", "https://a.com/x"),
        ("https://a.com/x(1)", "https://a.com/x(1)"),
        ("**https://a.com/b**", "https://a.com/b"),
        ("<https://a.com/b>", "https://a.com/b"),
        ("[a](https://a.com/x(1)) b", "https://a.com/x(1)"),
        ('![a](http://a.com/y.png "t")', "http://a.com/y.png"),
        ("[1]: https://a.com/z", "https://a.com/z"),
        ("[a](//evil.sucks/s)", "//evil.sucks/s"),
        ("[a](evil.unknown/s)", "evil.unknown/s"),
        ("secret.evil.com", "secret.evil.com"),
        ("evil.com", "evil.com"),
        ("see...evil.com/secret", "evil.com/secret"),
        ("www.x.zip", "www.x.zip"),
        ("README.md/secret", "README.md/secret"),
        ("john.doe@evil.com", "john.doe@evil.com"),
        ("mailto:a@b.c?body=x", "mailto:a@b.c?body=x"),
        ("tg://resolve?domain=x", "tg://resolve?domain=x"),
        ("t.me/bot?start=x", "t.me/bot?start=x"),
        ("data:text/html,x", "data:text/html,x"),
        ("sms:+34600?body=x", "sms:+34600?body=x"),
        ("hxxps://evil.com/x", "hxxps://evil.com/x"),
        ("https:\\\\evil.com\\x", "https:\\\\evil.com\\x"),
        ("ｈｔｔｐｓ：／／evil。com/x", "https://evil.com/x"),
        ("ht\u200btps://ev\u00adil.com/a", "https://evil.com/a"),
        ("https://пример.рф/я", "https://пример.рф/я"),
        ("пример.рф/я", "пример.рф/я"),
        ("xn--80ak6aa92e.com", "xn--80ak6aa92e.com"),
        ("http://user:pw@host/x", "http://user:pw@host/x"),
        ("1.2.3.4/x", "1.2.3.4/x"),
        ("1.2.3.4:8080", "1.2.3.4:8080"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ],
)
def test_an_address_is_found_whole(text: str, expected: str) -> None:
    """With its path and query, in any dress, without the marks of the sentence; and cutting it leaves none."""
    (address,) = find_urls(text)
    assert address.text == expected
    assert find_urls(everything(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Nothing here.",
        "EE.UU. y p. ej. o p.ej. a.m. e.g. i.e.",
        "3.14, 1.234,50 €, v1.2.3, 10.30, 1.2.3.4",
        "README.md os.path.join self.user.id user.name data.json src/main.py archive.tar.gz",
        "hola.Que tal",
        "a@b, #tag, 5 @ 1.20, tod@s",
        "Note: this; nota:esto",
        "and/or 5/7 km/h",
        "[words](in brackets) and [a] (b)",
        "你好。再见，朋友：好",
        "http:// and https",
    ],
)
def test_ordinary_text_holds_no_address(text: str) -> None:
    """Abbreviations, numbers, files, programs and the full stops of other scripts are left alone."""
    assert find_urls(text) == []
    assert remove_urls(text, lambda address: False, MARK) == (text, [])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Look: [the page](https://e.com/x) now", f"Look: the page {MARK} now"),
        ("![cat](https://e.com/x.png)", f"cat {MARK}"),
        ("[https://a.com/1](https://b.com/2)", MARK),
        ("<https://e.com/x>!", f"{MARK}!"),
        ("(https://e.com/x)", f"({MARK})"),
        ("evil.[com/secret](http://e.co)", f"{MARK} {MARK}"),
        ("a https://e.com/1 b https://e.com/2 c", f"a {MARK} b {MARK} c"),
    ],
)
def test_the_words_around_a_cut_address_stay(text: str, left: str) -> None:
    """Of a Markdown link what people read; and no new address comes about by cutting."""
    assert everything(text) == left


def test_a_text_that_goes_on_making_addresses_is_cut_whole() -> None:
    """The work is bounded, whatever is nested in whatever."""
    text = "a.b.com/x"
    for _ in range(12):
        text = f"http:/[{text}](http://e.co/1)"
    assert find_urls(everything(text)) == []


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("https://shop.example/tea/green?size=2", True),
        ("http://www.Shop.example/tea/green", True),
        ("shop.example/tea/", True),
        ("shop.example", True),
        ("https://shop.example/tea/red", False),
        ("https://shop.example/te", False),
        ("https://shop.example/tea/green?size=3", False),
        ("https://shop.example/TEA", False),
        ("https://shop.example.evil.com/tea", False),
        ("https://7741@shop.example/tea", False),
        ("ftp://shop.example/tea", False),
        ("https://shop.example/tea/green?size=2#7741", False),
        ("https://a.example/x", True),
    ],
)
def test_only_what_was_shown_is_known(address: str, known: bool) -> None:
    """The same page in short or in other dress is known; another page, host or parameter is new."""
    shown = SeenUrls(["Buy https://shop.example/tea/green?size=2!", "[a](https://a.example/x), (b)"])
    assert shown(address) is known
