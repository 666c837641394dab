"""What every room of the house speaks: requests, events, wire steps, errors, seeds and the clock."""
