"""Formulas of MathML and of Word read in a line as a person reads them."""

from xml.etree.ElementTree import fromstring

import pytest

from kenobot.agent.media.formats.word_formulas import write_formula
from kenobot.core.mathml import write_mathml

_M = "http://schemas.openxmlformats.org/officeDocument/2006/math"


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>", "x^2 + 1/2"),
        ("<mn>3</mn><mfrac><mn>1</mn><mn>2</mn></mfrac><mi>m</mi>", "3 1/2 m"),
        ("<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>", "√(a + b)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot><mroot><mi>x</mi><mi>n</mi></mroot>", "∛8 ^n√x"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
            "∑_(i = 1)^n i",
        ),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", "sin x"),
        ("<mi>f</mi><mo>&#x2061;</mo><mo>(</mo><mi>x</mi><mo>)</mo>", "f(x)"),
        ("<msup><mi>e</mi><mrow><mo>-</mo><mi>x</mi></mrow></msup>", "e^(-x)"),
        ("<msub><mi>a</mi><mn>1</mn></msub><msubsup><mi>b</mi><mn>2</mn><mn>3</mn></msubsup>", "a_1 b_2^3"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac><mo>(</mo><mi>a</mi><mo>)</mo>", "1/2 (a)"),
        ("<mo>(</mo><mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac><mo>)</mo>", "(n; k)"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>",
            "1, 2; 3",
        ),
        ("<mover><mi>x</mi><mo>¯</mo></mover><mo>,</mo><msup><mi>x</mi><mo>′</mo></msup>", "x\u0304, x′"),
        ("<semantics><mn>1</mn><annotation>one</annotation></semantics><mphantom><mn>9</mn></mphantom>", "1"),
        ("<mmultiscripts><mi>C</mi><none/><none/><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "_6^14C"),
        ("<mfenced open='['><mi>a</mi><mi>b</mi></mfenced>", "[a, b)"),
        ("<mtext>if </mtext><mi>x</mi>", "if x"),
        ("<mfrac><mn>1</mn></mfrac>", "1"),
        ("", ""),
    ],
)
def test_a_formula_of_mathml_reads_right(inner: str, line: str) -> None:
    """As pandoc 2.17 writes it; each part that would run into its neighbour is kept apart."""
    assert write_mathml(fromstring(f"<math>{inner}</math>")) == line


def _run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        (f"<m:sSup><m:e>{_run('x')}</m:e><m:sup>{_run('2')}</m:sup></m:sSup>{_run('+')}{_run('1')}", "x^2 + 1"),
        (f"<m:d><m:e>{_run('a+b')}</m:e></m:d>", "(a+b)"),
        (
            f"<m:d><m:dPr><m:begChr m:val='|'/><m:endChr m:val=''/></m:dPr><m:e>{_run('a')}</m:e></m:d>",
            "|a",
        ),
        (
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>"
            f"<m:sub>{_run('i=1')}</m:sub><m:sup>{_run('n')}</m:sup><m:e>{_run('i')}</m:e></m:nary>",
            "∑_(i=1)^n i",
        ),
        (f"<m:nary><m:sub>{_run('0')}</m:sub><m:sup>{_run('1')}</m:sup><m:e>{_run('x')}</m:e></m:nary>", "∫_0^1 x"),
        (f"<m:rad><m:deg>{_run('3')}</m:deg><m:e>{_run('8')}</m:e></m:rad>", "∛8"),
        (f"<m:sSubSup><m:e>{_run('b')}</m:e><m:sub>{_run('2')}</m:sub><m:sup>{_run('3')}</m:sup></m:sSubSup>", "b_2^3"),
        (
            f"<m:m><m:mr><m:e>{_run('a')}</m:e><m:e>{_run('b')}</m:e></m:mr><m:mr><m:e>{_run('c')}</m:e></m:mr></m:m>",
            "a, b; c",
        ),
        (f"<m:acc><m:accPr><m:chr m:val='&#x20d7;'/></m:accPr><m:e>{_run('v')}</m:e></m:acc>", "v\u20d7"),
        (f"<m:func><m:fName>{_run('sin')}</m:fName><m:e>{_run('x')}</m:e></m:func>", "sin x"),
        (f"{_run('3')}<m:f><m:num>{_run('1')}</m:num><m:den>{_run('2')}</m:den></m:f>", "3 1/2"),
        (f"<m:limLow><m:e>{_run('lim')}</m:e><m:lim>{_run('n')}</m:lim></m:limLow>", "lim_n"),
        (f"<m:phant><m:e>{_run('9')}</m:e></m:phant>{_run('1')}", "1"),
    ],
)
def test_a_formula_of_word_reads_right(inner: str, line: str) -> None:
    """Brackets and the signs of sums are properties there (ISO/IEC 29500-1, 22.1); Word 16 and pandoc 2.17 write so."""
    assert write_formula(fromstring(f'<m:oMath xmlns:m="{_M}">{inner}</m:oMath>')) == line


def test_formulas_of_a_paragraph_come_one_after_another() -> None:
    """Each of them."""
    both = f"<m:oMath>{_run('a')}</m:oMath><m:oMath>{_run('b')}</m:oMath>"
    assert write_formula(fromstring(f'<m:oMathPara xmlns:m="{_M}">{both}</m:oMathPara>')) == "a; b"
