"""KenoBot: a personal agent that lives in your chats and remembers."""

__version__ = "0.1.0"
