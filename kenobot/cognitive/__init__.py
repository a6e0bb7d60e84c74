"""Memory: what is kept, recalled, mirrored as Markdown, and who the bot is."""
