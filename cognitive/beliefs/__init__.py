"""What a memory is worth: lifecycle, value, salience, links."""
