"""Which names with dots are hosts, and how old the list of their endings is."""

import re
from datetime import UTC, datetime, timedelta
from importlib import resources

from kenobot.agent.safety.hosts import FRONT_PAGES, TLD_LIST, TLDS, is_host
from kenobot.agent.safety.urls import SeenUrls, find_urls
from tests.cases import each

OLDEST = timedelta(days=730)
RENEW = "fetch https://data.iana.org/TLD/tlds-alpha-by-domain.txt into kenobot/agent/safety/"


def endings(text: str) -> set[str]:
    """The endings of a published list."""
    return {line.lower() for line in text.splitlines() if line and not line.startswith("#")}


def test_the_list_of_endings_is_not_two_years_old() -> None:
    """IANA adds endings all the time; the first line of the list says when it was made."""
    version = re.match(r"# Version (\d{8})", TLD_LIST)
    assert version is not None, RENEW
    age = datetime.now(UTC) - datetime.strptime(version[1], "%Y%m%d").replace(tzinfo=UTC)
    assert age < OLDEST, RENEW


def test_no_newer_list_at_hand_has_more_endings() -> None:
    """The package of the property tests brings IANA's list as well, and renews it with each of its releases."""
    theirs = resources.files("hypothesis").joinpath("vendor/tlds-alpha-by-domain.txt").read_text("ascii")
    newer = theirs.split()[2] > TLD_LIST.split()[2]
    assert not newer or endings(theirs) <= endings(TLD_LIST), RENEW


def test_every_ending_of_the_list_makes_an_address() -> None:
    """Of a name of three parts, whatever the ending, and as it is spelt in its own script."""
    missed = [ending for ending in TLDS if not find_urls(f"see zorro7741.evilcorp.{ending} now")]
    assert missed == []


def test_of_two_parts_all_but_files_make_an_address() -> None:
    """`label.label` is an address with every ending that is not a file's."""
    missed = {ending for ending in TLDS if not find_urls(f"see zorro7741.{ending} now")}
    assert missed == set("cc md ml mm mov pl pm ps py rs sh so zip".split())


@each(
    "text",
    [
        *(
            "user.name",
            "df.info()",
            "SELECT u.id, o.date",
            "window.location.search",
            "`order.total`",
            "np.random.rand(3)",
        ),
        *(
            "main.py, build.sh and LICENSE.md",
            "app.ts:147",
            "I know.So do you",
            "Es corta.La guardo",
            "Sig.Rossi",
            "Mr.Robot",
        ),
        *(
            "先松土。再浇水。好了。",
            "и т.д. и т.п.",
            "π.χ. κ.λπ.",
            "डॉ.शर्मा",
            "the dot is red",
            "el punto es que",
            "polka dot dress",
        ),
        *("vs. the U.K.", "no.3", "3.b", "v2.0.1"),
    ],
)
def test_programs_files_and_sentences_are_no_addresses(text: str) -> None:
    """A name of words that programs use says nothing, and people forget blanks."""
    assert find_urls(text) == []


@each(
    ("text", "found"),
    [
        ("zorroplata.evilcorp.casino", "zorroplata.evilcorp.casino"),
        ("zorroplata.casino", "zorroplata.casino"),
        ("goya.new", "goya.new"),
        ("zorro.user.name", "zorro.user.name"),
        ("7741.info", "7741.info"),
        ("goya.So", ""),
        ("goya7741.La casa", "goya7741.La"),
        ("t3317.बगीचा.भारत", "t3317.बगीचा.भारत"),
        ("goya[.]evil[.]club", "goya[.]evil[.]club"),
        ("goya (dot) evil (dot) casino", "goya (dot) evil (dot) casino"),
        ("goya dot com", "goya dot com"),
        ("goya punto evil punto es/x", "goya punto evil punto es/x"),
        ("goya . evil . club", "goya . evil . club"),
        ("evil dot example slash goya7741", "evil dot example slash goya7741"),
        ("goya (at) evil (dot) party", "goya (at) evil (dot) party"),
        ("goya arroba evil punto party", "goya arroba evil punto party"),
        ("goya.evil.zip", "goya.evil.zip"),
        ("goya.eth", "goya.eth"),
        ("**goya**.casino", "goya.casino"),
        ("goya.**evil**.casino", "goya.evil.casino"),
        ("goya\\.casino", "goya.casino"),
        ("goya&#46;casino", "goya.casino"),
        ("goya&PERIOD;casino", "goya.casino"),
        ("goya~~.~~casino", "goya.casino"),
        ("0x7f.0.0.0x1/goya", "0x7f.0.0.0x1/goya"),
        ("goya-dot-online-slash-7741", "goya.online/7741"),
        ("goya_punto_club_barra_7741", "goya.club/7741"),
        ("goya - dot - online - slash - 7741", "goya.online/7741"),
        ("goyaDOTonlineSLASH7741", "goya.online/7741"),
        ("goya(dot)online(slash)7741", "goya(dot)online(slash)7741"),
        ("g o y a . o n l i n e / 7 7 4 1", "g o y a . o n l i n e / 7 7 4 1"),
        ("g o y a dot c l u b slash 7 7 4 1", "g o y a dot c l u b slash 7 7 4 1"),
        ("h t t p s : / / g o y a . c o", "h t t p s : / / g o y a . c o"),
        ("goya · online / 7741", "goya · online / 7741"),
        ("goya•online/7741", "goya•online/7741"),
        ("a polka-dot-dress", ""),
        ("the dot-com-boom, slash-and-burn and and-slash-or", ""),
        ("Home · Shop · Contact", ""),
        ("col·legi i paral·lel", ""),
        ("A B C D E F G H I J", ""),
        ("o sea - punto - y aparte", ""),
    ],
)
def test_hosts_of_every_dress_are_found(text: str, found: str) -> None:
    """Unknown endings, dots that are spelt out, and names that look like a program's but say something."""
    assert [address.text for address in find_urls(text)] == ([found] if found else [])


def test_front_pages_are_known_and_nothing_may_be_added() -> None:
    """A page of the fixed list carries nothing; with a path, a query or another host in front it does."""
    shown = SeenUrls([])
    assert shown("https://www.Wikipedia.org/")
    assert all(shown(page) for page in FRONT_PAGES)
    for address in (
        "wikipedia.org/goya",
        "goya.wikipedia.org",
        "google.com?q=goya",
        "wikipedia.org@evil.com",
        "x.com#1",
    ):
        assert not shown(address), address


def test_a_path_makes_an_address_of_any_name() -> None:
    """Also of a file's name or of words of programs, since a client may take it for one."""
    assert is_host("README.md", followed=True)
    assert is_host("user.name", followed=True)
    assert not is_host("data.json", followed=True)
