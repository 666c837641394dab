"""Whether a server does what the mock does: the same requests to both, compared by shape."""
