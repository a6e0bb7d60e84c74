"""Sum up a conversation by rules, and check what a summary lost. Pure."""
