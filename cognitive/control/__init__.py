"""What a person does to memory: find, explain, undo, forget, purge, react, export."""
