"""Read a sentence without its openings, and the wishes and corrections that it is introduced with."""

from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.confidences import CONFIDES
from kenobot.language.questions import asks_unmarked
from kenobot.language.sentences import LONGEST, split_sentences
from kenobot.language.statements.rule_tables import PHRASES
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

ASKING = ("?", "？", "؟")
MARKS = " \t,.;:。，：！!¡¿…-—\"'«»“”"
_OPENINGS = lazy.regex(rf"(?:(?:{PHRASES['openings']})\b[\s,:!.]*){{1,3}}")
_PLEASE = rf"(?:(?:{PHRASES['please']}),? ){{0,2}}"
_POLITENESS = rf"(?:[\s,.!]*(?:{PHRASES['polite']})(?!\w))*[\s,.!]*"
_ASKS_TO_REMEMBER = lazy.regex(
    rf"{_PLEASE}(?:{PHRASES['asks_to_remember']})(?!\w)(?:,? (?:{PHRASES['please']}),?)?(?: de)?"
    rf"(?: that| que| q)?(?!\w)(?: (?:this|it|esto|eso)(?=\s*:))?[\s,:]*|(?:{PHRASES['asks_abroad']})[\s,:，：]*"
)
_ASKS_TO_REMIND = lazy.regex(rf"{_PLEASE}(?:{PHRASES['asks_to_remind']})(?!\w)(?: that| que| q| to)?(?!\w)")
_ASKS_BEHIND = lazy.regex(
    rf"(?:^|[,;.(—–-]\s*|\s)(?:y |and )?{_PLEASE}(?:{PHRASES['asks_behind']})(?!\w){_POLITENESS}(?=$|,)"
)
_CONFIDES_FIRST = lazy.regex(rf"{CONFIDES}[\s,:.;—–-]*")
_CONFIDES = lazy.regex(rf"[,;:(—–-]?\s*(?<!\w)(?:(?:but|and|so|pero|y|asi que),? )?{_PLEASE}{CONFIDES}{_POLITENESS}\)?")
_POLITE = lazy.regex(_POLITENESS)
_ASKS_WHETHER = lazy.regex(r"\W*(?:remember|recuerda)\b.*[?？]\W*$")
UNSTATED = lazy.regex(rf"(?:{PHRASES['unstated']})(?!\w)")
_IN_THIS_CHAT = lazy.regex(
    rf"(?:^|^(?:{PHRASES['asks_to_remember']})(?:,| that| que)? )(?P<here>{PHRASES['in_this_chat']})(?!\w)"
    r"[\s,:]*(?:que |that )?"
)
QUOTED_FIRST = lazy.regex(r"[ \t,.;:…-]*(?P<mark>[\"“«])[^\W_][^\"“”«»]*[\"”»][^\w\"“”«»]*\w")
_POLITE_END = lazy.regex(rf"[,.;]\s*(?:{PHRASES['polite']})[\s.!]*$")
_CORRECTS = lazy.regex(rf"(?:{PHRASES['corrects']})\s+")
_CORRECTS_BEHIND = lazy.regex(rf"[,;.(—–-]\s*(?:sorry,? )?(?:{PHRASES['corrects_behind']})\W*\Z")


def is_statement(told: str) -> bool:
    """Return whether a text states something, as far as its first words tell: it is no wish, guess or condition."""
    return not UNSTATED.match(fold_text(told))


def without_this_chat(text: str) -> str:
    """Return what a text says of this chat alone, without the words that name it; "" for a text of no chat's own."""
    plain = fold_text(text[:LONGEST])
    found = _IN_THIS_CHAT.search(plain)
    if found is None or len(plain) != len(text[:LONGEST]):
        return ""
    rest = f"{text[: found.start('here')].strip()} {text[found.end() :].strip(MARKS)}"
    return rest.strip(MARKS)


def question_in(text: str) -> str:
    """Return the sentences of a text that ask; "" without any."""
    sentences = (part.strip() for part in split_sentences(text))
    return " ".join(each for each in sentences if asks(each, read_core(each)))


def asks(sentence: str, core: "Core") -> bool:
    """Return whether a sentence is a question, marked or not, and no wish to remember that is put as one."""
    if sentence.rstrip().endswith(ASKING):
        return not core.asked or _ASKS_WHETHER.match(fold_text(sentence)) is not None
    return asks_unmarked(sentence) or asks_unmarked(core.told)


@dataclass(frozen=True, slots=True)
class Core:
    """A sentence after its openings. told: what it says. corrects: whether it puts something right.

    asked: whether it asks to remember; reminds: to be reminded. points_back: what it asks stands before it.
    """

    told: str
    corrects: bool = False
    asked: bool = False
    reminds: bool = False
    points_back: bool = False


@lru_cache(512)  # what reads a message, what sums it up and what checks the summary read the same sentences
def read_core(sentence: str) -> Core:
    """Take the openings and wishes from a sentence."""
    corrects = asked = reminds = quiet = False
    for _ in range(6):
        sentence = without_marks(sentence)
        plain = fold_text(sentence)
        if (opening := _CORRECTS.match(plain)) is not None:
            corrects = True
        elif (reminder := _ASKS_TO_REMIND.match(plain)) is not None and not asked:
            if _POLITE.fullmatch(plain[reminder.end() :].strip(MARKS)) is None:
                asked = reminds = True
                break
        elif (opening := _CONFIDES_FIRST.match(plain)) is not None:
            quiet = True
        elif (opening := _ASKS_TO_REMEMBER.match(plain)) is not None:
            asked = True
        opening = opening or _OPENINGS.match(plain)
        if opening is None:
            break
        sentence = sentence[opening.end() :]
    while (behind := _ASKS_BEHIND.search(fold_text(sentence))) is not None:
        asked = True
        sentence = f"{sentence[: behind.start()]}{sentence[behind.end() :]}".strip(MARKS)
    if (opening := _CONFIDES.search(fold_text(sentence))) is not None:
        quiet = True
        sentence = f"{sentence[: opening.start()]} {sentence[opening.end() :].lstrip()}".strip()
    if asked and (wish := _POLITE_END.search(fold_text(sentence))) is not None:
        sentence = sentence[: wish.start()]
    if (behind := _CORRECTS_BEHIND.search(fold_text(sentence))) is not None:
        corrects = True
        sentence = sentence[: behind.start()]
    told = without_marks(sentence, "?" if asked else "")
    empty = not told or _POLITE.fullmatch(fold_text(told)) is not None
    return Core("" if empty else told, corrects, asked, reminds, points_back=empty and (asked or quiet))


def without_marks(text: str, also: str = "") -> str:
    """Return a text without the marks around it, but for those of a quotation that it begins with and goes on after."""
    bare = text.strip(MARKS + also)
    quoted = QUOTED_FIRST.match(text)
    return f"{quoted['mark']}{bare}" if quoted else bare


@lru_cache(512)  # each rule that reads a sentence folds it
def fold_text(text: str) -> str:
    return fold(text).replace("’", "'").replace("‘", "'")
