"""Value, lifecycle and links of memories."""
