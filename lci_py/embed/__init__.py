"""Turn text into vectors, with the model in the package or another one."""
