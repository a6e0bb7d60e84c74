"""Read memory for a prompt: its sections, its updates, and a search for the message."""
