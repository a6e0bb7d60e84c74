"""Rows of memory that several rooms use: records, events, links, boxes, tiers."""
