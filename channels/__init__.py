"""Places where people talk to the bot."""
