"""Tell the words that say when from those of what is to be done then, which may name times as well."""

from collections.abc import Callable, Sequence

from kenobot.core import lazy
from kenobot.language.when.pieces import Pieces, Span
from kenobot.language.when.roles import find_cue

Cluster = list[Span]


def select_pieces(pieces: Pieces) -> None:
    """Leave out the pieces of what is to be done: "remind me tomorrow to buy tickets for Friday"."""
    clusters = group_spans(pieces.plain, pieces.spans())
    if len(clusters) < 2:
        return
    kept = _before_clause(pieces.plain, clusters)
    spans = [(piece.start, piece.end) for piece in pieces.repeats]
    repeated = [each for each in kept if any(_select_within(each, span) for span in spans)]
    for kind in (pieces.repeats, pieces.days, pieces.clocks):
        of_kind = [each for each in kept if any(_select_within(each, (piece.start, piece.end)) for piece in kind)]
        if kind is pieces.days and pieces.repeats:
            meant = [each for each in of_kind if not _is_of_thing(pieces.plain, each) or each in repeated]
            kept = [each for each in kept if each not in of_kind or each in meant]
            continue
        if len(of_kind) > 1:
            meant = _choose(pieces.plain, of_kind)
            if kind is pieces.clocks and _leaves_out_day(pieces, of_kind, meant):
                continue  # "the train is on Friday at 6, wake me at 4"
            kept = [each for each in kept if each not in of_kind or each in meant]
    kept = _without_thing_clocks(pieces, kept)
    _keep(pieces, lambda span: any(_select_within(cluster, span) for cluster in kept))


def group_spans(plain: str, spans: Sequence[Span]) -> list[Cluster]:
    """Group the pieces that only small words stand between."""
    clusters: list[Cluster] = []
    for span in spans:
        last = max(end for _, end in clusters[-1]) if clusters else 0
        if clusters and (span[0] <= last or GAP.fullmatch(plain, last, span[0])):
            clusters[-1].append(span)
        else:
            clusters.append([span])
    return clusters


def _before_clause(plain: str, clusters: list[Cluster]) -> list[Cluster]:
    """Return the clusters before the clause that is to be said: "recuérdame a las 9 que mañana tengo dentista"."""
    for place in range(1, len(clusters)):
        start = clusters[place - 1][-1][1]
        if _CLAUSE.search(plain, start, clusters[place][0][0]) and _HEAD.fullmatch(plain, 0, clusters[0][0][0]):
            return clusters[:place]
    return clusters


def _choose(plain: str, clusters: list[Cluster]) -> list[Cluster]:
    """Return the one of several clusters that says when; all of them where that is not known."""
    asked = [each for each in clusters if _ASKED.search(plain, 0, each[0][0])]
    if len(asked) == 1:
        return asked
    free = [each for each in clusters if not _is_of_thing(plain, each)]
    if len(free) == 1:
        return free
    first = clusters[0]
    return [first] if first in free and _HEAD.fullmatch(plain, 0, first[0][0]) else clusters


def _leaves_out_day(pieces: Pieces, clusters: list[Cluster], meant: list[Cluster]) -> bool:
    with_day = [each for each in clusters if any(_select_within(each, (day.start, day.end)) for day in pieces.days)]
    return bool(with_day) and not any(each in with_day for each in meant)


def _without_thing_clocks(pieces: Pieces, clusters: list[Cluster]) -> list[Cluster]:
    """Leave out the hour of a thing that is asked for on a day: "remind me on Friday about the 3pm train"."""
    asked = [each for each in clusters if _ASKED.search(pieces.plain, 0, each[0][0])]
    if len(asked) != 1 or not any(_select_within(asked[0], (day.start, day.end)) for day in pieces.days):
        return clusters
    if any(_select_within(asked[0], (clock.start, clock.end)) for clock in pieces.clocks):
        return clusters
    return [each for each in clusters if each in asked or not _is_of_thing(pieces.plain, each)]


def _is_of_thing(plain: str, cluster: Cluster) -> bool:
    """Return whether a cluster tells which thing is meant: "the meeting of Friday", "la reunión del lunes"."""
    start, end = cluster[0]
    if find_cue(plain, start, end):
        return False
    return _OF_THING.search(plain[:start] + plain[start:end][:4]) is not None or plain.startswith("'s ", end)


def _select_within(cluster: Cluster, span: Span) -> bool:
    return cluster[0][0] <= span[0] and span[1] <= max(end for _, end in cluster)


def _keep(pieces: Pieces, kept: Callable[[Span], bool]) -> None:
    pieces.repeats = [piece for piece in pieces.repeats if kept((piece.start, piece.end))]
    pieces.clocks = [piece for piece in pieces.clocks if kept((piece.start, piece.end))]
    pieces.parts = [piece for piece in pieces.parts if kept((piece.start, piece.end))]
    pieces.days = [piece for piece in pieces.days if kept((piece.start, piece.end))]
    pieces.durations = [piece for piece in pieces.durations if kept((piece.start, piece.end))]
    pieces.hours = [piece for piece in pieces.hours if kept((piece.start, piece.end))]


_LINK = r"(?:y|and|o|or|at|on|by|in|from|for|the|a|el|la|los|las|al|de|del|en|por|para|of|this|u|into)"
GAP = lazy.regex(rf"[\s,;:()-]*(?:{_LINK}[\s,;:()-]+)*(?:{_LINK})?[\s,;:()-]*")
"""What stands between two pieces of one cluster."""
_CLAUSE = lazy.regex(r"(?<!\w)(?:que(?! viene)|that)(?!\w)|: ")
_HEAD = lazy.regex(r"\W*(?:[\w']+\W+){0,4}")
_ASKED = lazy.regex(
    r"(?<!\w)(?:(?:remind|ping|nudge|tell|wake|alert|notify) me|re?mi?nd me|set (?:a|an) (?:reminder|alarm)(?: for)?"
    r"|reminder (?:for|at|on)|(?:recuerda|recorda|acorda|avisa|despierta|haz|pon)(?:me|melo|mela|nos)"
    r"|recordatorio|aviso)(?:(?: me)?(?: again)? (?:at|on|in|for|a|al|el|la|las|los|para))*[ ,:]*\Z"
)
_OF_THING = lazy.regex(r"(?<!\w)(?:of|about|for|de|del|sobre|para|pal)(?: (?:el|la|the|my|mi|l))?(?: ?\w{0,4})?\Z")
