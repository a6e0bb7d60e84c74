"""Draw memory as pictures: a graph of whom and what it is about, and a timeline of how memories came and went."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from kenobot.cli.pictures import plots
from kenobot.ports.browsing import Graph, GraphNode, Happening, TimelinePeriod
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass

MOST_NODES: Final = 120
"""Nodes whose labels can be read on one picture."""

_SEED: Final = 7
_LABEL: Final = 34  # characters of a label in the graph
_TEXT: Final = 54  # characters of a memory beside its line
_DOTS: Final = 120
_KINDS: Final = {"subject": plots.ACCENT, "topic": plots.WARM, "memory": plots.QUIET}
_COLOURS: Final[Mapping[Happening, str]] = {
    "learned": plots.ACCENT,
    "confirmed": "#5eaaa2",
    "replaced": plots.WARM,
    "faded": plots.QUIET,
    "forgotten": plots.BAD,
    "undone": plots.INK,
}


@dataclass(frozen=True, slots=True)
class Lifeline:
    """The life of a memory. end: None while it is remembered. marks: moments and what happened then."""

    text: str
    begin: datetime
    end: datetime | None
    marks: Sequence[tuple[datetime, Happening]]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a picture, in one language. happenings, kinds: of the legends. owner: how the owner is called."""

    title: str
    happenings: Mapping[Happening, str]
    kinds: Mapping[str, str]
    owner: str


def draw_graph(graph: Graph, words: Words, file: Path) -> None:
    """Draw a graph into a file. Raises ConfigError when nothing here can draw, or it cannot be written."""
    figure = plots.figure(11, 7.5)
    places = _place(graph)
    axes = figure.add_subplot()
    axes.set_axis_off()
    _write_title(axes, words.title)
    for edge in graph.edges:
        (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
        axes.plot((x1, x2), (y1, y2), color=plots.LINE, linewidth=1.1, zorder=1)
    for kind, colour in _KINDS.items():
        nodes = [node for node in graph.nodes if node.kind == kind]
        if nodes:
            xs, ys = zip(*(places[node.id] for node in nodes), strict=True)
            sizes = [_size(node) for node in nodes]
            axes.scatter(
                xs, ys, s=sizes, color=colour, edgecolor="white", linewidth=1, zorder=2, label=words.kinds[kind]
            )
    for node in graph.nodes:
        x, y = places[node.id]
        label = words.owner if node.id == "subject:owner" else _shorten(node.label, _LABEL)
        weight = "bold" if node.kind == "subject" else "normal"
        drawn = axes.annotate(
            label,
            (x, y),
            xytext=(_size(node) ** 0.5 / 2 + 3, 0),
            textcoords="offset points",
            fontsize=9,
            color=plots.INK,
            va="center",
            weight=weight,
            zorder=3,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.4},
        )
        drawn.set_parse_math(False)
    axes.margins(0.18, 0.08)
    axes.legend(loc="lower left", frameon=False, fontsize=9, labelcolor=plots.MUTED, markerscale=0.7)
    plots.save(figure, file, _DOTS)


def draw_timeline(periods: Sequence[TimelinePeriod], lives: Sequence[Lifeline], words: Words, file: Path) -> None:
    """Draw what happened by period above the lines of some memories. Raises ConfigError as `draw_graph` does."""
    rows = max(1, len(lives))
    figure = plots.figure(11, 2.6 + 0.34 * rows)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.0, 0.34 * rows + 0.4])
    _draw_counts(above, periods, words)
    _draw_lives(below, lives)
    plots.set_days(below)
    plots.save(figure, file, _DOTS)


def _draw_counts(axes: Any, periods: Sequence[TimelinePeriod], words: Words) -> None:
    """Draw what was learned and confirmed upwards, and what ended downwards."""
    plots.set_quiet(axes)
    _write_title(axes, words.title)
    days = [date.fromisoformat(each.first) for each in periods]
    middles = [
        datetime.combine(day, datetime.min.time()) + (date.fromisoformat(each.last) - day + timedelta(days=1)) / 2
        for day, each in zip(days, periods, strict=True)
    ]
    widths = [0.8 * ((date.fromisoformat(each.last) - day).days + 1) for day, each in zip(days, periods, strict=True)]
    up, down = [0] * len(periods), [0] * len(periods)
    for name, colour in _COLOURS.items():
        counts = [each.counts.get(name, 0) for each in periods]
        if not any(counts):
            continue
        is_up = name in ("learned", "confirmed")
        bottoms = up if is_up else [-value for value in down]
        heights = counts if is_up else [-count for count in counts]
        axes.bar(middles, heights, widths, bottom=bottoms, color=colour, label=words.happenings[name])
        totals = up if is_up else down
        totals[:] = [total + count for total, count in zip(totals, counts, strict=True)]
    axes.axhline(0, color=plots.LINE, linewidth=1)
    plots.set_counts(axes)
    if periods:
        axes.legend(loc="upper center", ncols=6, frameon=False, fontsize=9, labelcolor=plots.MUTED)
        highest, lowest = max(up), max(down)
        axes.set_ylim(-1.2 * lowest - 0.1 * highest, 1.4 * highest + 0.5)


def _draw_lives(axes: Any, lives: Sequence[Lifeline]) -> None:
    """Draw a line for each memory, from its making to its end, with what happened to it."""
    plots.set_quiet(axes)
    axes.set_yticks(range(len(lives)), ["" for _ in lives])
    axes.set_ylim(len(lives) - 0.4, -0.6)
    latest = max((moment for life in lives for moment in (life.begin, *(at for at, _ in life.marks))), default=None)
    for row, life in enumerate(lives):
        end = life.end or latest or life.begin
        colour = plots.ACCENT if life.end is None else plots.QUIET
        axes.plot((life.begin, end), (row, row), color=colour, linewidth=2.2, alpha=0.55, solid_capstyle="round")
        for moment, name in life.marks:
            axes.plot([moment], [row], "o", markersize=6, color=_COLOURS[name])
        drawn = axes.annotate(
            _shorten(life.text, _TEXT),
            (0, row),
            xycoords=("axes fraction", "data"),
            xytext=(-8, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=9,
            color=plots.INK if life.end is None else plots.MUTED,
        )
        drawn.set_parse_math(False)


def _place(graph: Graph) -> dict[str, tuple[float, float]]:
    """Return the place of each node: those that hang together are near each other."""
    try:
        import networkx
    except ImportError as error:
        raise ConfigError("plots.no_library", library="networkx") from error
    drawn = networkx.Graph()
    drawn.add_nodes_from(node.id for node in graph.nodes)
    drawn.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    found = networkx.spring_layout(drawn, seed=_SEED, k=2.2 / max(1, len(graph.nodes)) ** 0.5, iterations=200)
    return {name: (float(x), float(y)) for name, (x, y) in found.items()}


def _size(node: GraphNode) -> float:
    return 40.0 if node.kind == "memory" else min(900.0, 90 + 45 * node.weight)


def _write_title(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=12, color=plots.INK, loc="left", pad=10).set_parse_math(False)


def _shorten(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
