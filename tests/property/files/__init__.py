"""Properties of memory's files: edits in, writes out."""
