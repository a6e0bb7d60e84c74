"""Remember: take candidates in by `admit`, from tags, commands and facts extracted from conversations."""
