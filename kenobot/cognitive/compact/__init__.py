"""Compaction: what a prompt no longer shows of a conversation becomes a summary, and what that lost is looked for."""
