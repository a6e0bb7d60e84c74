"""Write numbers as Excel's number formats say (ECMA-376 part 1, 18.8.30). A date in figures is written as ISO 8601."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Final, NamedTuple

BUILT_IN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "5": '"$"#,##0', "6": '"$"#,##0', "7": '"$"#,##0.00',
        "8": '"$"#,##0.00', "9": "0%", "10": "0.00%", "11": "0.00E+00", "12": "# ?/?", "13": "# ??/??",
        "14": "yyyy-mm-dd", "15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM",
        "20": "h:mm", "21": "h:mm:ss", "22": "yyyy-mm-dd h:mm", "37": "#,##0", "38": "#,##0", "39": "#,##0.00",
        "40": "#,##0.00", "41": "#,##0", "42": '"$"#,##0', "43": "#,##0.00", "44": '"$"#,##0.00', "45": "mm:ss",
        "46": "[h]:mm:ss", "47": "mm:ss.0", "48": "##0.0E+0", "49": "@",
    }
)  # fmt: skip
_TOKENS: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<blank>.)|\*(?P<filled>.)|\[\$(?P<money>[^\]-]*)[^\]]*\]'
    r"|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<bracket>[^\]]*)\]|(?P<half>AM/PM|A/P)|(?P<general>General)"
    r"|(?P<power>E[+-])|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+|g+)|(?P<digit>[0#?])|(?P<point>\.)|(?P<group>,)|(?P<share>%)"
    r"|(?P<text>@)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION: Final = re.compile(r"\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]")
_MONTHS: Final = "January February March April May June July August September October November December".split()
_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_LITERAL: Final = ("quoted", "escaped", "money", "other")
_LEAP: Final = 60  # the day 29 February 1900, which was none
_LAST: Final = 2_958_466  # the day after 31 December 9999


class _Token(NamedTuple):
    kind: str
    text: str


def format_text(text: str, form: str) -> str:
    """Write a text in the section of a format that is for texts."""
    sections = _sections(form)
    section = sections[3] if len(sections) > 3 else sections[0] if "@" in sections[0] else "@"
    tokens = _tokenize(section)
    if not any(each.kind == "text" for each in tokens) and section.strip():
        return text
    return "".join(text if each.kind == "text" else each.text if each.kind in _LITERAL else "" for each in tokens)


def format_number(value: float, form: str, *, from_1904: bool = False) -> str:
    """Write a number as a cell shows it."""
    section, value = _choose(_sections(form), value)
    tokens = _tokenize(section)
    kinds = {each.kind for each in tokens}
    if kinds & {"date", "elapsed"}:
        return _format_time(value, tokens, from_1904=from_1904)
    if "general" in kinds or (kinds == {"text"}):
        general = _general(value)
        return "".join(
            general if each.kind in ("general", "text") else each.text if each.kind in _LITERAL else ""
            for each in tokens
        ).strip()
    if "power" in kinds:
        return _format_power(value, tokens)
    slash = next((at for at, each in enumerate(tokens) if each == _Token("other", "/")), 0)
    if slash and "digit" in {each.kind for each in tokens[:slash]}:
        return _format_fraction(value, tokens, slash)
    return _format_digits(value, tokens).strip()


def _sections(form: str) -> list[str]:
    found, quoted, at = [""], False, 0
    while at < len(form):
        sign = form[at]
        if sign == "\\" and not quoted:
            found[-1] += form[at : at + 2]
            at += 2
            continue
        quoted ^= sign == '"'
        if sign == ";" and not quoted:
            found.append("")
        else:
            found[-1] += sign
        at += 1
    return found


def _choose(sections: list[str], value: float) -> tuple[str, float]:
    """Return the section that a number is written in, and the number without a sign where the section brings it."""
    conditions = [_CONDITION.search(each) for each in sections[:3]]
    if any(conditions):
        for section, found in zip(sections, conditions, strict=False):
            if found is None or _holds(value, found[1], float(found[2])):
                return section, value
        return "General", value
    if len(sections) > 2 and value == 0:
        return sections[2], value
    if len(sections) > 1 and value < 0:
        return sections[1], -value
    return sections[0] or ("General" if len(sections) == 1 else ""), value


def _holds(value: float, sign: str, bound: float) -> bool:
    is_less, is_same = value < bound, value == bound
    return (is_less and "<" in sign) or (is_same and "=" in sign) or (not is_less and not is_same and ">" in sign)


def _tokenize(section: str) -> list[_Token]:
    found = list[_Token]()
    for each in _TOKENS.finditer(section):
        kind = each.lastgroup or "quoted"
        if kind in ("bracket", "filled"):
            continue
        found.append(_Token("other", " ") if kind == "blank" else _Token(kind, each[kind]))
    return found


def _general(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.11g}".replace("e", "E")


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _format_digits(value: float, tokens: list[_Token]) -> str:
    """Write a number in the places for its digits, with the letters and signs between them."""
    places = [at for at, each in enumerate(tokens) if each.kind == "digit"]
    if not places:
        return ("-" if value < 0 else "") + "".join(each.text for each in tokens if each.kind in (*_LITERAL, "share"))
    scaled = Decimal(repr(value)).scaleb(2 * sum(each.kind == "share" for each in tokens))
    point = next((at for at, each in enumerate(tokens) if each.kind == "point" and at < places[-1] + 2), len(tokens))
    last = max((at for at in places if at < point), default=-1)
    for end in {last, places[-1]}:  # each comma behind the digits divides by a thousand
        while end >= 0 and end + 1 < len(tokens) and tokens[end + 1].kind == "group":
            scaled, end = scaled.scaleb(-3), end + 1  # noqa: PLW2901
    decimals = sum(at > point for at in places)
    rounded = abs(scaled).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, part = f"{rounded:f}".partition(".")
    grouped = any(each.kind == "group" for each in tokens[: last + 1])
    written = _write_whole("" if whole == "0" else whole, tokens[:point], grouped=grouped)
    written += _write_part(part, tokens[point:])
    return ("-" if scaled < 0 and rounded else "") + written


def _write_whole(digits: str, tokens: list[_Token], *, grouped: bool) -> str:
    written, left, count = list[str](), list(digits), 0
    first = next((at for at, each in enumerate(tokens) if each.kind == "digit"), len(tokens))
    for at in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[at]
        if kind in _LITERAL or kind == "share":
            written.append(text)
        if kind != "digit":
            continue
        taken = [left.pop()] if left else [{"0": "0", "?": " "}.get(text, "")]
        while at == first and left:
            taken.append(left.pop())
        for digit in filter(None, taken):
            if grouped and count and count % 3 == 0 and digit != " ":
                written.append(",")
            written.append(digit)
            count += 1
    return "".join(reversed(written))


def _write_part(part: str, tokens: list[_Token]) -> str:
    """Write the decimals. Zeros at the end stay where the format has one."""
    wanted = [each.text for each in tokens if each.kind == "digit"]
    shown = len(part)
    while shown and part[shown - 1] == "0" and wanted[shown - 1] != "0":
        shown -= 1
    written, at = "", 0
    for kind, text in tokens:
        if kind == "digit":
            written += part[at] if at < shown else ""
            at += 1
        elif kind in _LITERAL or kind == "share" or (kind == "point" and (shown or "0" in wanted or not wanted)):
            written += text
    return written


def _format_power(value: float, tokens: list[_Token]) -> str:
    decimals, is_behind = 0, False
    for kind, _ in tokens:
        if kind == "power":
            break
        is_behind |= kind == "point"
        decimals += is_behind and kind == "digit"
    return f"{value:.{decimals}E}"


def _format_fraction(value: float, tokens: list[_Token], slash: int) -> str:
    below = "".join(text for kind, text in tokens[slash + 1 :] if kind in ("digit", "other") and text.strip()).strip()
    fixed = int(below) if below.isdigit() and int(below) else 0
    sign, whole = "-" if value < 0 else "", int(abs(value))
    rest = abs(value) - whole
    is_mixed = any(kind == "other" and text == " " for kind, text in tokens[:slash])
    nearest = Fraction(rest).limit_denominator(10 ** max(1, len(below)) - 1)
    top, bottom = (round(rest * fixed), fixed) if fixed else nearest.as_integer_ratio()
    if not is_mixed:
        return f"{sign}{top + whole * bottom}/{bottom}"
    if top == bottom:
        whole, top = whole + 1, 0
    return sign + " ".join(filter(None, (str(whole) if whole or not top else "", f"{top}/{bottom}" if top else "")))


# ── dates and times ──────────────────────────────────────────────────────────────────────────────────────────────


def _format_time(value: float, tokens: list[_Token], *, from_1904: bool) -> str:
    tokens = _mark_minutes(tokens)
    names = {
        text.lower()[0] if kind == "date" else kind for kind, text in tokens if kind in ("date", "minute", "elapsed")
    }
    if value < 0 or value >= _LAST:
        return _general(value)
    has_parts = any("." in text for kind, text in tokens if kind == "date")
    moment = _moment(value, from_1904=from_1904, is_exact=has_parts)
    in_figures = {len(text) for kind, text in tokens if kind == "date" and text.lower()[0] == "m"} <= {1, 2}
    if in_figures and {"m", "d"} <= names:
        date = moment.date().isoformat()
        if not names & {"h", "minute"}:
            return date
        return f"{date} {moment:%H:%M:%S}" if "s" in names else f"{date} {moment:%H:%M}"
    half = any(each.kind == "half" for each in tokens)
    seconds = round(value * 86_400)
    written = ""
    for kind, text in tokens:
        if kind == "elapsed":
            total = seconds // {"h": 3600, "m": 60, "s": 1}[text[0].lower()]
            written += str(total).zfill(len(text))
        elif kind == "half":
            written += moment.strftime("%p")
        elif kind in ("date", "minute"):
            written += _write_unit(moment, kind, text.lower(), half=half)
        elif kind in _LITERAL or kind in ("point", "group"):
            written += text
    return written.strip()


def _moment(value: float, *, from_1904: bool, is_exact: bool) -> datetime:
    days = value + 1462 if from_1904 else value
    begin = datetime(1899, 12, 31 if days < _LEAP else 30)  # noqa: DTZ001 - cells have no zone
    return begin + timedelta(seconds=round(days * 86_400, 3 if is_exact else 0))


def _mark_minutes(tokens: list[_Token]) -> list[_Token]:
    """Mark minutes, which look like months: they follow hours or come before seconds."""
    units = [at for at, each in enumerate(tokens) if each.kind in ("date", "elapsed")]
    found = list(tokens)
    for place, at in enumerate(units):
        if tokens[at].kind != "date" or tokens[at].text.lower() not in ("m", "mm"):
            continue
        before = tokens[units[place - 1]].text.lower() if place else ""
        after = tokens[units[place + 1]].text.lower() if place + 1 < len(units) else ""
        if before.startswith("h") or after.startswith("s"):
            found[at] = _Token("minute", tokens[at].text)
    return found


def _write_unit(moment: datetime, kind: str, text: str, *, half: bool) -> str:
    if kind == "minute":
        return str(moment.minute).zfill(len(text))
    name = {"y": "year", "e": "year", "m": "month", "d": "day", "h": "hour", "s": "second"}.get(text[0], "year")
    number: int = getattr(moment, name)
    match text[0]:
        case "y":
            return f"{number % 100:02}" if len(text) < 3 else str(number)
        case "m" if len(text) > 2:
            return _MONTHS[number - 1][: {3: 3, 5: 1}.get(len(text), 20)]
        case "d" if len(text) > 2:
            return _DAYS[moment.weekday()][: 3 if len(text) == 3 else 20]
        case "h" if half:
            number = number % 12 or 12
        case "s" if "." in text:
            places = len(text.partition(".")[2])
            return f"{moment.second:02}.{moment.microsecond:06}"[: 3 + places]
        case "g":
            return ""
    return str(number).zfill(len(text))
