"""Work between turns: extraction, compaction, sleep, purge, proposals."""
