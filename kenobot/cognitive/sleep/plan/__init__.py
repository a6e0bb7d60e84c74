"""The plan of a night: passes, changes, and the rows that hold them."""
