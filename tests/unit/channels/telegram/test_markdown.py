"""Reply Markdown to text with spans."""

from typing import Any

import pytest

from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.ports.messages import TextEntity
from tests.cases import each
from tests.cost import assert_linear
from tests.unit.channels.telegram.cases import conformance
from tests.unit.channels.telegram.html import as_html

BETTER = {
    "***both***": "<b><i>both</i></b>",
    "# **bold head**": "<b>bold head</b>",
    '[a](http://x/?a=1&b="q")': '<a href="http://x/?a=1&amp;b=&quot;q&quot;">a</a>',
    "[x](javascript:alert(1))": "[x](javascript:alert(1))",
    "``double `tick` ``": "<code>double `tick` </code>",
    "```c++\nx\n```": '<pre><code class="language-c++">x\n</code></pre>',
    "\0INLINE0\0 `x`": "INLINE0 <code>x</code>",
    "_under_": "<i>under</i>",
}


def html(markdown: str) -> str:
    return as_html(*parse_markdown(markdown))


@conformance("telegram.markdown_html")
def test_renders_what_the_original_renders(case: dict[str, Any]) -> None:
    """The accepted syntax is the original's, and _x_; where that made malformed or unsafe HTML, ours is sound."""
    assert html(case["input"]) == (
        BETTER[case["input"]] if "quirk" in case else BETTER.get(case["input"], case["expected"])
    )


@each(
    ("markdown", "expected"),
    [
        ("1 * 2 * 3", "1 * 2 * 3"),
        ("2**3", "2**3"),
        ("*.py and *.js", "*.py and *.js"),
        ("(*x*), **y**!", "(<i>x</i>), <b>y</b>!"),
        ("**a *b** c*", "<b>a *b</b> c*"),
        ("*a **b* c**", "<i>a **b</i> c**"),
        ("**a **b**", "**a <b>b</b>"),
        ("***a* b**", "<b><i>a</i> b</b>"),
        ("**a ~~b** c~~", "<b>a ~~b</b> c~~"),
        ("****", "****"),
        ("** a **", "** a **"),
        ("**a `*b*` c**", "<b>a <code>*b*</code> c</b>"),
        ("a ` b", "a ` b"),
        ("`` ` ``", "<code>`</code>"),
        ("###### x", "<b>x</b>"),
        ("####### x", "####### x"),
        ("# ", "# "),
        ("# `x`", "<b><code>x</code></b>"),
        ("----", "———"),
        ("--- x", "--- x"),
    ],
)
def test_emphasis_is_closed_within_its_line_or_stays_literal(markdown: str, expected: str) -> None:
    """Marks without a partner, and marks that are arithmetic, are shown as they were written."""
    assert html(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("_cursiva_ y _dos palabras_.", "<i>cursiva</i> y <i>dos palabras</i>."),
        ("(_x_), **_y_** y _**z**_", "(<i>x</i>), <b><i>y</i></b> y <i><b>z</b></i>"),
        ("_a *b* c_ *d _e_*", "<i>a b c</i> <i>d e</i>"),
        ("*a _b*_", "<i>a _b</i>_"),
        ("_*x*_ and *_x_*", "<i>x</i> and <i>x</i>"),
        ("# _x_", "<b><i>x</i></b>"),
        ("snake_case_name and other_name", "snake_case_name and other_name"),
        ("__init__ and __x y__", "__init__ and __x y__"),
        ("_private and a_", "<i>private and a</i>"),
        ("_private", "_private"),
        ("name_ _ x _", "name_ _ x _"),
        ("_____", "_____"),
        ("https://x.example/_a_/b_ _c_", "https://x.example/_a_/b_ <i>c</i>"),
        ("**https://x.example/_a_**", "<b>https://x.example/_a_</b>"),
        ("`_a_`", "<code>_a_</code>"),
        ("@some_user_", "@some_user_"),
    ],
)
def test_underscores_around_words_are_italic(markdown: str, expected: str) -> None:
    """As in CommonMark 0.31, 6.2, but for names that begin and end with two; within a word they are letters."""
    assert html(markdown) == expected


