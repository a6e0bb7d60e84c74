"""Split a statement in Spanish or English into claims, of which one may be outdated while the others still hold.

A claim begins with a subject of its own, or with a verb that continues the subject of the sentence.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS, alternatives
from kenobot.language.words import fold, stems, words
from kenobot.ports.frozen import dataclass

_LONGEST = 600  # characters of a statement that is taken apart
_LEAST = 2  # words that mean something in a claim that can stand alone

_SENTENCE = lazy.regex(
    r"(?<!\b[DSM]r\.)(?<!\bM[sx]\.)(?<!\b[DS]ra\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\b[A-Z]\.)(?<=[.!?…])\s+"
    r"(?=[¿¡]*[A-ZÁÉÍÓÚÑ])|\n+"
)
_JOINT = lazy.regex(r"\s*[,;]\s+(?:(?:and|but|y|e|pero)\s+)?|\s+(?:and|but|y|e|pero)\s+")
_MANY = lazy.regex(r"[,;.!?…\n]\s|\s(?:and|but|y|e|pero)\s")  # a text without has one claim
_END = " .!…"

_ENGLISH_THIRD = f"(?:{alternatives('claim_english_third')})"
_ENGLISH_FIRST = f"(?:{alternatives('claim_english_first')})"
_SPANISH_THIRD = f"(?:{alternatives('claim_spanish_third')})"
_SPANISH_FIRST = f"(?:{alternatives('claim_spanish_first')})"
_LATELY = r"(?:(?:also|now|currently|really|just|yo|ahora|ya|tambien|actualmente) )*"
_THIRD = rf"{_LATELY}(?:{_ENGLISH_THIRD}|{_SPANISH_THIRD})\b"

_FOLDED_OWN = lazy.regex(
    rf"{_LATELY}(?:(?:i|we)(?:'\w+)? \S+|{_SPANISH_FIRST}\b"
    r"|my (?:[\w-]+ ){0,3}[\w-]+(?:'s| is| are| was| has| have| lives?| works?| likes?| loves?)\b"
    r"|mis? (?:[\w-]+ ){1,4}(?:es|son|se llaman?|estan?|tienen?|viven?|trabajan?|nacio)\b"
    rf"|(?:the )?(?:user|owner)(?:'s [\w-]+)? {_THIRD}|(?:el |la )?(?:usuari[oa]|dueñ[oa]) {_THIRD})"
)
_POINTING = lazy.regex(rf"(?:he|she|they|el|ella|his|her|their|sus?) (?:[\w-]+ ){{0,3}}?{_THIRD}")
_NAMED_OWN = lazy.regex(rf"(?:[A-ZÁÉÍÓÚÑ][\w'’-]* ){{1,3}}(?i:{_THIRD})")
_BARE_THIRD = lazy.regex(_THIRD)
_BARE_FIRST = lazy.regex(rf"(?:(?:also|now|currently|really|just) )*{_ENGLISH_FIRST}\b")
_SUBJECT = lazy.regex(
    r"(?P<subject>(?:[Tt]he |[Ee]l |[Ll]a )?(?:[Uu]ser|[Oo]wner|[Uu]suari[oa]|[Dd]ueñ[oa])|I|We"
    r"|[A-ZÁÉÍÓÚÑ][\w'’-]*(?: [A-ZÁÉÍÓÚÑ][\w'’-]*){0,2})"
    r"(?:'s [\w-]+(?= is\b)| )"
)
_OF_MINE = lazy.regex(
    r"(?P<subject>(?:my|mi)(?: (?!(?:who|that|which|que|and|or|y|o|e|no|not|never|nunca)\b)[\w-]+){1,4}?)"
    rf"(?:'s [\w-]+(?= is\b))?(?= {_THIRD})"
)
_BARE_SUBJECT = lazy.regex(rf"(?:my|our|mis?|nuestr[oa]s?)(?: (?!{_THIRD})[\w-]+){{1,3}}")  # of the verb behind "and"
_TO_WHOM = lazy.regex(r"(?:no )?les? ")  # "le gusta": the subject of the verb is what pleases
_BACK = frozenset("it that this there them alli ahi alla eso esto ello".split())
"""Words that point to the claim before."""


@dataclass(frozen=True, slots=True)
class Claim:
    """text: as it stands in the sentence, after `lead`. standalone_text: as a sentence, without its end mark.

    sentence: its number. depends_on_previous: whether it falls with the claim before it.
    """

    text: str
    standalone_text: str
    lead: str
    sentence: int
    depends_on_previous: bool


def claims(text: str) -> tuple[Claim, ...]:
    """Split a statement into its claims; one where it cannot be split."""
    found: list[Claim] = []
    if len(text) <= _LONGEST and _MANY.search(text):
        for number, sentence in enumerate(_SENTENCE.split(text.strip())):
            found += _in_sentence(sentence.strip(), number, " " if number else "")
    if len(found) < 2:
        whole = text.strip()
        return (Claim(whole, whole, "", 0, False),)
    return tuple(found)


def is_of_speaker(text: str) -> bool:
    """Return whether a text begins as a statement of its speaker: "I live in", "me llamo", "my dog is"."""
    return _FOLDED_OWN.match(fold(text)) is not None


def remove_values(text: str, outdated: Sequence[str], kept: Iterable[str]) -> str | None:
    """Remove the claims with a value of `outdated`; None when nothing, or not all of the values `kept`, is left."""
    parts = claims(text)
    gone = {at for at, claim in enumerate(parts) if any(mentions_value(claim.text, value) for value in outdated)}
    return _cut(text, parts, gone, kept)


def remove_claims(text: str, dropped: Sequence[Claim], kept: Iterable[str] = ()) -> str | None:
    """Remove the claims `dropped`; None as with `remove_values`."""
    parts = claims(text)
    return _cut(text, parts, {at for at, claim in enumerate(parts) if claim in dropped}, kept)


def mentions_value(text: str, value: str) -> bool:
    """Return whether a text has all content words of a value."""
    text_stems = {stem for word in words(text) for stem in stems(word)}
    value_words = [word for word in words(value) if word not in STOPWORDS] or words(value)
    return bool(value_words) and all(not text_stems.isdisjoint(stems(word)) for word in value_words)


def with_outdated_note(text: str, values: Iterable[str], tongue: str) -> str:
    """Note in `text` that those of `values` that stand in it are outdated."""
    wrong = [value for value in values if mentions_value(text, value)]
    if not wrong:
        return text
    return f"{text} [{'ya no' if tongue == 'es' else 'no longer'}: {', '.join(wrong)}]"


def _cut(text: str, parts: Sequence[Claim], gone: set[int], kept: Iterable[str]) -> str | None:
    if not gone:
        return text
    for at, claim in enumerate(parts):
        if claim.depends_on_previous and at - 1 in gone:
            gone.add(at)
    left = [claim for at, claim in enumerate(parts) if at not in gone]
    if not left:
        return None
    rest = left[0].standalone_text
    for before, claim in pairwise(left):
        same_sentence = before.sentence == claim.sentence
        rest += f"{claim.lead}{claim.text}" if same_sentence else f". {_capitalise(claim.standalone_text)}"
    if any(mentions_value(text, value) and not mentions_value(rest, value) for value in kept):
        return None
    rest = _capitalise(rest) if text[:1].isupper() else rest
    return rest + text.rstrip()[-1] if text.rstrip().endswith((".", "!", "…")) else rest


def _capitalise(text: str) -> str:
    return text[0].upper() + text[1:]


def _in_sentence(sentence: str, number: int, lead: str) -> list[Claim]:
    plain = _fold_letters(sentence)
    core = sentence.rstrip(_END)
    if plain is None or not core or sentence.endswith(("?", "？", ":")):
        return [Claim(sentence, sentence, lead, number, False)]
    subject = _subject(core)
    found: list[Claim] = []
    start = 0
    for joint in _JOINT.finditer(core):
        begins = _begins(core[joint.end() :], plain[joint.end() : len(core)], subject)
        if begins is not None and not _BARE_SUBJECT.fullmatch(plain, start, joint.start()):
            found.append(_claim(core[start : joint.start()], lead, number, found, subject))
            lead, start = joint[0], joint.end()
    found.append(_claim(core[start:], lead, number, found, subject))
    return found


def _claim(said: str, lead: str, number: int, before: Sequence[Claim], subject: str) -> Claim:
    plain = _fold_letters(said) or said
    begins = _begins(said, plain, subject) if before else ""
    alone = f"{'A ' if _TO_WHOM.match(plain) else ''}{begins} {said}" if begins else said
    meant = [word for word in words(said) if word not in STOPWORDS]
    leans = bool(before) and (
        len(meant) < _LEAST or not _BACK.isdisjoint(words(said)) or _POINTING.match(plain) is not None
    )
    return Claim(said, alone, lead, number, leans)


def _begins(said: str, plain: str, subject: str) -> str | None:
    """Return the subject that a claim which starts here lacks, or ""; None when no claim starts here."""
    if _FOLDED_OWN.match(plain) or _NAMED_OWN.match(said) or _POINTING.match(plain):
        return ""
    bare = _BARE_FIRST if subject in ("I", "We") else _BARE_THIRD
    return subject if subject and bare.match(plain) else None


def _subject(sentence: str) -> str:
    """Find the subject of a sentence; "" when it has none that its verb agrees with."""
    of_mine = _OF_MINE.match(_fold_letters(sentence) or "")
    if of_mine is not None:
        return sentence[: of_mine.end("subject")]
    found = _SUBJECT.match(sentence)
    if found is None:
        return ""
    rest = _fold_letters(sentence[found.end() :]) or ""
    bare = _BARE_FIRST if found["subject"] in ("I", "We") else _BARE_THIRD
    return found["subject"] if bare.match(rest.strip()) else ""


def _fold_letters(text: str) -> str | None:
    """Fold `text` letter by letter; None where that changes its length."""
    plain = fold(text)
    return plain if len(plain) == len(text) else None
