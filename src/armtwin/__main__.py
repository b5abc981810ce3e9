"""`python -m armtwin` is the command `armtwin`."""

from armtwin.app.commands import main

main()
