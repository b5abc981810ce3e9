"""What is handed on: result.json, log.csv, in a folder that is whole or not there."""
