"""Thresholds of sleep and of its passes."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SleepPolicy:
    """Thresholds of sleep."""

    due_hours: float = 20.0  # since the last finished night
    hot_days: int = 3  # age at which days become weeks
    warm_days: int = 14  # age at which weeks become lessons
    daily_days: int = 30  # age at which a day's log is archived
    scratchpad_days: int = 7  # age at which a scratchpad expires
    expired: Literal["archive", "delete"] = "archive"  # what becomes of expired files; records only change their status
    large_above_share: float = 0.05  # share of live records whose change by one pass is pointed out
    large_from_records: int = 3  # and how many they must be
    batch: int = 32  # changes of one transaction
    batch_seconds: float = 0.005  # longest transaction; other writers wait as long
    rest_factor: float = 30.0  # pause after a transaction, as a multiple of its time
    max_changes: int = 20_000  # of one pass in a night; the rest comes with the next
    max_attempts: int = 2  # of one question while the model is out of reach
    max_backoff_seconds: float = 120.0
    drain_seconds: float = 900.0  # longest extraction before the night
    begin_seconds: float = 60.0  # from start-up until the first check
    max_reported: int = 20  # changes of a pass in a report
    kept_nights: int = 400  # in the ledger


WEEKLY_LOGS = SleepPolicy(daily_days=4)


@dataclass(frozen=True, slots=True)
class DecayPolicy:
    """Thresholds of making weeks of days and lessons of weeks, and of keeping MEMORY.md lean."""

    week_chars: int = 8_000  # of a week's summary
    line_chars: int = 160  # of one of its lines
    min_line_chars: int = 60  # where there are very many lines
    model_from_facts: int = 6  # facts of a week from which a model summarises it
    max_facts_shown: int = 200  # to that model
    max_summary_chars: int = 3_000  # of its answer
    max_lessons: int = 12  # that one week hands on to MEMORY.md
    lasting_from_mentions: int = 3  # mentions that make a fact lasting
    topic_file_from_facts: int = 3  # facts of one topic that get a ref file of their own
    lean_core_chars: int = 6_000  # size of MEMORY.md above which stable facts leave it
    min_group_facts: int = 3  # facts about one thing that may leave together
    settled_days: int = 14  # without a change before a fact may leave


@dataclass(frozen=True, slots=True)
class ConsolidationPolicy:
    """Thresholds of joining duplicates, contradictions, entities, profile and themes in sleep.

    Similarities and confidences are 0 to 1.
    """

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


@dataclass(frozen=True, slots=True)
class PruningPolicy:
    """Thresholds of pruning memory, of drawing lessons and of learning from its own decisions. Times are days."""

    stale_below: float = 0.10  # effective confidence of a stale belief; below `ValuePolicy.faded_below` it leaves
    archive_days: float = 90.0  # age of a fact that leaves, if
    archive_importance: float = 0.3  # it is no more important
    archive_uses: int = 2  # and was used no more often
    keep_resolved_days: float = 90.0  # that a resolved commitment is kept
    ask_overdue_days: float = 14.0  # that the question about an overdue one stays open
    max_searched: int = 2000  # newest messages and records searched for a commitment's end
    max_core_tokens: int = 2000  # size of MEMORY.md above which what is worth least leaves it
    error_days: float = 1.0  # looked back for errors before the last night
    error_batch: int = 20  # errors in one question
    error_chars: int = 400  # shown of each
    min_error_words: int = 3  # that teach something
    lesson_importance: float = 0.6  # of a lesson
    grave_lesson_importance: float = 0.8  # of a lesson that trying again cannot mend
    telemetry_days: float = 30.0  # of decisions that guidelines are drawn from
    min_decisions: int = 4  # that make a guideline
    sure_from_decisions: int = 8  # that make it sure
    max_lean: float = 0.15  # of a guideline on importance
    ignore_lean_below: float = 0.02  # lean too small for a guideline
    # What one outcome says about proposing the like again, -1 to 1: a failure, a verdict of the policy, a repeat, and
    # what was carried out, by its action.
    outcome_priors: Mapping[str, float] = field(
        default_factory=lambda: {
            "failed": -0.3, "deny": -0.22, "defer": -0.14, "skipped": -0.1, "store_episode": 0.08, "store_note": 0.08,
            "update_note": 0.08, "create_artifact": 0.04, "summarize_node": 0.04, "link_graph": 0.04, "discard": -0.03,
        }
    )  # fmt: skip
    guideline_chars: int = 900  # of all guidelines
    max_identity_bytes: int = 8192  # size of IDENTITY.md above which it is condensed
    grounded_from_share: float = 0.6  # share of a condensed text's words that the old one must hold
    min_length_share: float = 0.05  # share of the old one's length that a condensed text must keep


@dataclass(frozen=True, slots=True)
class ProposalPolicy:
    """Thresholds of making a proposal to the owner."""

    episodes_without_pattern: int = 10  # read in a night without a pattern among them
    expired_scratchpads: int = 5  # in a night
    patterns_pruned: int = 3  # in a night
    many_facts: int = 5  # learned facts that count as much
    few_results: float = 0.1  # share of them in replies that counts as little
    days: int = 30  # that are looked back
    errors: int = 3  # of one kind that are worth a rule
    corrections: int = 3  # of one kind that are worth a rule
    violations: int = 3  # of one rule
    replies: int = 20  # graded replies that suffice to judge
    share: float = 0.3  # of them with one flaw that is worth a proposal
    searches: int = 20  # recalls that suffice to judge
    worked: int = 3  # times that make a pattern worth a skill
    failed_share: float = 0.25  # of its trials, above which it is worth none
    max_pending: int = 20  # proposals that wait; at so many no further ones are made
