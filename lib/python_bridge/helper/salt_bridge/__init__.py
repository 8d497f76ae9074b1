"""The Python side of the bridge: it runs an operator's own Python plugins for a daemon written in TypeScript."""
