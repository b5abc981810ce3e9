"""From tests of a hydraulic actuator to its oil, valve and flow."""
