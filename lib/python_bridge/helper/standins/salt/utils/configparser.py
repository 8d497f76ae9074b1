"""Files in the form of git's configuration."""

import configparser
import re


class GitConfigParser(configparser.RawConfigParser):
    def __init__(self, *args, **kwargs):
        kwargs.setdefault("allow_no_value", True)
        kwargs.setdefault("strict", False)
        super().__init__(*args, **kwargs)

    def read(self, filenames, encoding=None):
        names = [filenames] if isinstance(filenames, str) else filenames
        read = []
        for name in names:
            with open(name, encoding=encoding or "utf-8") as file:
                self.read_string(re.sub(r"^[\t ]+", "", file.read(), flags=re.M), name)
            read.append(name)
        return read


DEFAULTSECT = configparser.DEFAULTSECT
NoOptionError, NoSectionError = configparser.NoOptionError, configparser.NoSectionError
