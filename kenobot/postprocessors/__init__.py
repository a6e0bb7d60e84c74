"""Post-processors: from the model's reply to the text for the person."""
