"""Differences of lists of maps."""


def list_diff(list_a, list_b, key):
    from salt.utils.dictdiffer import recursive_diff

    past, now = {one[key]: one for one in list_a}, {one[key]: one for one in list_b}
    return recursive_diff(past, now, False)
