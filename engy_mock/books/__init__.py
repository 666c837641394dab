"""What the service remembers: accounts and their holds, and the journal."""
