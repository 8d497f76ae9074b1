"""XML as maps."""


def _name(tag):
    return tag.rpartition("}")[2]


def to_dict(xmltree, attr=False):
    """An element as a map of its children."""
    if len(xmltree) == 0 and not (attr and xmltree.attrib):
        return {_name(xmltree.tag): xmltree.text}
    found = {}
    if attr:
        found.update({_name(name): value for name, value in xmltree.attrib.items()})
    for item in xmltree:
        name = _name(item.tag)
        value = to_dict(item, attr) if len(item) or (attr and item.attrib) else item.text
        if name not in found:
            found[name] = value
        else:
            if not isinstance(found[name], list):
                found[name] = [found[name]]
            found[name].append(value)
    return found
