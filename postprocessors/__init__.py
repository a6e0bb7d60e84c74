"""What happens with a reply between the model and the person."""
