"""Libraries that Salt brought along until 3006."""
