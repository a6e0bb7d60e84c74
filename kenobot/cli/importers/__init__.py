"""Memory from elsewhere: reads the Markdown homes of other agents, and takes in what they remember, by `admit`."""
