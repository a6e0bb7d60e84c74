"""Import memories from the Markdown homes of other agents, by `admit`."""
