"""The catalogue of sentences that the bot itself says, in English and Spanish: `texts.toml`.

`texts.NOTED` is the sentence `[noted]`; tests/unit/core/test_i18n.py compares the names in use with the catalogue.
"""

import tomllib
from importlib import resources

from kenobot.core.i18n import Text

_TABLES = tomllib.loads(resources.files(__package__).joinpath("texts.toml").read_text("utf-8"))
SENTENCES = {name.upper(): Text(**sentence) for name, sentence in _TABLES.items()}


def __getattr__(name: str) -> Text:
    if name not in SENTENCES:
        raise AttributeError(f"the catalogue has no sentence {name}")
    return SENTENCES[name]
