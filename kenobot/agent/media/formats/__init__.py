"""Readers of documents, one format a module. They run in the process of `read_document.py`."""
