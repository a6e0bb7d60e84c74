"""The Markdown mirror: files that show what is remembered, and that a person may edit in any editor."""
