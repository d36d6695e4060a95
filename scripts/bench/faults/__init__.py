"""Faults under load, and the inspection of everything that must hold afterwards."""
