"""Filters, tests and globals of Jinja that a plugin defines."""


class _Registry:
    salt_jinja_names = None

    def __init__(self, name=None):
        self.name = name

    def __call__(self, function):
        type(self).known[self.name or function.__name__] = function
        return function


class JinjaFilter(_Registry):
    known = salt_jinja_filters = {}


class JinjaTest(_Registry):
    known = salt_jinja_tests = {}


class JinjaGlobal(_Registry):
    known = salt_jinja_globals = {}


jinja_filter, jinja_test, jinja_global = JinjaFilter, JinjaTest, JinjaGlobal
