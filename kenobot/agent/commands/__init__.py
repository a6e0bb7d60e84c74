"""Commands that a person gives in chat, with a slash or in plain words."""
