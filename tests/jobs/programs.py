"""Jobs that are programs, for tests: two seams with a plunge, a zone, a joint move and an arc."""

TWO_SEAMS = """
format = 1
robot = "rx90b"
tool = "laser_head"
speed = "100 mm/s"
tolerance = { lateral = "0.4 mm", vertical = "0.4 mm" }
start = ["-60 mm", "0 mm", "30 mm"]
[workpiece]
position = ["575 mm", "0 mm", "50 mm"]
orientation = { rpy = ["0 deg", "0 deg", "-45 deg"] }
[orientation]
tool = { rpy = ["180 deg", "0 deg", "225 deg"] }
[time_law]
kind = "look_ahead"
acceleration = "2 m/s^2"
jerk = "40 m/s^3"
[standstill]
before = "0.5 s"
after = "0.3 s"
[[segment]]
name = "plunge"
lin = ["-60 mm", "0 mm", "0 mm"]
process = false
line = 3
[[segment]]
name = "a1"
lin = ["0 mm", "0 mm", "0 mm"]
zone = "5 mm"
line = 4
[[segment]]
name = "a2"
lin = ["0 mm", "-60 mm", "0 mm"]
line = 5
[[segment]]
name = "retract"
lin = ["0 mm", "-60 mm", "30 mm"]
process = false
wait = "0.1 s"
line = 6
[[segment]]
name = "air"
ptp = ["50 mm", "-60 mm", "30 mm"]
process = false
joint_speed = "30 %"
line = 7
[[segment]]
name = "plunge 2"
lin = ["50 mm", "-60 mm", "0 mm"]
process = false
line = 8
[[segment]]
name = "b"
circ = { via = ["65 mm", "-30 mm", "0 mm"], to = ["50 mm", "0 mm", "0 mm"] }
line = 9
"""
