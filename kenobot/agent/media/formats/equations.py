"""Write the fields of Word that draw signs over or beside each other, such as readings of kanji and fractions. Pure."""

from collections.abc import Sequence
from typing import Final

_SEPARATORS: Final = ",;"
_FORMS: Final = {"f": "{0}/{1}", "r": "√{1}", "o": "{1} ({0})"}
_MOST_DEPTH: Final = 20


def write_equation(code: str) -> str:
    """Write the code of a field `EQ` in a line; "" for that of another field."""
    kind, _, rest = code.strip().partition(" ")
    return _write(rest, 0).strip() if kind.upper() == "EQ" else ""


def _write(code: str, depth: int) -> str:
    """Write text with switches such as `\\f(1;2)` in it: options of one or two letters, then what is in brackets."""
    written, at, switches = list[str](), 0, list[str]()
    while at < len(code):
        if code[at] == "\\" and code[at + 1 : at + 2].isalpha():
            end = at + 1
            while end < len(code) and code[end].isalpha():
                end += 1
            switches.append(code[at + 1 : end].lower())
            at = end
        elif code[at] == "\\" and code[at + 1 : at + 2] == "*":  # a format, and its word
            at = _skip_word(code, at + 2)
        elif code[at] == "(" and switches and depth < _MOST_DEPTH:
            end = _find_bracket(code, at)
            parts = [_write(part, depth + 1).strip() for part in _split(code[at + 1 : end])]
            written.append(_join(switches[0], parts))
            switches, at = [], end + 1
        else:
            if not switches:
                written.append(code[at])
            at += 1
    return "".join(written)


def _join(switch: str, parts: Sequence[str]) -> str:
    if switch == "r" and len(parts) == 1:
        return f"√{parts[0]}"
    form = _FORMS.get(switch, "")
    if not form or len(parts) != 2 or (switch == "o" and not all(map(str.isalnum, map("".join, parts)))):
        return "".join(parts)
    return form.format(*parts)


def _skip_word(code: str, at: int) -> int:
    while at < len(code) and code[at] == " ":
        at += 1
    quoted = code[at : at + 1] == '"'
    end = code.find('"' if quoted else " ", at + 1)
    return len(code) if end < 0 else end + 1


def _find_bracket(code: str, at: int) -> int:
    depth = 0
    for end in range(at, len(code)):
        depth += (code[end] == "(") - (code[end] == ")")
        if not depth:
            return end
    return len(code)


def _split(code: str) -> list[str]:
    parts, depth = [""], 0
    for letter in code:
        depth += (letter == "(") - (letter == ")")
        if letter in _SEPARATORS and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
