"""Measure recall through the product's own calls: `kenobot bench recall` and `bench lifecycle`."""
