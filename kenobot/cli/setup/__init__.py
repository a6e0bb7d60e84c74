"""`kenobot setup`: ask, try out, write."""
