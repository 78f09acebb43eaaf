"""The `strandline` command, one file per group of commands."""
