"""Who the bot is and how it should behave: files that belong to people, read and never written over."""
