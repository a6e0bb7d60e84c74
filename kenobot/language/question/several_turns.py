"""Tell questions that several turns answer from those that one does, by their wording in English and Spanish."""

from kenobot.core import lazy
from kenobot.language.words import fold, head_and_tail

_AUXILIARY = r"(?:did|do|does|has|have|had|is|are|was|were|can|could|will|would|should|might)"
_QUE = r"(?:\A|[¿.!?,;:])[^\w¿.!?,;:]*(?:(?:a|de|en|con|por|para|desde|sobre) )?que"  # not the "que" of a clause
_SIGNS = (
    lazy.regex(  # counts, lists, and what several have in common
        r"\b(?:how (?:many|often)|both|list|all (?:the|of|my|that)|every\w*|in common|so far"
        r"|(?:type|kind|sort)s? of|(?:in|what) ways"
        r"|cuant[oa]s (?!a[nñ]os t[ie])|cada cuanto|ambos|ambas|l[oa]s dos|list[ae]\w*|tod[oa]s|en comun|hasta ahora"
        r"|(?:tipo|clase)s? de|de que (?:maneras|formas))\b"
    ),
    lazy.regex(rf"\b(?:what|which)(?: \w+){{0,2}}? \w{{2,}}(?<![suis'])(?<!new)s {_AUXILIARY}\b"),  # in the plural
    lazy.regex(
        rf"{_QUE} (?!(?:hac|ten|tien|piens|dic|pued|quer|quier|cre|er|est|v|opin|recomiend|propon|nos|les)[aeio]?s\b)"
        r"\w{2,}[aeiou]s\b|\bcuales\b|\bquienes (?:son|eran|han|fueron)\b|\b(?:what|which|who) (?:are|were)\b"
    ),
    lazy.regex(  # over time
        r"\b(?:what|where|who|which)(?: \w+)? (?:has|have)\b"
        rf"|(?:{_QUE}|\bdonde|\bquien|\bquienes)(?: \w+){{0,3}} (?:he|has|ha|hemos|habeis|han) \w+[dt]o\b"
        r"|\b(?:what|where) (?:do|does) .*\b"
        r"(?:do|(?<!look )like|enjoy|love|hate|dislike|make|cook|read|play|use|collect|eat)\b"
        rf"|{_QUE} (?:me|te|le|les|nos) (?:gusta|encanta|interesa|preocupa)n?\b"
    ),
)


def needs_several_turns(text: str) -> bool:
    """Return whether a question asks for a list or a count, for what several share, or for what went on over time."""
    said = fold(head_and_tail(text))
    return any(sign.search(said) for sign in _SIGNS)
