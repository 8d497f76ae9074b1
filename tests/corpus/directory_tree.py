"""Trees of files as data: the trees that the recording scripts make, and the trees afterwards. A tree is a map of
names: a text is a file with it; a map is a directory (`dir`), a link (`link`), or a file with bytes (`hex`) or a mode.
tests/support/calls/call_cases.ts reads them."""
import os
import stat


def build(root, tree):
    for name, what in tree.items():
        path = f"{root}/{name}"
        if isinstance(what, str):
            what = {"text": what}
        if "dir" in what:
            os.mkdir(path)
            build(path, what["dir"])
        elif "link" in what:
            os.symlink(what["link"], path)
        else:
            data = bytes.fromhex(what["hex"]) if "hex" in what else what["text"].encode()
            with open(path, "wb") as out:
                out.write(data)
        if "mode" in what:
            os.chmod(path, int(what["mode"], 8))


def snapshot(root, owners=False):
    """The tree in a directory. owners: whether owners other than root, and link counts other than 1, are included."""
    tree = {}
    for name in sorted(os.listdir(root)):
        path = f"{root}/{name}"
        info = os.lstat(path)
        mode = format(stat.S_IMODE(info.st_mode), "04o")
        if stat.S_ISLNK(info.st_mode):
            what = {"link": os.readlink(path)}
        elif stat.S_ISDIR(info.st_mode):
            what = {"dir": snapshot(path, owners), **({} if mode == "0755" else {"mode": mode})}
        elif stat.S_ISREG(info.st_mode):
            with open(path, "rb") as source:
                data = source.read()
            try:
                what = {"text": data.decode()}
            except UnicodeDecodeError:
                what = {"hex": data.hex()}
            what.update({} if mode == "0644" else {"mode": mode})
            if owners and info.st_nlink != 1:
                what["names"] = info.st_nlink
        else:
            what = {"special": mode}
        if owners and (info.st_uid, info.st_gid) != (0, 0):
            what["owner"] = f"{info.st_uid}:{info.st_gid}"
        tree[name] = what["text"] if list(what) == ["text"] else what
    return tree


def place(value, old, new):
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, bytes):
        return {"__bytes__": value.hex()}
    if isinstance(value, (list, tuple)):
        return [place(item, old, new) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(place(item, old, new) for item in value)
    if hasattr(value, "items"):
        if all(isinstance(key, str) for key in value):
            return {place(key, old, new): place(item, old, new) for key, item in value.items()}
        return {"__pairs__": [[key, place(item, old, new)] for key, item in value.items()]}
    return value


def dropped(value, drop):
    if isinstance(value, dict):
        return {key: dropped(item, drop) for key, item in value.items() if key not in drop}
    return value
