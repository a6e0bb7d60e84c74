"""The side index over texts: postings, documents, conversation, merging."""
