"""Numbers of how days become weeks, weeks lessons, and how lean MEMORY.md stays."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DecayPolicy:
    """week_chars: characters of a week's summary; line_chars: of one of its lines, min_line_chars: when there are
    very many.

    model_from_facts: facts of a week from which a model is asked to sum it up; max_facts_shown: as many as it is
    shown; max_summary_chars: characters that it may take. max_lessons: what
    one week may hand on to MEMORY.md. lasting_from_mentions: as often said as makes a thing lasting.
    topic_file_from_facts: facts of one topic from which they get a ref file of their own.

    lean_core_chars: characters of MEMORY.md above which stable facts leave it. min_group_facts: facts about one thing
    that may leave together; settled_days: as long as a fact has to have been there unchanged before it may.
    """

    week_chars: int = 8_000
    line_chars: int = 160
    min_line_chars: int = 60
    model_from_facts: int = 6
    max_facts_shown: int = 200
    max_summary_chars: int = 3_000
    max_lessons: int = 12
    lasting_from_mentions: int = 3
    topic_file_from_facts: int = 3
    lean_core_chars: int = 6_000
    min_group_facts: int = 3
    settled_days: int = 14
