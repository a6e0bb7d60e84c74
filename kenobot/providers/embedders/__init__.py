"""Models that place texts by their meaning: in this process, or behind HTTP."""
