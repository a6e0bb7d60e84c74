"""Recognise what people tell that lets others in or pay: passwords, PINs, numbers of cards and accounts.

`kenobot.core.redaction` finds what looks like a secret wherever it stands; here the words around a plain number or word
tell that it is one. A look-alike (a flat, a bus, a gate's code, an order) is none. Only the
beginning of a text is read.
"""

import re
from functools import lru_cache

from kenobot.core import lazy, redaction
from kenobot.language.lexicon import join_phrases, load_tables
from kenobot.language.sentences import LONGEST
from kenobot.language.words import fold
from kenobot.ports.sentences import Sentence

_TABLES = load_tables(__package__, "told_secrets.toml")
_P = join_phrases(_TABLES)
_CUES = tuple(_TABLES["cues"]["words"].split())
_ACCOUNTS = ("login", "log-in", "user", "usuario")
_SHORT = 2000  # characters of a text whose verdict is kept at hand
_BEGINS, _ENDS = r"(?<![\w-])", r"(?!\w)"
_OF = r"(?:'s)?(?:[ ]{1,2}(?:for|of|to|at|on|in|del?|para|en)(?: [^\s:=]{1,24}){1,5}?)?"
_IS = (
    r"(?:[ ]{0,2}[:=][ ]{0,2}|'s[ ]|[ ]{1,2}(?:(?:is|was|es|era|are|son|sera|to|a|changed to|->|→)[ ]{1,2}"
    r"(?:(?:now|still|also|again|currently|ahora|todavia|just|el|la|number|:) ){0,2}))"
)
_LEADS_ON = "and|y|e|but|pero|or|o|so|if|si|please|pls|por|porfa|ok|from|at|in|en"
_OVER = rf"(?=[\"'”»)]?(?:\s*\Z|[ ]?[,.;!?)\n]|[ ](?:{_LEADS_ON})\b))"
_DIGITS = r"[\"'“«]?\d(?:[ .-]?\d){{{least},11}}" + _OVER
_MIXED = r"(?=\S{0,64}[a-z])(?=\S{0,64}[\d@#$%^&*_+~])\S{4,64}"
_QUOTED = r"[\"'“«][^\"'”»\n]{3,64}"
_WORD = (
    rf"(?:{_QUOTED}|(?!(?:{_P['no_password']})\b)[^\W\d_](?:[^\W\d]|-){{2,40}}[^\W\d_](?=[\"'”»)]?\W*(?:\Z|\n|[.;!,])))"
)
_FIGURES = (
    "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve)"
)
_SPELT = rf"{_FIGURES}(?:[ ,-]{{1,2}}{_FIGURES}){{2,7}}"


def _pattern_of(kind: str, value: str) -> str:
    """Return a pattern for a value behind its name, or right beside it, or told before it."""
    name = rf"{_BEGINS}(?:{_P[kind]}){_ENDS}"
    behind = rf"(?:{name}{_OF}{_IS}|{name}[ ]{{1,2}})(?:{value})"
    value = value.replace(_OVER, "")
    owner = r"(?:my|our|the|mi|nuestr[oa]|el|la|\w{2,20}'s)"
    before = rf"(?<!\S)(?:{value})[ ]{{1,2}}(?:is|es|was|era) {owner} (?:\S{{1,24}} ){{0,3}}?{name}"
    return rf"{behind}|{before}"


