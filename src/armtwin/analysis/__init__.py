"""What acts in the equations of motion: torque shares, coupling, inertia, sensitivity."""
