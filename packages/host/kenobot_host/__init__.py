"""Host the bots of many owners: PostgreSQL keeps what they know, and workers answer from local copies."""
