"""Texts."""

import difflib
import fnmatch
import re
import secrets
import shlex
import string
import sys
import unicodedata


def to_bytes(s, encoding=None, errors="strict"):
    if isinstance(s, (bytes, bytearray)):
        return bytes(s)
    if isinstance(s, str):
        return s.encode(encoding or "utf-8", errors)
    raise TypeError("expected str, bytes, or bytearray not %s" % type(s))


def to_str(s, encoding=None, errors="strict", normalize=False):
    if isinstance(s, str):
        return unicodedata.normalize("NFC", s) if normalize else s
    if not isinstance(s, (bytes, bytearray)):
        raise TypeError("expected str, bytes, or bytearray not %s" % type(s))
    given = encoding if isinstance(encoding, (list, tuple)) else (encoding or "utf-8",)
    for name in given:
        try:
            text = s.decode(name, errors)
            return unicodedata.normalize("NFC", text) if normalize else text
        except UnicodeDecodeError as error:
            last = error
    raise last


to_unicode = to_str


def to_num(text):
    for kind in (int, float):
        try:
            return kind(text)
        except (ValueError, TypeError):
            pass
    return text


def to_none(text):
    return None if str(text).strip().lower() in ("none", "") else text


def is_quoted(value):
    text = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[0] if text else ""


def dequote(value):
    return value[1:-1] if is_quoted(value) else value


def is_hex(value):
    try:
        int(value, 16)
        return True
    except (TypeError, ValueError):
        return False


def is_binary(data):
    """Whether a text has a NUL, or many characters that cannot be printed."""
    if not data or not isinstance(data, (str, bytes)):
        return False
    text = data if isinstance(data, str) else data.decode("latin-1")
    if "\0" in text:
        return True
    others = [char for char in text if not (char in string.printable)]
    return len(others) / len(text) > 0.3


def random(size=32):
    letters = string.ascii_letters + string.digits + "+/"
    return "".join(secrets.choice(letters) for _ in range(size))


def contains_whitespace(text):
    return any(char.isspace() for char in text)


def human_to_bytes(size, default_unit="B", handle_metric=False):
    found = re.match(r"(?P<value>[0-9.]+)\s*(?P<unit>\w*)$", str(size).strip())
    if not found:
        return 0
    unit = (found.group("unit") or default_unit).upper()
    power = "BKMGTPEZY".find(unit[0]) if unit else 0
    base = 1000 if handle_metric and len(unit) == 2 and unit[1] == "B" else 1024
    try:
        value = float(found.group("value"))
    except ValueError:
        return 0
    return 0 if power < 0 else int(value * base**power)


def build_whitespace_split_regex(text):
    """A pattern for the text with any white space between its words."""
    lines = []
    for line in text.splitlines():
        words = [re.escape(word) for word in shlex.split(line, posix=False)]
        lines.append(r"(?:[\s]+)?".join(words))
    return "(?m)^" + "".join(r"(?:[\s]+)?%s(?:[\s]+)?$" % line for line in lines)


def expr_match(line, expr):
    if line == expr or fnmatch.fnmatch(str(line), expr):
        return True
    try:
        return re.match(r"\A%s\Z" % expr, str(line)) is not None
    except re.error:
        return False


def check_whitelist_blacklist(value, whitelist=None, blacklist=None):
    def matches(names):
        if isinstance(names, str):
            names = [names]
        return any(expr_match(value, name) for name in names)

    if blacklist is not None and matches(blacklist):
        return False
    return True if not whitelist else matches(whitelist)


def check_include_exclude(path_str, include_pat=None, exclude_pat=None):
    def matches(pattern):
        if pattern.startswith("E@"):
            return re.search(pattern[2:], path_str) is not None
        return fnmatch.fnmatch(path_str, pattern)

    included = not include_pat or matches(include_pat)
    return included and not (exclude_pat and matches(exclude_pat))


def print_cli(msg, retries=10, step=0.01):
    print(msg)


def get_context(template, line, num_lines=5, marker=None):
    """The lines around one, which is marked."""
    lines = template.splitlines()
    if line > len(lines):
        return template
    first = max(0, line - num_lines - 1)
    shown = lines[first:line + num_lines]
    if marker:
        shown[line - 1 - first] += marker
    return "---\n%s\n---" % "\n".join(shown)


def get_diff_list(a, b, *args, **kwargs):
    encoding = kwargs.pop("encoding", None)
    sides = [[to_str(line, encoding) for line in side] for side in (a, b)]
    return list(difflib.unified_diff(*sides, *args, **kwargs))


def get_diff(a, b, *args, **kwargs):
    return "".join(get_diff_list(a, b, *args, **kwargs))


def camel_to_snake_case(camel_input):
    text = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", camel_input)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()


def snake_to_camel_case(snake_input, uppercamel=False):
    words = snake_input.split("_")
    words[0] = words[0].capitalize() if uppercamel else words[0]
    return words[0] + "".join(word.capitalize() for word in words[1:])


__salt_system_encoding__ = sys.getdefaultencoding()
