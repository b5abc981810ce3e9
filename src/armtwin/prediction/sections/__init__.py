"""What a prediction shows of itself, part by part."""
