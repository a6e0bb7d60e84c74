"""Word what a model is asked for, in English and Spanish."""

from collections.abc import Mapping

from kenobot.core.i18n import Language, Text

PURPOSES: Mapping[str, Text] = {
    "reply": Text("replies", "respuestas"),
    "extraction": Text("finding memories", "buscar recuerdos"),
    "compaction": Text("summaries", "resúmenes"),
    "sleep": Text("sleep", "el sueño"),
    "rerank": Text("judging what was recalled", "juzgar lo recordado"),
    "queries": Text("further queries of memory", "más consultas a la memoria"),
    "embedding": Text("vectors", "vectores"),
    "transcription": Text("writing down recordings", "transcribir audios"),
    "probe": Text("asking whether the model is there", "preguntar si el modelo responde"),
    "test": Text("`kenobot models test`", "`kenobot models test`"),
    "bench": Text("`kenobot bench`", "`kenobot bench`"),
}


def purpose_words(name: str, language: Language) -> str:
    """Word a purpose; one that is not known stays as it is."""
    return PURPOSES[name](language) if name in PURPOSES else name
