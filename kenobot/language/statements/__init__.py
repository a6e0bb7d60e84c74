"""Take a statement apart: its core, attribute and kind, its relation to another, and whether it is worth a note."""
