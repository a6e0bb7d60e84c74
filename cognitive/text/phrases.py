"""Load tables of phrases, which are regular expressions over folded text, from the TOML files beside the code."""

import tomllib
from importlib import resources


def load_phrases(package: str, name: str) -> dict[str, str]:
    """Join each list of phrases in a file to one pattern of alternatives; `{part}` stands for one of its parts."""
    tables = tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))
    found: dict[str, str] = {}
    for kind, phrases in tables["phrases"].items():
        found[kind] = "|".join(phrases)
        for part, pattern in tables.get("parts", {}).items():
            found[kind] = found[kind].replace(f"{{{part}}}", pattern)
    return found
