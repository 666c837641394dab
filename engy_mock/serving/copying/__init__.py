"""An exchange of the journal in forms that can be pasted elsewhere: a command, a test, a scenario."""
