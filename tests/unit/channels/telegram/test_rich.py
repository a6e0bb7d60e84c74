"""Rich messages as HTML: every kind of block, and nothing of a reply's own in it but text."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.channels.telegram.rich import rich_message
from kenobot.channels.telegram.split import split_message
from kenobot.ports.messages import Attachment, MessagePart
from tests.cases import each

CASES = {
    "# One\n### Three": "<h1>One</h1><h3>Three</h3>",
    "## A *b* **c**": "<h2>A <i>b</i> c</h2>",
    "- a\n- b": "<ul><li>a</li><li>b</li></ul>",
    "* a\n\n* b\n  more": "<ul><li>a</li><li>b<br>more</li></ul>",
    "- a\n  1. x\n  2. y\n- b": "<ul><li>a<ol><li>x</li><li>y</li></ol></li><li>b</li></ul>",
    "3. c\n4) d\n7. e": '<ol start="3"><li>c</li><li>d</li><li value="7">e</li></ol>',
    "- [ ] todo\n- [x] done": '<ul><li><input type="checkbox">todo</li>'
    '<li><input type="checkbox" checked>done</li></ul>',
    "- [ ] one": '<ul><li><input type="checkbox">one</li></ul>',
    "- a\n\nafter\n- b\n- c": "<ul><li>a</li></ul><p>after</p><ul><li>b</li><li>c</li></ul>",
    "> a\n> **b**": "<blockquote><p>a<br><b>b</b></p></blockquote>",
    "> - a\n> - b": "<blockquote><ul><li>a</li><li>b</li></ul></blockquote>",
    "> Acta\n" + "> x\n" * 5: (
        "<details><summary>Acta</summary><blockquote><p>x<br>x<br>x<br>x<br>x</p></blockquote></details>"
    ),
    "a|b\n-|-\n`x|y`|\\|": (
        "<table bordered><tr><th>a</th><th>b</th></tr><tr><td><code>x|y</code></td><td>|</td></tr></table>"
    ),
    "| a | b |\n|:-:|--:|\n| 1 |": (
        '<table bordered><tr><th align="center">a</th><th align="right">b</th></tr>'
        '<tr><td align="center">1</td></tr></table>'
    ),
    "x\n```py\na < 1\n```\ny": '<p>x</p><pre><code class="language-py">a &lt; 1</code></pre><p>y</p>',
    "1. a\n   ```\n   x\n     y\n   ```\n2. b": (
        '<ol><li>a</li></ol><pre>   x\n     y</pre><ol start="2"><li>b</li></ol>'
    ),
    "a\n---\n# b": "<p>a</p><hr/><h1>b</h1>",
    "# a\nb  c\nd": "<h1>a</h1><p>b\u00a0 c<br>d</p>",
    '# 👨‍👩‍👧 **x**\n- [ñ](https://a.b/?c="d"&e) ~~y~~\n- 👋 *z*': (
        '<h1>👨‍👩‍👧 x</h1><ul><li><a href="https://a.b/?c=&quot;d&quot;&amp;e">ñ</a> <s>y</s></li>'
        "<li>👋 <i>z</i></li></ul>"
    ),
    '# <b>x</b> & "y"': "<h1>&lt;b&gt;x&lt;/b&gt; &amp; &quot;y&quot;</h1>",
}


def rich(markdown: str) -> dict[str, object] | None:
    return rich_message(MessagePart(*parse_markdown(markdown)))


@each(("markdown", "html"), CASES.items())
def test_blocks(markdown: str, html: str) -> None:
    """Each kind of block is what it is called."""
    assert rich(markdown) == {"html": html}


@pytest.mark.parametrize("markdown", ["", "hola", "**a** `b`", "- one alone", "2024. A year", "a | b", "-5\n-6"])
def test_what_has_no_blocks_stays_a_message(markdown: str) -> None:
    """Entities show all that there is."""
    assert rich(markdown) is None


@pytest.mark.parametrize("markdown", ["- a\n" * 501, "|" + "a|" * 21 + "\n|" + "-|" * 21])
def test_more_than_telegram_takes_is_text(markdown: str) -> None:
    """500 blocks, 20 columns."""
    assert rich(markdown) is None


def test_a_file_is_no_rich_message() -> None:
    """Its caption is a caption."""
    assert rich_message(MessagePart("- a\n- b", attachments=(Attachment("document"),))) is None


def test_writing_from_right_to_left_is_said() -> None:
    """By the first letter that has a direction."""
    assert rich("- 1 שלום\n- ב") == {"html": "<ul><li>1 שלום</li><li>ב</li></ul>", "is_rtl": True}


def test_deep_nesting_ends() -> None:
    """Far below what Telegram takes, and nothing is lost."""
    lists = rich("\n".join("  " * depth + f"- {depth}" for depth in range(30)))
    quotes = rich("> " * 300 + "deep")
    assert lists is not None
    assert quotes is not None
    for page in (str(lists["html"]), str(quotes["html"])):
        depth = deepest = 0
        for closing in re.findall("<(/?)(?:ul|li|blockquote|p)>", page):
            depth += -1 if closing else 1
            deepest = max(deepest, depth)
        assert depth == 0
        assert deepest <= 16
    assert all(str(number) in str(lists["html"]) for number in range(30))


PIECES = st.sampled_from(
    [
        *("- ", "* ", "1. ", "2) ", "> ", "# ", "## ", "| ", "|-|-|", "[x] ", "[ ] ", "---", "•", "\\|", "```"),
        *("a", "ñ", "👋", "ש", "**", "*", "`", "~~", "[a](https://b.c)", "<b>", "&", '"'),
        *("\n", "\n\n", "  ", "    ", "\t", " "),
    ]
)
TAG = re.compile(r"</?[a-z0-9]+(?: [a-z]+(?:=\"[^\"<>]*\")?)*/?>")


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(20, 200))
def test_no_text_is_lost_and_every_tag_is_closed(markdown: str, limit: int) -> None:
    """Whatever the reply is: its letters come out, in order, and nothing in it becomes a tag."""
    for part in split_message(*parse_markdown(markdown), limit=limit):
        message = rich_message(part)
        if message is None:
            continue
        html, open_tags = str(message["html"]), list[str]()
        for tag in TAG.findall(html):
            name = re.sub(r"[^a-z0-9].*", "", tag.strip("</>"))
            if tag.startswith("</"):
                assert open_tags.pop() == name
            elif name not in ("br", "hr", "input"):
                open_tags.append(name)
        assert not open_tags
        bare = TAG.sub("", html)
        assert "<" not in bare
        assert _letters(unescape(bare)) == _letters(part.text)


def _letters(text: str) -> str:
    """Return what is to be read, without the x of a task that is done."""
    return "".join(char for char in text if char == "👋" or (char.isalpha() and char != "x"))
