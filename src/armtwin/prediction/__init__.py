"""Will the seam hold: path error, verdict, and the same beside a logged run."""