_DIGITS_3, _DIGITS_4 = _DIGITS.format(least=2), _DIGITS.format(least=3)
_MAIL = r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}"
_STRONG = r"(?=\S{0,64}[A-Za-z])(?=\S{0,64}\d)\S{6,64}"
_NO_CODE = r"(?!(?:19|20)\d\d\b|(?:[01]\d|2[0-3])(?:00|15|30|45)\b)"
_MARKED = r"\d{4,8}-?[a-z]" + _OVER
_PASS_WORD = rf"(?!(?:{_P['in_talk']})\b)[^\W\d_]{{2,14}}"
_SEVERAL = rf"(?:{_PASS_WORD}[ -]){{3,8}}{_PASS_WORD}(?=[\"'”»)]?\W*(?:\Z|[\n.;!,]))"
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "secrets.pin",
        lazy.regex(_pattern_of("pin", rf"{_DIGITS_3}|{_MARKED}|{_SPELT}|[\"'“«]?\d{{1,3}}(?:-\d{{1,3}}){{2,5}}")),
    ),
    ("secrets.password", lazy.regex(_pattern_of("password", rf"{_MIXED}|{_DIGITS_4}"))),
    ("secrets.password", lazy.regex(rf"{_BEGINS}(?:{_P['password']}){_ENDS}{_OF}{_IS}{_WORD}")),
    ("secrets.pin", lazy.regex(rf"{_BEGINS}(?:{_P['guarded']}){_ENDS}(?:{_IS}){_NO_CODE}\d{{4,8}}{_OVER}")),
    ("secrets.pin", lazy.regex(rf"{_BEGINS}pin[ ]{_NO_CODE}\d{{4,8}}[ ](?:{_P['pin_is']}){_ENDS}")),
    ("secrets.pin", lazy.regex(rf"{_BEGINS}(?:{_P['typing']})[ ]\d{{3,8}},?[ ](?:{_P['to_open']}){_ENDS}")),
    ("secrets.pin", lazy.regex(rf"(?<![\w.,:]){_NO_CODE}\d{{4,8}}[ ](?:{_P['opens']}){_ENDS}")),
    ("secrets.password", lazy.regex(rf"{_BEGINS}(?:{_P['word']}){_ENDS}{_OF}{_IS}{_WORD}")),
    (
        "secrets.password",
        lazy.regex(
            rf"{_BEGINS}(?:{_P['access']}){_ENDS}[^\n\d:]{{0,30}}[\d:][^\n]{{0,40}}?[ ]"
            rf"(?:{_P['some_word']})(?:{_IS}|[ ]){_WORD}"
        ),
    ),
    ("secrets.password", lazy.regex(rf"{_BEGINS}(?:{_P['passphrase']}){_ENDS}{_OF}(?:{_IS}|[ ]){_SEVERAL}")),
    ("secrets.key", lazy.regex(_pattern_of("key", rf"{_MIXED}|{_DIGITS_4}"))),
    (
        "secrets.recovery_phrase",
        lazy.regex(rf"{_BEGINS}(?:{_P['phrase']}){_OF}{_IS}(?:[^\W\d_]{{2,12}}[ ,]{{1,2}}){{2}}"),
    ),
)
_SECRETS = "|".join(_P[kind] for kind in ("password", "key", "pin", "passphrase", "phrase", "asked_for"))
_NAMES = lazy.regex(rf"{_BEGINS}(?:{_SECRETS}){_ENDS}")
_HUMP = lazy.regex(r"(?<=[a-z])(?=[A-Z])")
_PAIR = lazy.regex(
    rf"{_MAIL}[ ]?[/|:,;]?[ ]?(?:(?:and|y|con|with) )?(?![^\s]*@|https?:)(?=\S{{0,64}}[A-Z@#$%^&*!_]){_STRONG}"
    rf"|{_MAIL}[ ]?[/|:][ ]?{_STRONG}|\w: ?[\w.@+-]{{2,64}} ?/ ?{_STRONG}"
    rf"|(?i:login|log-in|user(?:name)?|usuario)\s{{1,2}}(?:is |es )?(?=\S{{0,64}}[@#$%^&*!])(?!\S*@\S*\.){_STRONG}"
)
_LONG_NUMBER = lazy.regex(r"(?<![\w-])(?:\d[ -]?){12,18}\d(?![\w-])")
_CARD = lazy.regex(rf"(?<!\w)(?:{_P['card']})(?!\w)")
_OTHER_NUMBER = lazy.regex(rf"(?<!\w)(?:{_P['other_numbers']})(?!\w)")
_IBAN = lazy.regex(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_SORT_CODE = lazy.regex(r"(?<!\w)sort[ -]code\D{0,12}\d\d[ -]?\d\d[ -]?\d\d(?!\d)")


def find_told_secret(text: str) -> str | None:
    """Return the kind of secret that somebody tells in a text, in words; None when there is none."""
    return _find(text) if len(text) <= _SHORT else _find.__wrapped__(text)


@lru_cache(maxsize=256)  # a message is looked at before its reply, with it, when it is stored, and when it is extracted
def _find(text: str) -> str | None:
    if (found := redaction.find_secret(text)) is not None:
        return found
    text = text[:LONGEST]
    plain = fold(text).replace("’", "'").replace("\t", " ")
    may_name = any(map(plain.__contains__, _CUES))
    named = next((kind for kind, pattern in _KINDS if pattern.search(plain)), None) if may_name else None
    if named is not None or (_may_pair(text) and _PAIR.search(text)):
        return Sentence(named or "secrets.password")
    if _tells_card(plain):
        return Sentence("secrets.card_number")
    is_account = any(_is_iban(match[0]) for match in _IBAN.finditer(text)) or _SORT_CODE.search(plain)
    return Sentence("secrets.account_number") if is_account else None


def _may_pair(text: str) -> bool:
    """Return whether a text has what each pair of an account and its password has: a sign, or a word for one."""
    return "@" in text or "/" in text or any(map(text.casefold().__contains__, _ACCOUNTS))


def names_secret(text: str) -> bool:
    """Return whether a text, or the name of a field, names something that is nobody's to be asked for."""
    words = _HUMP.sub(" ", text[:LONGEST]).replace("_", " ").replace("-", " ")
    return _NAMES.search(fold(words)) is not None


def _tells_card(plain: str) -> bool:
    numbers = [re.sub(r"\D", "", match[0]) for match in _LONG_NUMBER.finditer(plain)]
    if not numbers or _OTHER_NUMBER.search(plain):
        return False
    return bool(_CARD.search(plain)) or any(_has_check_digit(number) for number in numbers if len(number) >= 15)


def _has_check_digit(number: str) -> bool:
    """Return whether the last digit of a number checks the others, as on cards (Luhn)."""
    doubled = [int(digit) * (2 if at % 2 else 1) for at, digit in enumerate(reversed(number))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """Return whether a number of an account is one by its check digits (ISO 13616)."""
    bare = text.replace(" ", "")
    return 15 <= len(bare) <= 34 and int("".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])) % 97 == 1
