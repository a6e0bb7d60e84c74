"""Every purpose that a budget may name has its words."""

from typing import get_args

from kenobot.core.model_purposes import PURPOSES, purpose_words
from kenobot.core.settings.schema import Purpose


def test_every_purpose_has_words() -> None:
    """In both languages; what a plugin brings stays as it is."""
    assert set(PURPOSES) == set(get_args(Purpose))
    assert purpose_words("queries", "es") == "más consultas a la memoria"
    assert purpose_words("other", "es") == "other"
