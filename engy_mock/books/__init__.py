"""What the service remembers: accounts and their holds, workers and their limits, prompts, and the journal."""
