"""Improvement: lessons from errors, and what the bot would change about itself, proposed to the owner."""
