"""Measure the product for its owner: recall, lifecycle, the demo."""
