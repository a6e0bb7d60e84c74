"""Prints the names of the passes of a night, for `test_passes`."""

from kenobot.cognitive.sleep.night import NIGHT

print(" ".join(one.name for one in NIGHT))
