"""What is tried before a release, and the list of it: `python -m release`."""
