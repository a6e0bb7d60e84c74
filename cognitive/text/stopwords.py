"""Function words and negations of Spanish and English, folded."""

from kenobot.cognitive.text.lexicon import word_set

NEGATIONS = word_set("negations")
STOPWORDS = (word_set("stopwords_en") | word_set("stopwords_es")) - NEGATIONS
UNSPOKEN = word_set("unspoken")
"""Words that do not tell whose a text is: function words, names of the owner, agreement and requests."""
