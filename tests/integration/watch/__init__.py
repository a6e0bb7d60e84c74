"""The bot watches over itself."""
