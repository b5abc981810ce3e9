"""The local page: one job with live controls, in a browser on the same machine."""
