"""`lci pick`: search as one types, on a terminal.

`run` opens the index and does what was chosen. `screen` draws with prompt_toolkit and turns keys into calls of `state`,
which knows nothing of terminals. `worker` asks the engine in one thread, and `questions` says what. `preview` colours
code, and `editors` knows how each editor is told a line.
"""
