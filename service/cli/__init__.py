"""The command `tavolata`: one module a command, put together in `main`."""
