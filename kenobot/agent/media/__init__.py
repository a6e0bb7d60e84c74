"""Attachments of messages: fetch their bytes, read what is in them, and say in words what they are."""
