"""What the journal says about the client under test."""
