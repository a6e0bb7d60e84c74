"""Read the identity of the bot and its rules: files that belong to people, read and never written over."""
