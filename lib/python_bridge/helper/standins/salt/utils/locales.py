"""Locales."""

import sys


def get_encodings():
    return list(dict.fromkeys([sys.getdefaultencoding(), "utf-8", "latin-1"]))


def split_locale(loc):
    def part(text, separator):
        head, _, tail = text.partition(separator)
        return head, tail

    rest, charmap = part(loc, " ")
    rest, modifier = part(rest, "@")
    rest, codeset = part(rest, ".")
    language, territory = part(rest, "_")
    return {
        "language": language,
        "territory": territory,
        "codeset": codeset,
        "modifier": modifier,
        "charmap": charmap,
    }


def join_locale(comps):
    text = comps["language"]
    for name, separator in (("territory", "_"), ("codeset", "."), ("modifier", "@"), ("charmap", " ")):
        if comps.get(name):
            text += separator + comps[name]
    return text


def normalize_locale(loc):
    comps = split_locale(loc)
    comps["territory"] = comps["territory"].upper()
    comps["codeset"] = comps["codeset"].lower().replace("-", "")
    comps["charmap"] = ""
    return join_locale(comps)
