"""Search memory for a message: select, rank and filter records and turns, and estimate the confidence of the answer."""
