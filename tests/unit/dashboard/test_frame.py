"""What every page of the dashboard keeps to, by its files."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import kenobot_dashboard
from kenobot.ports.sentences import read_catalogue
from kenobot_dashboard.navigation import GROUPS, PAGES
from kenobot_dashboard.wording import load_texts

ROOT = Path(kenobot_dashboard.__file__).parent
STATIC = ROOT / "static"
TEMPLATES = sorted(ROOT.rglob("*.html"))
NAMES = ("", *(page.name for page in PAGES))
_PLACES = re.compile(r"\{(\w*)[^}]*\}")
_TEXT = re.compile(r"""\bt\("([a-z0-9_]+)"(?! ?~)""")
_OTHER_HOST = re.compile(r"(?:https?:)?//[a-z0-9]", re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
def test_each_text_is_there_in_both_languages(name: str) -> None:
    """With the same values in either."""
    for key, text in load_texts(name).items():
        assert set(text) == {"en", "es"}, key
        assert all(text.values()), key
        assert sorted(_PLACES.findall(text["en"])) == sorted(_PLACES.findall(text["es"])), key


def _own_texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the keys that the templates and modules below a folder name in full."""
    for path in sorted((*folder.rglob("*.html"), *folder.rglob("*.py"))):
        yield from ((path, key) for key in _TEXT.findall(path.read_text("utf-8")))


def test_each_text_that_is_named_is_there() -> None:
    """In the texts of its page, or of the frame."""
    frame = load_texts("")
    for page in PAGES:
        for path, key in _own_texts(ROOT / "pages" / page.name):
            assert key in load_texts(page.name) or key in frame, (path.name, key)
    for path, key in _own_texts(ROOT / "templates"):
        assert key in frame or all(key in load_texts(page.name) for page in PAGES), (path.name, key)


@pytest.mark.parametrize("name", NAMES)
def test_each_text_is_used(name: str) -> None:
    """By its key, or by the beginning of one that is put together."""
    folder = ROOT / "pages" / name if name else ROOT
    used = "".join(path.read_text("utf-8") for path in (*folder.rglob("*.html"), *folder.rglob("*.py")))
    starts = tuple(re.findall(r'"([a-z0-9_]+_)" ?(?:~|\+)|f"([a-z0-9_]+_)\{|\.name\("([a-z0-9]+)"', used))
    begins = tuple(f"{start.removesuffix('_')}_" for match in starts for start in match if start)
    refusals = {f"refused_{sentence.replace('.', '_')}" for sentence in read_catalogue("en")}
    for key in load_texts(name):
        is_found = f'"{key}"' in used or key.startswith(begins) or key.startswith(("done_", "nav"))
        assert is_found or key in refusals, key


def test_the_navigation_names_each_page_once() -> None:
    """Under a heading of the frame."""
    assert len({page.name for page in PAGES}) == len({page.path for page in PAGES}) == len(PAGES)
    assert {page.group for page in PAGES} <= set(GROUPS)
    assert {path.name for path in (ROOT / "pages").iterdir() if (path / "__init__.py").exists()} == set(NAMES) - {""}


def test_no_page_names_another_host() -> None:
    """Neither templates nor styles, nor scripts in what they load; names of XML are no addresses."""
    for path in (*TEMPLATES, *STATIC.glob("*.css"), *STATIC.glob("*.svg")):
        text = path.read_text("utf-8").replace("http://www.w3.org/", "")
        assert not _OTHER_HOST.search(text), path.name


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_template_holds_script_or_style(path: Path) -> None:
    """Which the policy of the pages forbids; nor does one switch escaping off."""
    text = path.read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|hx-on|javascript:|hx-vals=.js:|\| ?safe|autoescape", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


def test_scripts_of_others_are_as_their_package_has_them() -> None:
    """Each is written down with package, version, licence and hash, and nothing else is there."""
    listed = tomllib.loads((STATIC / "libraries.toml").read_text("utf-8"))
    for name, library in listed.items():
        assert set(library) == {"package", "version", "file", "licence", "sha256"}
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == library["sha256"], name
    assert {path.name for path in STATIC.glob("*.min.*")} == {name for name in listed if ".min." in name}


def test_the_configuration_of_htmx_is_json() -> None:
    """It would be ignored in silence otherwise."""
    base = (ROOT / "templates" / "base.html").read_text("utf-8")
    found = re.search(r"name=\"htmx-config\" content='([^']*)'", base)
    assert found is not None
    assert json.loads(found[1])["extensions"] == "sse"
