"""`lci pick`: search while typing, on a terminal.

`run` opens the index and opens or prints the selection. `screen` draws with prompt_toolkit and turns keys into calls of
`state`, which knows nothing of terminals. `worker` runs queries in one thread, and `questions` defines them. `preview`
colours code.
"""
