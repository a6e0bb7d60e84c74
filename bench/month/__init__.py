"""A scripted month in the life of a KenoBot: what it was told, and whether in the end it knows what it should."""
