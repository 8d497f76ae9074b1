"""The version of Salt whose interfaces these are."""


class SaltStackVersion:
    """A version of Salt, compared by its numbers."""

    def __init__(self, *numbers):
        self.info = tuple(numbers)
        self.major, self.minor = (self.info + (0, 0))[:2]

    @classmethod
    def from_name(cls, name):
        return cls(*_NAMES.get(name.lower(), (0,)))

    @property
    def string(self):
        return ".".join(str(number) for number in self.info)

    @property
    def formatted_version(self):
        return self.string

    @property
    def noc_info(self):
        return self.info

    def __str__(self):
        return self.string

    def _key(self, other):
        if isinstance(other, SaltStackVersion):
            return other.info
        if isinstance(other, str):
            return tuple(int(part) for part in other.split(".") if part.isdigit())
        return tuple(other)

    def __eq__(self, other):
        return self.info == self._key(other)

    def __lt__(self, other):
        return self.info < self._key(other)

    def __le__(self, other):
        return self.info <= self._key(other)

    def __gt__(self, other):
        return self.info > self._key(other)

    def __ge__(self, other):
        return self.info >= self._key(other)

    def __hash__(self):
        return hash(self.info)


_NAMES = {
    "hydrogen": (2014, 1),
    "helium": (2014, 7),
    "lithium": (2015, 5),
    "beryllium": (2015, 8),
    "boron": (2016, 3),
    "carbon": (2016, 11),
    "nitrogen": (2017, 7),
    "oxygen": (2018, 3),
    "fluorine": (2019, 2),
    "neon": (3000,),
    "sodium": (3001,),
    "magnesium": (3002,),
    "aluminium": (3003,),
    "silicon": (3004,),
    "phosphorus": (3005,),
    "sulfur": (3006,),
    "chlorine": (3007,),
    "argon": (3008,),
}

__saltstack_version__ = SaltStackVersion(3008, 3)
__version_info__ = __saltstack_version__.info
__version__ = __saltstack_version__.string
