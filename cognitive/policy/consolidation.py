"""Numbers of joining what belongs together while asleep: duplicates, contradictions, entities, profile, themes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsolidationPolicy:
    """Numbers are the seeds' where a seed has one. What two records must have in common is a nearness, 0 to 1.

    duplicate_from: from which they may be one. same_line_above: share of the words of two lines of MEMORY.md above
    which they may be
    one. theme_from: from which beliefs belong to one theme. Looking for such pairs: max_rare_words: words of a record
    that are
    followed; max_listed: records under a word that is followed; max_common: of a record that has no rarer word, the
    newest so
    many; max_compared: records that each is compared with; max_measured: records that somebody who tells nearness by
    meaning is asked about in a night, those that changed last.
    Asking: batch: pairs in one question to a model; max_pairs_asked: pairs in a night.
    min_profile_fragments: fragments that make a profile; max_profile_fragments: the most that are read;
    max_profile_lines: lines of it.
    min_cluster, max_cluster, max_clusters: beliefs of one theme, and themes in a night. meta_confidence,
    meta_stability:
    of what is concluded from them. max_near_names: near names that are laid before the owner in a night;
    min_name_letters: letters of a name in which one may be mistaken.
    """

    duplicate_from: float = 0.85
    same_line_above: float = 0.70
    theme_from: float = 0.60
    max_rare_words: int = 6
    max_listed: int = 32
    max_common: int = 128
    max_compared: int = 12
    max_measured: int = 2000
    batch: int = 20
    max_pairs_asked: int = 200
    min_profile_fragments: int = 3
    max_profile_fragments: int = 200
    max_profile_lines: int = 40
    min_cluster: int = 3
    max_cluster: int = 12
    max_clusters: int = 5
    meta_confidence: float = 0.8
    meta_stability: float = 3.0
    max_near_names: int = 3
    min_name_letters: int = 5
