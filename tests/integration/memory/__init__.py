"""Memory through whole conversations."""
