"""Functions that need a program."""

import functools

import salt.exceptions
import salt.utils.path


def which(exe):
    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            if salt.utils.path.which(exe) is None:
                raise salt.exceptions.CommandNotFoundError("The '%s' binary was not found in $PATH." % exe)
            return function(*args, **kwargs)

        return checked

    return decorate


def which_bin(exes):
    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            if salt.utils.path.which_bin(exes) is None:
                raise salt.exceptions.CommandNotFoundError(
                    "None of provided binaries(%s) was found in $PATH." % ["%s" % exe for exe in exes]
                )
            return function(*args, **kwargs)

        return checked

    return decorate
