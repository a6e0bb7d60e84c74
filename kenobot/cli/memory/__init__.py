"""`kenobot memory`: search, inspect and edit memory, and move it."""
