"""Keep the key of a sentence that goes through the JSON of a model."""

from typing import Annotated

from pydantic import PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

from kenobot.ports.sentences import Sentence, pack_text, unpack_text


def _read(value: object, check: ValidatorFunctionWrapHandler) -> str:
    return value if isinstance(value, Sentence) else unpack_text(check(value))


SentenceText = Annotated[str, WrapValidator(_read), PlainSerializer(pack_text, when_used="json")]
"""A text that may be a sentence with a key."""
