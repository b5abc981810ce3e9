"""The command line: the only room that prints, reads arguments or exits."""
