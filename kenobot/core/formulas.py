"""Write formulas in a line, such as `x^2 + 1/2`, from their parts. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kenobot.core import lazy

_SIMPLE: Final = lazy.regex(r"[-−]?∞|\w+(?:[.,]\w+)*|.?|[([{|‖⟨⌊⌈][^()\[\]{}|‖⟨⟩⌊⌋⌈⌉]*[)\]}|‖⟩⌋⌉]")
_SPACED: Final = frozenset("+−-=±∓<>≤≥≠≈≡∼∝∈∉⊂⊆∪∩∧∨→←↔⇒⇐⇔↦")
_NO_VALUE: Final = frozenset("([{|,;") | _SPACED  # behind which a sign is one of a number
_ROOTS: Final = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_ACCENTS: Final = {
    sign: accent
    for accent, signs in {
        "\u0302": "^ˆ", "\u0304": "¯‾_ˉ\u0305", "\u0303": "~˜", "\u20d7": "→⇀", "\u0307": "˙.", "\u0308": "¨",
    }.items()
    for sign in (*signs, accent)
}  # fmt: skip
_BRACES: Final = "⏞⏟︷︸⎴⎵⏜⏝"


class Term(NamedTuple):
    """A part of a formula. is_loose: a blank keeps what stands beside it apart, as beside a fraction or a power."""

    text: str
    is_loose: bool = False


NOTHING: Final = Term("")


def join_terms(terms: Iterable[Term]) -> Term:
    """Join the parts of a row."""
    shown = [each for each in terms if each.text]
    if len(shown) == 1:
        return shown[0]
    row, last = "", Term("")
    for number, term in enumerate(shown):
        is_between = 0 < number < len(shown) - 1
        if is_between and term.text in (",", ";"):
            row += f"{term.text} "
        elif is_between and term.text.strip() in _SPACED and row.rstrip()[-1:] not in _NO_VALUE:
            row = f"{row.rstrip()} {term.text.strip()} "
        else:
            apart = row[-1:].strip() and not term.text[0].isspace() and _touch(last, term)
            row += f"{' ' if apart else ''}{term.text}"
        last = term
    return Term(row, last.is_loose)


def _touch(left: Term, right: Term) -> bool:
    """Return whether two neighbours would read as one."""
    end, begin = left.text[-1], right.text[0]
    if not end.isalnum() and end not in ")]}":
        return False
    if begin in "([{":
        return left.is_loose and (right.is_loose or "/" in left.text)
    is_word = any(len(each.text) > 1 and each.text.isalpha() for each in (left, right))
    return (begin.isalnum() or begin in "√∛∜∑∏∫^_") and (left.is_loose or right.is_loose or is_word)


def write_fraction(above: Term, below: Term) -> Term:
    """Write a fraction."""
    return Term(f"{bracket(above)}/{bracket(below)}", is_loose=True)


def write_scripts(base: Term, below: Term = NOTHING, above: Term = NOTHING) -> Term:
    """Write what has an index, an exponent or limits."""
    if above.text.strip("′″‴'") == "" and not below.text:
        return Term(base.text + above.text, base.is_loose)
    marks = "".join(f"{sign}{bracket(each)}" for sign, each in (("_", below), ("^", above)) if each.text)
    return Term(f"{bracket(base)}{marks}", is_loose=True)


def write_root(base: Term, degree: str = "") -> Term:
    """Write a root; one of a higher degree with that before it, as an exponent."""
    degree = degree.strip()
    return Term(f"{_ROOTS.get(degree) or f'^{bracket(Term(degree))}√'}{bracket(base)}", is_loose=True)


def write_over(base: Term, mark: Term, *, is_below: bool = False) -> Term:
    """Write what has an accent, a bar, a brace or a limit over or below it."""
    sign = mark.text.strip()
    if sign in _ACCENTS:
        if len(base.text) == 1 and not is_below:
            return Term(base.text + _ACCENTS[sign])
        return Term(f"{'_' if is_below else '¯'}{bracket(base)}" if _ACCENTS[sign] == "\u0304" else base.text)
    if sign in tuple(_BRACES):
        return Term(bracket(base))
    return write_scripts(base, mark) if is_below else write_scripts(base, above=mark)


def write_table(rows: Iterable[Sequence[Term]]) -> Term:
    """Write the rows of a matrix, or of cases."""
    return Term("; ".join(", ".join(cell.text.strip() for cell in row if cell.text.strip()) for row in rows))


def bracket(term: Term) -> str:
    """Put a part into brackets where it would not read as one."""
    text = term.text.strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})"
