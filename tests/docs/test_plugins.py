"""docs/plugins.md keeps its word: its example is a plugin that passes the contract suite it names."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kenobot.ports.plugin import NoSettings
from kenobot.ports.postprocessor import PostProcessor
from kenobot.testing.postprocessor import PostProcessorContract

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plugins.md"


def example() -> SimpleNamespace:
    """The names that the first Python block of the page defines."""
    block = re.search(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None, "docs/plugins.md shows no Python"
    names: dict[str, Any] = {}
    exec(compile(block[1], str(PAGE), "exec"), names)
    return SimpleNamespace(**names)


class TestExample(PostProcessorContract):
    """The post-processor of the page."""

    def processor(self) -> PostProcessor:
        """Built as the page says."""
        built: PostProcessor = example().plugin.build(NoSettings(), None)
        return built
