"""Values without behaviour, which flow between the parts."""
