"""Files that many records share: daily logs, MEMORY.md, preferences, pages of entities."""
