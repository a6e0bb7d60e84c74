"""Models that are asked for one kind of judgement beside the replies, each with rules to fall back on."""
