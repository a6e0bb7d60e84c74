"""Pictures that commands draw, by libraries of the extra `plots`."""
