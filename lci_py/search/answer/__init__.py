"""From ranked units to the results of an answer."""
