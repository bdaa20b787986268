(directive) @condition
