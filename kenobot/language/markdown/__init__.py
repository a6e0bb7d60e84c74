"""Lay memory out in Markdown, and read back what people made of it. Pure."""
