"""Channels: the terminal and Telegram."""
