"""What a cheap model is asked beside the replies: requests, and answers read strictly."""
