"""Measure recall through the product's own doors: `kenobot bench recall` and `bench lifecycle`."""
