"""The REST API: conversations, memory, recall and the bot's own state for programs, behind keys."""
