"""Pictures of memory, as far as that goes without looking at them."""

import sys
from datetime import datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kenobot.cli.pictures import memory_pictures
from kenobot.cli.pictures.memory_pictures import Lifeline, Words
from kenobot.ports.browsing import HAPPENINGS, Graph, GraphEdge, GraphNode, TimelinePeriod
from kenobot.ports.errors import ConfigError

_WORDS = Words(
    "What $memory$ is about",
    {name: name for name in HAPPENINGS},
    {"subject": "people", "topic": "topics", "memory": "memories"},
    "you",
)
_HOSTILE = "costs $5 \\frac{a}{b} <script>alert(1)</script> & 🦖 " + "x" * 200
_GRAPH = Graph(
    (
        GraphNode("subject:owner", "subject", "owner", 3),
        GraphNode("topic:tea", "topic", "tea", 2),
        GraphNode("memory:1", "memory", _HOSTILE, 1),
    ),
    (GraphEdge("subject:owner", "topic:tea", "topic", 2), GraphEdge("memory:1", "subject:owner", "about", 1)),
    3,
    0,
)


def test_a_graph_is_drawn_as_svg_the_same_each_time(tmp_path: Path) -> None:
    """Labels are texts as they stand: no formula, no markup, no matter how long."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("networkx")
    files = [tmp_path / name for name in ("one.svg", "other.svg")]
    for file in files:
        memory_pictures.draw_graph(_GRAPH, _WORDS, file)
    assert files[0].read_bytes() == files[1].read_bytes()
    root = ElementTree.fromstring(files[0].read_text("utf-8"))
    assert root.tag.endswith("svg")
    assert not [each for each in root.iter() if each.tag.endswith("script")]


def test_a_timeline_is_drawn_with_the_lives_of_memories(tmp_path: Path) -> None:
    """Also of one that lasted no time, and of none; as PNG where the file is called so."""
    pytest.importorskip("matplotlib")
    begin = datetime(2026, 3, 1)  # noqa: DTZ001 - as the axis of a plot takes it
    lives = [
        Lifeline(_HOSTILE, begin, None, [(begin, "learned"), (begin + timedelta(days=9), "confirmed")]),
        Lifeline("Likes tea", begin, begin, [(begin, "forgotten")]),
    ]
    periods = [TimelinePeriod("2026-03-01", "2026-03-07", {"learned": 2, "forgotten": 1})]
    memory_pictures.draw_timeline(periods, lives, _WORDS, tmp_path / "lives.svg")
    memory_pictures.draw_timeline(periods, [], _WORDS, tmp_path / "none.png")
    assert (tmp_path / "none.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "lives.svg").stat().st_size > 1000


def test_without_the_libraries_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the extra that has them."""
    for missing in ("matplotlib.figure", "networkx"):
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(ConfigError, match=r"kenobot\[plots\]"):
            memory_pictures.draw_graph(_GRAPH, _WORDS, tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()
