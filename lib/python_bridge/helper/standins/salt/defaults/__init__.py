"""Salt's defaults."""

DEFAULT_TARGET_DELIM = ":"


class _Constant:
    def __init__(self, name, value=None):
        self.name = name
        self.value = value

    def __repr__(self):
        return "<Constant.%s>" % self.name

    def __deepcopy__(self, memo):
        return self


NOT_SET = _Constant("NOT_SET")
