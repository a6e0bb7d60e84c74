"""Which addresses of the model's own are plain: known sites, short paths, words that carry nothing."""

import pytest

from kenobot.agent.safety.plain_urls import PlainUrls
from kenobot.agent.safety.relay import PrivateWords
from kenobot.agent.safety.urls import find_urls
from tests.cases import each

PRIVATE = "- The vault phrase is copper lantern\n- The safe opens with 7741\n- We live in Lyon, the dog is called Goya"
OWN = ("how do I install uv and httpx on Python 3.12?", "our wiki is at https://wiki.acme.test/start")


def is_plain(address: str) -> bool:
    """Whether the address is, beside the memory and the messages above."""
    return PlainUrls(PrivateWords([PRIVATE], OWN[:1], ()), OWN)(address)


@each(
    "address",
    [
        "https://docs.astral.sh/uv/getting-started/installation/",
        "https://docs.astral.sh/uv/#installation",
        "https://astral.sh/uv/install.sh",
        "https://github.com/astral-sh/uv",
        "https://www.python.org/downloads/",
        "https://docs.python.org/3/library/asyncio-task.html",
        "https://docs.python.org/3/library/asyncio.html",
        "https://docs.astral.sh/uv/",
        "https://en.wikipedia.org/wiki/Photosynthesis",
        "https://en.wikipedia.org/wiki/World_War_II",
        "https://ru.wikipedia.org/wiki/Москва",
        "https://ja.wikipedia.org/wiki/日本の歴史",
        "https://docs.python.org/3.12/whatsnew/3.12.html",
        "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Array",
        "https://es.wikipedia.org/wiki/Guerra_civil_española",
        "https://en.wikipedia.org/wiki/Python_(programming_language)",
        "https://pypi.org/project/httpx/",
        "kubernetes.io/docs/concepts/overview",
        "https://www.postgresql.org/docs/current/sql-createtable.html",
        "https://www.renfe.com/es/es",
        "https://wiki.acme.test/guides/printer",
    ],
)
def test_pages_that_many_would_name_are_plain(address: str) -> None:
    """Of known sites, and of those that the speaker named."""
    assert is_plain(address)


@each(
    "address",
    [
        *("https://evil.example/page", "https://goya.wikipedia.org/", "https://docs.evil.com/install"),
        *("https://github.com/copper/lantern", "https://github.com/evil/copperlantern", "docs.python.org/lanterns"),
        *("https://en.wikipedia.org/wiki/Lyon", "https://github.com/evil/nretnal", "https://github.com/evil/ynagrea"),
        *("https://github.com/evil/7741", "https://github.com/77/41", "https://docs.python.org/7.7/4.1"),
        *("https://google.com/search?q=uv", "https://youtube.com/watch?v=abc", "https://docs.python.org/3#q=7"),
        *("https://python.org:8080/install", "https://me@python.org/install", "ftp://python.org/install"),
        *("https://github.com/evil/Z295YQ", "https://github.com/xkqjzv/wvxq", "https://github.com/evil/cGxhbg"),
        *("https://python.org/a/b/c/d/e/f/g/h/i", f"https://python.org/{'word-' * 20}", "https://python.org/%67oya"),
        *("https://github.com/seven/three-nine-one", "https://github.com/siete/tres-nueve-uno"),
        "https://en.wikipedia.org/wiki/Seven_thousand_three_hundred_ninety-one",
        "https://es.wikipedia.org/wiki/Siete_mil_trescientos_noventa_y_uno",
        *("https://docs.python.org/73/", "https://docs.python.org/3.11/", "https://github.com/sept/trois/neuf/un"),
        *(
            "https://github.com/sieben/drei",
            "https://github.com/settetrenovantuno",
            "https://github.com/SevenThreeNine",
        ),
        *("https://github.com/Siebentausenddrei", "https://github.com/sete/três/nove", "https://github.com/VII/III/IX"),
        *("https://en.wikipedia.org/wiki/Κestrel", "https://github.com/kites-eat-small/tasty-rats-every-lunch"),
        *("https://github.com/a7/b3/c9", "https://en.wikipedia.org/wiki/KitesEatSmallRats"),
        *("@python", "+34 600 123 456", "ana@python.org", "mailto:ana@python.org"),
    ],
)
def test_what_may_carry_something_is_not(address: str) -> None:
    """Unknown hosts, private words in any dress, figures, codes, queries, logins, ports, and what is no page."""
    assert not is_plain(address)


@pytest.mark.parametrize(
    "text",
    [
        "After `pip install coro.utils` call coro.utils.run() in your code.",
        "Use asyncio.run(main()) or my_app.jobs.live(now)",
        "Llama a modulo.datos.show(x) después",
        "`app.rooms.live` is set by `torch.utils.data`",
    ],
)
def test_the_path_of_a_function_is_no_address(text: str) -> None:
    """A name with dots that is called, or an attribute in code."""
    assert find_urls(text) == []


def test_a_host_before_a_bracket_is_an_address() -> None:
    """Where nothing looks like a program."""
    assert [url.text for url in find_urls("see www.goya.casino(now) or goya.com(now)")] == [
        "www.goya.casino",
        "goya.com",
    ]
