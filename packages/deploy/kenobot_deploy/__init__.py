"""KenoBot as a service of systemd, and its updates."""
