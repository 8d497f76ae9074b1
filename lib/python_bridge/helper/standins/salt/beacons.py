"""Beacons of Salt, of which plugins import names."""
