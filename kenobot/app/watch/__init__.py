"""The bot watches over itself: how it is, why, and where it stands when it stands still."""
