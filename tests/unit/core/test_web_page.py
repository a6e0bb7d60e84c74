"""Web pages are read as a browser shows them."""

import pytest

from kenobot.core.web_page import decode_page, page_lines
from tests.cases import each


@each(
    ("page", "shown"),
    [
        ("<table><tr><td>Rent 2026</td><td>950</td></tr></table>", "Rent 2026 | 950"),
        ("<table><tr><td>Phone</td><td>600111222</td><td>3</td></tr></table>", "Phone | 600111222 | 3"),
        ("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>", "a | b\n | c"),
        ("<table><tr><td colspan=2>a<td>b</table>", "a |  | b"),
        ("<table><tr><td>one<br>two<td>3</table>", "one / two | 3"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "a | b\nc"),
        ("<dl><dt>Term</dt><dd>Def</dd><dt>Other<dd>Thing</dl>", "Term\nDef\nOther\nThing"),
        ("<section>a</section><section>b</section><h5>c</h5><h6>d</h6>e", "a\nb\nc\nd\ne"),
        ("<pre>a  b\n  c</pre>d<blockquote>e</blockquote>f", "a  b\nc\nd\ne\nf"),
        ("<select><option>a<option selected>b</select>", "a\n☒ b"),
        ("<ol start=3><li>a<li><p>b</p></ol><ul><li>c</ul>", "3. a\n4. b\n- c"),
        ("<p>un<b>break</b>able<p>new", "unbreakable\nnew"),
        ("<input value=Ada><input type=checkbox checked>agree<textarea>why</textarea>", "Ada ☒ agree\nwhy"),
        ("10<sup>2</sup> <s>800</s> <del>900</del> 950", "10^2 ~~800~~ ~~900~~ 950"),
        ("<title>Prices</title><h1>Prices</h1>", "Prices"),
        ("<title>Prices</title><h1>All</h1>", "Prices\nAll"),
        ("caf&eacute; &lt;b&gt;", "café <b>"),
        ("<table><tr><td>one<p>two</table>", "one\ntwo"),
        ("<p style='white-space: pre-wrap'>a\nb</p>", "a\nb"),
        ("<span style='font-family:Wingdings'>J</span> <font face=Symbol>a</font>", "☺ α"),
        ('<p title="a > b">c</p>a < b <d', "c\na < b <d"),
        ("a<!-- b -- > c --><![if !vml]>d<![endif]><?x y?></ e>f", "adf"),
        ("<textarea><b>&amp;</textarea>", "<b>&"),
        ("<table><tfoot><tr><td>Total<td>3<tbody><tr><td>a<td>3</table>z", "a | 3\nTotal | 3\nz"),
        ("<table><tr><td>a<td>3</tr><thead><tr><th>Of<th>How many</table>", "Of | How many\na | 3"),
        ("<table><tr><td>x<td><table><tfoot><tr><td>T<td>1</tfoot><tr><td>b<td>1</table></table>", "x\nb | 1\nT | 1"),
        ("<table><caption>C<thead><tr><th>a<th>b<tbody><tr><td>1<td>2</table>", "C\na | b\n1 | 2"),
        ("<table><caption>C</caption><tr><td>a<td>b</table>", "C\na | b"),
        ("<table><tr><td>x<td><table><caption>C</caption><tr><td>a<td>b</table></table>", "x\nC\na | b"),
        ("Area <math><msup><mi>b</mi><mn>2</mn></msup></math>.", "Area b^2."),
        ("<m:math><m:mrow/><m:mfrac><m:mn>1</m:mn><m:mn>2</m:mn></m:mfrac></m:math> l", "1/2 l"),
        ("<math><mi>a</mi><msup><mi>b</mi><p>new", "ab\nnew"),
        ("<span><math><mi>x</mi></math></span><span class=katex-html><i>x</i></span>", "x"),
        ("done <progress value=3 max=4>75 per cent</progress>mi&shy;nutes", "done minutes"),
    ],
)
def test_a_page_is_read_by_its_lines_and_cells(page: str, shown: str) -> None:
    """No two of them are glued together (HTML Living Standard, 15.3)."""
    assert "\n".join(page_lines(page)) == shown


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>x</p>",
        '<div style="display:none">x<p>x</p></div>',
        '<span style="color:red; DISPLAY : none !important">x</span>',
        '<span style="visibility:hidden">x</span>',
        '<div style="font-size:0px">x</div>',
        '<div style="max-height:0;overflow:hidden">x</div>',
        "<style>p, .pre { display:none }</style><span class='a pre'>x</span>",
        "<style>#gone{visibility:hidden}</style><div id=gone>x</div>",
        "<template>x</template>",
        "<noscript>x</noscript>",
        "<script>x</script>",
        "<input type=hidden value=x>",
        "<dialog>x</dialog>",
        "<svg><title>x</title></svg>",
        "<!-- x -->",
        "<style>@import 'y'; @media print{ b{color:red} } /* } */ .a{opacity:0}</style><i class=a>x</i>",
        "<!--[if mso]><p>x</p><![endif]-->",
    ],
)
def test_hidden_text_of_a_page_is_left_out(hidden: str) -> None:
    """As a browser with scripts does (HTML Living Standard, 15.3.1)."""
    assert "\n".join(page_lines(f"a {hidden} <b>b</b>")).split() == ["a", "b"]


