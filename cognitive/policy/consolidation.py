"""Numbers of joining what belongs together while asleep: duplicates, contradictions, entities, profile, themes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MergePolicy:
    """Numbers are the seeds' where a seed has one. What two records must have in common is a nearness, 0 to 1.

    duplicate: from which they may be one. bullets: share of the words of two lines of MEMORY.md above which they may be
    one. theme: from which beliefs belong to one theme. Looking for such pairs: rarest: words of a record that are
    followed; listed: records under a word that is followed; common: of a record that has no rarer word, the newest so
    many; compared: records that each is compared with; measured: records that somebody who tells nearness by meaning is
    asked about in a night, those that changed last.
    Asking: batch: pairs in one question to a model; asked: pairs in a night.
    profile_least: fragments that make a profile; profile_read: the most that are read; profile_lines: lines of it.
    cluster_least, cluster_most, clusters: beliefs of one theme, and themes in a night. meta_confidence, meta_stability:
    of what is concluded from them. names: near names that are laid before the owner in a night; name_least: letters of
    a name in which one may be mistaken.
    """

    duplicate: float = 0.85
    bullets: float = 0.70
    theme: float = 0.60
    rarest: int = 6
    listed: int = 32
    common: int = 128
    compared: int = 12
    measured: int = 2000
    batch: int = 20
    asked: int = 200
    profile_least: int = 3
    profile_read: int = 200
    profile_lines: int = 40
    cluster_least: int = 3
    cluster_most: int = 12
    clusters: int = 5
    meta_confidence: float = 0.8
    meta_stability: float = 3.0
    names: int = 3
    name_least: int = 5
