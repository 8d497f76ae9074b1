"""MessagePack."""

from salt_bridge.pack import decode, encode


def packb(o, **kwargs):
    return encode(o)


def unpackb(packed, **kwargs):
    return decode(packed)


dumps, loads = packb, unpackb


def pack(o, stream, **kwargs):
    stream.write(encode(o))


def unpack(stream, **kwargs):
    return decode(stream.read())


dump, load = pack, unpack
