"""Thresholds of joining duplicates, contradictions, entities, profile and themes in sleep."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsolidationPolicy:
    """Similarities and confidences are 0 to 1."""

    duplicate_from: float = 0.85  # similarity of two records that may be one
    same_line_above: float = 0.70  # share of words in common of two lines of MEMORY.md that may be one
    theme_from: float = 0.60  # similarity of beliefs of one theme
    max_rare_words: int = 6  # words of a record whose other records are compared
    max_listed: int = 32  # records under one such word
    max_common: int = 128  # newest records compared for one without rarer words
    max_compared: int = 12  # records that each is compared with
    max_measured: int = 2000  # records, last changed first, whose vectors are compared in a night
    batch: int = 20  # pairs in one question to a model
    max_pairs_asked: int = 200  # in a night
    min_profile_fragments: int = 3  # that make a profile
    max_profile_fragments: int = 200  # read for a profile
    max_profile_lines: int = 40
    min_cluster: int = 3  # beliefs of one theme
    max_cluster: int = 12  # beliefs of one theme
    max_clusters: int = 5  # themes in a night
    meta_confidence: float = 0.8  # of a conclusion from a theme
    meta_stability: float = 3.0  # of a conclusion from a theme
    max_near_names: int = 3  # near names proposed to the owner in a night
    min_name_letters: int = 5  # letters of a name in which one may be mistaken
