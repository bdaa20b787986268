"""`lci pick`: search while typing, on a terminal.

`run` opens the index, and opens or prints the selection. `screen` draws with prompt_toolkit and turns keys into calls
of `state`, which does not depend on a terminal. `worker` runs queries in a thread. `questions` defines the queries.
`preview` colours code.
"""
