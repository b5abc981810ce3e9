"""From logs to a robot: fitting/ knows no robot, every other folder is one experiment."""
