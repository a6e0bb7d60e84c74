"""What texts mean, as far as there are vectors of them: kept, compared, and never the truth."""
