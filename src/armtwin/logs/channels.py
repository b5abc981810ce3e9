"""The channels of a log: their names, what machines call them, how large numbers may be."""

CHANNELS = {
    "q": "joint position [rad]",
    "v": "joint speed [rad/s]",
    "a": "joint acceleration [rad/s²]",
    "tau": "joint torque [N m]",
    "tau_m": "motor torque [N m]",
    "tau_ff": "fed-forward joint torque [N m]",
    "tau_m_ff": "fed-forward motor torque [N m]",
    "current": "motor current [A]",
    "q_m": "motor position [rad]",
    "q_ref": "reference position [rad]",
    "v_ref": "reference speed [rad/s]",
    "a_ref": "reference acceleration [rad/s²]",
    "q_link": "link-side position [rad]",
    "tau_friction": "friction torque [N m]",
    "temperature": "temperature [K]",
    "tool": "measured tool point in its instrument's frame [m]",
    "tool_rotation": "measured rotation vector of the tool in that frame [rad]",
}
ALIASES = {
    "dq": "v",
    "ddq": "a",
    "taum": "tau_m",
    "tauff": "tau_ff",
    "taumff": "tau_m_ff",
    "qm": "q_m",
    "qs": "q_link",
    "qref": "q_ref",
    "dqref": "v_ref",
    "ddqref": "a_ref",
    "qd": "v",
    "qdd": "a",
}
OF_DRIVES = ("tau_m", "tau_m_ff", "current", "q_m")  # one column for a drive, not for a joint
SINGLE = ("q_link", "temperature")  # of sensors that some joints have
TORQUES = ("tau_m", "tau", "current")  # channels that may carry a suffix: current_des is a current

# what files call the time, in any letters
TIMES = ("time", "t", "times", "timestamp", "zeit", "__time", "%time")

LARGEST = 1e20  # magnitude of a number of a log; products of larger ones have no end
SHORTEST_STEP = 1e-12  # of time [s]


def channel_kind(name: str) -> str | None:
    """The channel that a name means: itself, of a torque with a suffix the torque, or None."""
    if name in CHANNELS:
        return name
    for torque in TORQUES:
        if name.startswith(f"{torque}_"):
            return torque
    return None


def is_time(name: str) -> bool:
    """Whether a name is one that files give the time."""
    return name.lower() in TIMES


def channel_label(name: str) -> str:
    """What a channel is, with its unit in brackets."""
    return CHANNELS[channel_kind(name) or name]


def channel_unit(name: str) -> str:
    """SI unit of a channel, or of time, as quantities are written."""
    if name == "time":
        return "s"
    return channel_label(name).partition("[")[2].rstrip("]").replace("²", "^2")
