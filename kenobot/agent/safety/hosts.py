"""Tell the host of an address from other names with dots: files, programs, abbreviations, forgotten blanks.

A name is a host when it ends in a top-level domain, unless it is a file's name or says nothing: of words of programs
alone, after an initial ("M.Dupont"), or with a forgotten blank between two sentences. The endings are IANA's list, as
published.
"""

import tomllib
from importlib import resources

from kenobot.core import lazy

_FOLDER = resources.files(__package__)
_TABLES = tomllib.loads(_FOLDER.joinpath("urls.toml").read_text("utf-8"))
TLD_LIST = _FOLDER.joinpath("tlds-alpha-by-domain.txt").read_text("ascii")

_ANNOTATIONS, _ATTRIBUTES, _BEGINNINGS, _FILES, _FILE_DOMAINS, FRONT_PAGES, _OBJECTS, _RESERVED = (
    frozenset(_TABLES[kind].split())
    for kind in (
        *("annotations", "attributes", "beginnings", "files", "file_domains", "front_pages", "objects", "reserved"),
    )
)
SITES, SUBDOMAINS, PATH_WORDS = (frozenset(_TABLES[kind].split()) for kind in ("sites", "subdomains", "path_words"))
PROGRAM_WORDS = _ANNOTATIONS | _OBJECTS
_FIGURES = lazy.regex(r"(?:0x[0-9a-f]+|[0-9]+)(?:\.(?:0x[0-9a-f]+|[0-9]+))*")
_LONGEST_VARIABLE = 3


def _read_published(text: str) -> frozenset[str]:
    """Read IANA's list: a line of comment, and an ending a line; those of other scripts as they are written, too."""
    names = [line.lower() for line in text.splitlines() if line and not line.startswith("#")]
    spelt = [name.encode("ascii").decode("idna") for name in names if name.startswith("xn--")]
    return frozenset([*names, *spelt])


TLDS = _read_published(TLD_LIST)
_DOMAINS = TLDS | _RESERVED


def is_domain(ending: str) -> bool:
    """Return whether names may end in `ending`, which has no dot."""
    return ending in _DOMAINS or ending.startswith("xn--")


def is_file_name(name: str) -> bool:
    """Return whether a name of two parts is rather a file's."""
    stem, _, ending = name.casefold().rpartition(".")
    return "." not in stem and ending in _FILE_DOMAINS


def is_host(name: str, *, followed: bool, in_code: bool = False, before_word: bool = False) -> bool:
    """Return whether `name`, as written, is the host of an address.

    followed: by a path, a query or a port, or after the @ of a mail address. in_code: marked as code, which clients do
    not make an address of. before_word: a blank and a small letter come after it.
    """
    labels = name.casefold().split(".")
    last = labels[-1]
    if _FIGURES.fullmatch(name.casefold()):
        return followed and len(labels) == 4
    known = is_domain(last)
    if followed:
        return (known or last.isalpha()) and len(last) > 1 and last not in _FILES
    if not known:
        return False
    if labels[0] == "www":
        return True
    if last in _ATTRIBUTES and all(label in _OBJECTS for label in labels[:-1]):
        return False
    if len(labels) > 2:
        return not (in_code and last in _ATTRIBUTES)
    if last in _ATTRIBUTES and labels[0].isalpha() and len(labels[0]) <= _LONGEST_VARIABLE:
        return False
    if is_file_name(name) or len(labels[0]) == 1 or (in_code and last in _ATTRIBUTES):
        return False
    written = name.rpartition(".")[2]
    return not (before_word and last in _BEGINNINGS and written.istitle() and labels[0].isalpha())
