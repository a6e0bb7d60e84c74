"""Write the numbers of lists as figures, letters or Roman numerals. Pure."""

from typing import Final

_ROMAN: Final = (
    " m mm".split(" "),
    " c cc ccc cd d dc dcc dccc cm".split(" "),
    " x xx xxx xl l lx lxx lxxx xc".split(" "),
    " i ii iii iv v vi vii viii ix".split(" "),
)
NUMBER_FORMS: Final = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_MOST: Final = 3000  # that is written in another form than figures


def write_number(number: int, form: str) -> str:
    """Write a number in a form of Word's or PowerPoint's: decimal, letters or Roman."""
    wanted = form.lower()
    if wanted in ("none", "bullet") or number < 0:
        return ""
    if "roman" in wanted and 0 < number < _MOST:
        digits = (number // 1000, number // 100 % 10, number // 10 % 10, number % 10)
        written = "".join(signs[digit] for signs, digit in zip(_ROMAN, digits, strict=True))
        return written.upper() if wanted.startswith(("upper", "romanuc")) else written
    if ("letter" in wanted or "alpha" in wanted) and 0 < number < _MOST:
        written = chr(97 + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return written.upper() if wanted.startswith(("upper", "alphauc")) else written
    return f"{number:02}" if wanted == "decimalzero" else str(number)
