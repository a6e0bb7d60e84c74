"""Draw memory as a graph: whom and what memories are about, and how they hang together.

Topics are the tags of memories and the named topics of the boxes they lie in; one that is called as a subject is that
subject, and the category of a memory is none. The newest memories are read, up to a
bound, and of the nodes the heaviest are kept, so that any home is drawn in the time of ten thousand memories.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from kenobot.cognitive.control.graph_rows import GraphLink, GraphRecord, links_among, newest_records
from kenobot.cognitive.store.boxes import parse_topics
from kenobot.ports.browsing import Graph, GraphDetail, GraphEdge, GraphNode, NodeKind
from kenobot.ports.records import MARKS
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

MOST_MEMORIES = 10_000
_LONGEST_LABEL = 80
_CLASS = ":"  # in a tag such as error:external, which classifies a memory and is no topic

_Node = tuple[NodeKind, str]
_Edges = Counter[tuple[str, str, str]]


def build_graph(
    connection: Connection,
    reach: Scopes,
    detail: GraphDetail,
    most_nodes: int,
    *,
    subject: str = "",
    with_edges: bool = True,
) -> Graph:
    """Build the graph of the newest memories. subject: only of memories about it. most_nodes: the heaviest are kept."""
    rows = newest_records(connection, reach, MOST_MEMORIES, subject, _LONGEST_LABEL if detail == "memories" else 0)
    links = links_among(connection, [row.id for row in rows], into_boxes_alone=not with_edges)
    subjects = {row.subject for row in rows}
    topics = _find_topics(rows, links, subjects)
    nodes, edges = Counter[_Node](), _Edges()
    labels = {str(row.id): row.text for row in rows}
    for row in rows:
        nodes["subject", row.subject] += 1
        nodes.update(topics[row.id])
    if detail == "memories":
        nodes.update({("memory", str(row.id)): 1 for row in rows})
    if with_edges:
        iterate = _iterate_memory_edges if detail == "memories" else _iterate_topic_edges
        edges.update(iterate(rows, links, topics))
    kept = [key for key, _ in nodes.most_common(most_nodes)]
    shown = {_id(*key) for key in kept}
    return Graph(
        tuple(
            GraphNode(_id(kind, name), kind, labels[name] if kind == "memory" else name, nodes[kind, name])
            for kind, name in kept
        ),
        tuple(
            GraphEdge(source, target, kind, count)
            for (source, target, kind), count in edges.items()
            if source in shown and target in shown
        ),
        len(rows),
        len(nodes) - len(kept),
    )


def _find_topics(
    rows: Sequence[GraphRecord], links: Sequence[GraphLink], subjects: Collection[str]
) -> dict[int, frozenset[_Node]]:
    """Find what each memory is about beside its subject, by its number."""
    read = {tags: _read_tags(tags) for tags in {row.tags for row in rows}}  # many have the same
    found = {row.id: set(read[row.tags]) for row in rows}
    for link in links:
        topics, named = parse_topics(link.why) if link.type == "member" else ((), False)
        if named:
            found[link.src].update(topics)
    return {
        row.id: frozenset(
            ("subject" if name in subjects else "topic", name)
            for name in found[row.id]
            if name not in (row.subject, row.category)
        )
        for row in rows
    }


def _read_tags(stored: str) -> frozenset[str]:
    """Read the tags of a memory that are topics."""
    tags = json.loads(stored)
    named = map(str, tags) if isinstance(tags, list) else ()
    return frozenset(tag for tag in named if tag not in MARKS and _CLASS not in tag)


def _iterate_memory_edges(
    rows: Sequence[GraphRecord], links: Sequence[GraphLink], topics: Mapping[int, frozenset[_Node]]
) -> Iterable[tuple[str, str, str]]:
    """Yield the edges of memories: to whom and what they are about, and to each other."""
    known = {row.id for row in rows}
    for row in rows:
        memory = _id("memory", str(row.id))
        yield memory, _id("subject", row.subject), "about"
        yield from ((memory, _id(*node), "topic") for node in topics[row.id])
    for link in links:
        if link.src in known and link.dst in known:
            yield _id("memory", str(link.src)), _id("memory", str(link.dst)), link.type


def _iterate_topic_edges(
    rows: Sequence[GraphRecord], links: Sequence[GraphLink], topics: Mapping[int, frozenset[_Node]]
) -> Iterable[tuple[str, str, str]]:
    """Yield the edges of subjects: to the topics of their memories, and to subjects whose memories are linked."""
    subjects = {row.id: _id("subject", row.subject) for row in rows}
    for row in rows:
        yield from ((subjects[row.id], _id(*node), "topic") for node in topics[row.id])
    for link in links:
        one, other = subjects.get(link.src), subjects.get(link.dst)
        if one is not None and other is not None and one != other:
            yield min(one, other), max(one, other), "linked"


def _id(kind: NodeKind, name: str) -> str:
    return f"{kind}:{name}"
