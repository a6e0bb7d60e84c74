"""Files of one record each, with front matter."""
