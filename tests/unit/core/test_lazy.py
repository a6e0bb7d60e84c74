"""Regular expressions that are compiled at their first use."""

import gc
import importlib
import pkgutil
import re

import pytest

import kenobot
from kenobot.core import lazy
from kenobot.core.lazy import LazyPattern


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    """Its methods, its groups and its flags are those of `re.compile`."""
    held, plain = lazy.regex(r"(?P<word>\w+)\s", re.IGNORECASE), re.compile(r"(?P<word>\w+)\s", re.IGNORECASE)
    assert held.pattern == plain.pattern
    assert (held.flags, held.groups, held.groupindex) == (plain.flags, plain.groups, plain.groupindex)
    assert held.findall("one two ") == plain.findall("one two ")
    assert held.sub("-", "one two ") == plain.sub("-", "one two ")


def test_a_pattern_is_compiled_once_and_not_before_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled when it is made or its text is read."""
    compiled: list[str] = []
    compile_ = re.compile

    def watched(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", watched)
    held = lazy.regex("a+")
    assert (held.pattern, compiled) == ("a+", [])
    assert held.search("caat")
    assert held.fullmatch("aaa")
    assert compiled == ["a+"]


def test_every_pattern_there_is_can_be_compiled() -> None:
    """A mistake in one would otherwise show only in the conversation that comes to it."""
    for module in pkgutil.walk_packages(kenobot.__path__, "kenobot."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.unfreeze()  # a command that ran before may have set what it imported aside
    held = [each for each in gc.get_objects() if isinstance(each, LazyPattern)]
    assert len(held) > 300
    for each in held:
        assert each.groups >= 0
