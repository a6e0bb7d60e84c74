"""What words are, in every script: the ground on which memory compares and finds texts."""
