"""Skills: folders with a SKILL.md that tells a model how to do something, each trusted by its owner or unread."""
