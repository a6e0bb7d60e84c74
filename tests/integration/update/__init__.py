"""`kenobot update` with real wheels, environments and processes."""
