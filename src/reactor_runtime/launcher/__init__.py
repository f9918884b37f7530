"""One distributed job over several nodes: planned, started by torchrun, watched."""