@each(
    ("markdown", "expected"),
    [
        (r"Use \*args\*", "Use *args*"),
        (r"\*\*kwargs\*\* and **b**", "**kwargs** and <b>b</b>"),
        (r"1\. a", "1. a"),
        (r"\$5 and \#1", "$5 and #1"),
        (r"snake\_case and \_x\_", "snake_case and _x_"),
        (r"*a\*b*", "<i>a*b</i>"),
        (r"https://x.example/a\_b_c", "https://x.example/a_b_c"),
        (r"\[a](http://x)", "[a](http://x)"),
        (r"\`a\`", "`a`"),
        (r"\# a", "# a"),
        (r"\~~a\~~", "~~a~~"),
        (r"Done\! \- \(yes\)", "Done! - (yes)"),
        (r"a \\ b", "a \\ b"),
        (r"`\*a\*`", r"<code>\*a\*</code>"),
        ("```\n\\*a\\*\n```", "<pre><code>\\*a\\*\n</code></pre>"),
        (r"C:\Users\ana\.ssh\_x and \\nas\_a", r"C:\Users\ana\.ssh\_x and \\nas\_a"),
        (r"%APPDATA%\.kenobot", r"%APPDATA%\.kenobot"),
        (r"¯\_(ツ)_/¯", r"¯\_(ツ)_/¯"),
        (r"a \| b", r"a \| b"),
        ("a\\", "a\\"),
        (r"\n and \d", r"\n and \d"),
    ],
)
def test_a_backslash_before_a_sign_is_not_shown(markdown: str, expected: str) -> None:
    """The sign loses its meaning (CommonMark 0.31, 2.4), outside of code, paths, and bars of tables."""
    assert html(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("[**a**](http://x)", '<a href="http://x"><b>a</b></a>'),
        ("**[a](http://x)**", '<b><a href="http://x">a</a></b>'),
        ("[`a`](http://x)", '<a href="http://x"><code>a</code></a>'),
        ("[a](https://x/y_(z))", '<a href="https://x/y_(z)">a</a>'),
        ("[a](tg://user?id=1)", '<a href="tg://user?id=1">a</a>'),
        ("[a](mailto:a@b)", '<a href="mailto:a@b">a</a>'),
        ("[a](JavaScript:x)", "[a](JavaScript:x)"),
        ("[a](data:text/html,x)", "[a](data:text/html,x)"),
        ("[a](file:///etc)", "[a](file:///etc)"),
        ("[ ](http://x)", "[ ](http://x)"),
        ("[a](http://x", "[a](http://x"),
        ("[a] (http://x)", "[a] (http://x)"),
        ("[[a](http://x)", '[<a href="http://x">a</a>'),
    ],
)
def test_links_go_only_to_addresses_that_are_safe(markdown: str, expected: str) -> None:
    """Only http, https, tg and mailto become links; everything else stays readable text."""
    assert html(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("```\na\n```\nb", "<pre><code>a\n</code></pre>\nb"),
        ("see ```py\na\n```", 'see <pre><code class="language-py">a\n</code></pre>'),
        ("  ```\n  a\n  ```", "<pre><code>  a\n</code></pre>"),
        ("```\na```", "<pre><code>a</code></pre>"),
        ("```a b\nc\n```", "<pre><code>a b\nc\n</code></pre>"),
        ("````md\n```js\nx\n```\n````", '<pre><code class="language-md">```js\nx\n```\n</code></pre>'),
        ("```a```", "<code>a</code>"),
        ("```py\nunclosed *x*", "```py\nunclosed <i>x</i>"),
        ("```py\n```", "```py\n```"),
    ],
)
def test_fences_make_code_blocks(markdown: str, expected: str) -> None:
    """A fence runs to the next one as long as itself, with nothing lost; an empty or unclosed one stays literal."""
    assert html(markdown) == expected


def test_offsets_count_utf16_units() -> None:
    """An emoji before or inside a span counts as two, the way Telegram counts."""
    text, spans = parse_markdown("😀 **b😀** `c`")
    assert text == "😀 b😀 c"
    assert spans == (TextEntity("bold", 3, 3), TextEntity("code", 7, 1))


def test_control_characters_go_and_lone_surrogates_are_replaced() -> None:
    """What Telegram or UTF-8 would refuse never reaches them."""
    assert parse_markdown("a\x00\x1bb\r\nc\rd\x7f\ud800e")[0] == "ab\nc\nd\ufffde"


@each(
    "pattern",
    [
        "*a",
        "*a* ",
        "***",
        "[",
        "[a](",
        "[a](http://x/(b",
        "`",
        "`a",
        "` `` ",
        "~~a ",
        "_a",
        "_a_ ",
        "\\",
        "\\*",
        "\\_",
        "https://_",
        "C:\\",
        "# *a*\n",
        "\n",
        "```a\n",
    ],
)
def test_a_hostile_text_costs_linear_time(pattern: str) -> None:
    """No input holds the event loop up for long."""
    assert_linear(parse_markdown, pattern * (200_000 // len(pattern)))


def test_a_text_with_more_marks_than_any_reply_keeps_its_end() -> None:
    """Past a hundred thousand marks the rest stays as written; no character is lost."""
    text, spans = parse_markdown("a\n" * 200_000 + "**end**")
    assert text == "a\n" * 200_000 + "**end**"
    assert spans == ()
