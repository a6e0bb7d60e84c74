"""Prints the names of the passes of a night, for `test_passes`."""

from kenobot.cognitive.background.sleep import NIGHT

print(" ".join(one.name for one in NIGHT))
