"""How the service speaks: each dialect parses calls into requests and turns events into bytes."""
