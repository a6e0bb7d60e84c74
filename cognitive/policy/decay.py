"""Thresholds of making weeks of days and lessons of weeks, and of keeping MEMORY.md lean."""

from dataclasses import dataclass


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
