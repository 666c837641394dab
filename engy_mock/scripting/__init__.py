"""What a test dictates: matchers, rules, scenario files and faults."""
