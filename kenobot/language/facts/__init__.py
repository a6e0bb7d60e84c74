"""Read the facts in a message by rules, and parse those that a model extracted."""
