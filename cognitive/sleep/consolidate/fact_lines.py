"""Find the lines of an entry that state facts, by the words that facts are told with, in Spanish and English. Pure."""

import re

from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.text.words import fold

_HEADING = re.compile(r"#{1,6}\s")
_ENTRY = re.compile(r"#{1,6}\s+[0-9]{1,2}:[0-9]{2}\s+[—–-]\s*")
_LABEL = re.compile(
    r"\A(?:lesson(?: learn(?:ed|t))?|learn(?:ed|t)|note|remember|tip|aprendid[oa]|aprend[ií]|lecci[oó]n|nota|recuerda"
    r"|ojo|consejo)\s*:\s+(?=\S)",
    re.IGNORECASE,
)
# Folded words with which people say how things are, not what happened.
_INDICATORS = re.compile(
    r"(?<!\w)(?:prefer\w*|always|never|uses?|using|likes?|loves?|hates?|dislikes?|wants?|needs?|requires?|must"
    r"|should(?:n't)?|works? (?:at|as|for|with|in|from|on)|lives?|owns?|speaks?|stud(?:y|ies)|depends? on|runs? on"
    r"|is called|named|favou?rite|allergic|time ?zone|no longer|not anymore|instead of|rather than|only|every"
    r"|(?:is|are|was|were) (?:an?|the|in|at|on|from|called)|can(?:not|'t)|don't|doesn't|decided (?:to|on|that|against)"
    r"|prefier\w*|siempre|nunca|jamas|us[aoe]n?|usamos|usar|utiliz\w+|(?:le|me|les|nos) (?:gusta|encanta)n?|odi[oa]n?"
    r"|detest[oa]n?|quier[eo]n?|necesit\w+|requier\w+|deb[eo]n?|debemos|hay que|trabaj[oa]n?|viv[eo]n?|habl[oa]n?"
    r"|estudi[oa]n?|depende\w* de|corre\w* en|se llama|favorit[oa]s?|alergic[oa]s?|zona horaria|huso horario|ya no"
    r"|en vez de|en lugar de|solo|cada|(?:es|son|era) (?:una?|el|la|los|las|de|alergic[oa])|(?:esta|estan) en"
    r"|no (?:puede|se puede|funciona)\w*|decid(?:i|io|imos|ieron))(?!\w)"
)


def statement_lines(text: str, policy: ProceduralPolicy = DEFAULT) -> list[str]:
    """The lines of an entry that are long enough to state something, without headings; of one line, its words."""
    lines = (_ENTRY.sub("", line.strip(), count=1).strip() for line in text.splitlines())
    return [line for line in lines if len(line) > policy.statement_above_chars and not _HEADING.match(line)]


def fact_lines(text: str, policy: ProceduralPolicy = DEFAULT) -> list[str]:
    """The statements of an entry that say how things are."""
    return [line for line in statement_lines(text, policy) if _INDICATORS.search(fold(line))]


def without_label(text: str) -> str:
    """`text` without the word that announces it, such as "Learned:"."""
    return _LABEL.sub("", text, count=1)
