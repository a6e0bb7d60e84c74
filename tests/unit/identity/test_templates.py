"""The identity that a new home gets: short, in the right form, and honest about what the bot can do."""

import json
import re
from importlib import resources

from kenobot.core import plugins
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.plugin import NoSettings, PluginContext
from kenobot_testing.clock import ManualClock

FOLDER = resources.files("kenobot").joinpath("config", "identity")


def template(name: str) -> str:
    return FOLDER.joinpath(name).read_text("utf-8")


def known_tags() -> set[str]:
    """The canonical names of all tags that a shipped post-processor acts on."""
    from pathlib import Path

    surroundings = PluginContext(Path("unused"), ManualClock(), "Keno")
    group: plugins.PluginGroup = "kenobot.postprocessors"
    return {
        plugins.load(group, name).build(NoSettings(), surroundings).tags[0].rstrip("/") for name in plugins.names(group)
    }


def test_the_templates_are_these() -> None:
    """Nothing else is copied into a person's memory."""
    assert {path.name for path in FOLDER.iterdir()} == {"core.md", "rules.json", "preferences.md", "BOOTSTRAP.md"}


def test_they_are_short() -> None:
    """Identity stands in every prompt, so it must be cheap."""
    assert estimate_tokens(template("core.md")) < 500
    assert estimate_tokens(template("BOOTSTRAP.md")) < 600
    assert template("preferences.md") == "# User Preferences\n"


def test_rules_have_the_form_that_is_rendered() -> None:
    """A rule in another form would silently render to nothing, as the first KenoBot's did."""
    rules = json.loads(template("rules.json"))
    assert set(rules) == {"behavioral", "forbidden"}
    for rule in rules["behavioral"]:
        assert {"category", "instruction"} <= set(rule) <= {"category", "instruction", "examples"}
        assert all(isinstance(example, str) for example in rule.get("examples", []))
    for rule in rules["forbidden"]:
        assert {"pattern"} <= set(rule) <= {"pattern", "reason"}


def test_only_tags_that_exist_are_advertised() -> None:
    """A tag that no post-processor knows would be shown to the person, or be lost."""
    advertised = set(re.findall(r"</?([a-z-]+)/?>", "".join(map(template, ("core.md", "BOOTSTRAP.md", "rules.json")))))
    assert advertised <= known_tags()
    assert "bootstrap-complete" in advertised
    assert "<bootstrap-complete/>" in template("BOOTSTRAP.md")
