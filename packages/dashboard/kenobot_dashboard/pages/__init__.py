"""The pages of the dashboard: each a package with its router, its templates and its texts."""
