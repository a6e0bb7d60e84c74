"""Improvement: lessons from errors, and what the bot would change about itself, laid before the owner."""
