"""The agent: from a stored message to a stored reply, and the work behind it."""