@pytest.mark.parametrize(
    "shown",
    [
        '<td style="font-size:0px"><div style="font-size:13px">x</div></td>',
        '<p style="display:block">x</p>',
        "<style>@media print { .a { display:none } }</style><p class=a>x</p>",
        "<details><summary>x</summary></details>",
        "<svg><text>x</text></svg>",
        '<div style="opacity:0.9">x</div>',
    ],
)
def test_what_only_looks_hidden_is_read(shown: str) -> None:
    """The first is how MJML 4.15 lays out every e-mail."""
    assert "x" in "\n".join(page_lines(shown))


def test_the_alphabet_of_a_page_is_what_it_says() -> None:
    """And UTF-8 where that can be read."""
    assert decode_page("<meta charset=iso-8859-2>ł".encode("iso-8859-2")).endswith("ł")
    assert decode_page("<meta charset=latin1>ł".encode()).endswith("ł")


def test_a_page_of_a_mail_is_read_with_its_quotations() -> None:
    """And without its title."""
    page = '<head><title>t</title></head><p title="x">1 &lt; 2<!-- no <b> --> yes</p><blockquote>q<br>r</blockquote>end'
    assert list(page_lines(page, is_mail=True)) == ["1 < 2 yes", "", "> q", "> r", "end"]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<div>a</div><div><br></div><div>b<br></div><br><br>c", ["a", "", "b", "", "c"]),
        ("<p>a</p><p>b</p>c", ["a", "", "b", "", "c"]),
        ("<table><tr><td>a<blockquote>b<table><tr><td>c<td>d</table></blockquote></table>", ["a", "> b", "> c | d"]),
        ("<blockquote><table><tr><td>a<td>b</table></blockquote>", ["> a | b"]),
    ],
)
def test_paragraphs_and_quotations_of_a_mail_are_told_apart(page: str, lines: list[str]) -> None:
    """By blank lines and marks, as in a plain mail; tables in and around quotations included."""
    assert list(page_lines(page, is_mail=True)) == lines


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a b='", "<!--", "<![", "<a b='>", "<script>", "</", "&#", "<blockquote>", "<table><tr><td>", "<?",
     "<b><li>", "<style>{", "<style>/* *", "<p style='font:a;font:", "<ol><li></li>", "<!doctype "],
)  # fmt: skip
def test_a_long_hostile_page_is_read(piece: str) -> None:
    """In a time that grows with its length: any power of that would not end."""
    list(page_lines(piece * 5_000, is_mail=True))
