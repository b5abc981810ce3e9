"""What a prediction still lacks after import or identification, filled by named rules."""
