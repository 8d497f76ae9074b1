"""MessagePack, with the library of that name if this Python has it. Source: github.com/msgpack/msgpack spec.md.

Text and bytes are different types. A datetime is extension 78, as in Salt.
"""

import datetime
import struct

EXT_DATETIME = 78
DATETIME_FORMAT = "%Y%m%dT%H:%M:%S.%f"
MAX_DEPTH = 500


class PackError(ValueError):
    """A value that cannot be sent, or bytes that are no value."""


def _packer():
    """The functions of the library `msgpack`, where they do what is needed here."""
    try:
        import msgpack

        if msgpack.version < (1, 0):
            return None
    except Exception:  # a broken library is none
        return None

    def other(value):
        if isinstance(value, datetime.datetime):
            return msgpack.ExtType(EXT_DATETIME, value.strftime(DATETIME_FORMAT).encode())
        raise PackError("%s cannot be sent" % type(value).__name__)

    def extension(code, data):
        return _datetime(data) if code == EXT_DATETIME else bytes(data)

    packer = msgpack.Packer(default=other, use_bin_type=True)

    def encode(value):
        return packer.pack(value)

    def decode(data):
        return msgpack.unpackb(data, raw=False, strict_map_key=False, ext_hook=extension, unicode_errors="surrogateescape")

    return encode, decode


def _datetime(data):
    try:
        return datetime.datetime.strptime(bytes(data).decode(), DATETIME_FORMAT)
    except ValueError:
        return bytes(data)


def _head(out, length, small, codes):
    """The head of a text, bytes, list or map of this length."""
    if small is not None and length < small[1]:
        out.append(bytes((small[0] | length,)))
        return
    for code, form, limit in codes:
        if length < limit:
            out.append(struct.pack(form, code, length))
            return
    raise PackError("a value of %d parts is too large" % length)


_TEXT = ((0xD9, ">BB", 1 << 8), (0xDA, ">BH", 1 << 16), (0xDB, ">BI", 1 << 32))
_BYTES = ((0xC4, ">BB", 1 << 8), (0xC5, ">BH", 1 << 16), (0xC6, ">BI", 1 << 32))
_LIST = ((0xDC, ">BH", 1 << 16), (0xDD, ">BI", 1 << 32))
_MAP = ((0xDE, ">BH", 1 << 16), (0xDF, ">BI", 1 << 32))


def _pack_int(out, value):
    if 0 <= value < 0x80:
        out.append(bytes((value,)))
    elif -0x20 <= value < 0:
        out.append(struct.pack("b", value))
    elif -(1 << 63) <= value < (1 << 63):
        out.append(struct.pack(">Bq", 0xD3, value))
    elif 0 <= value < (1 << 64):
        out.append(struct.pack(">BQ", 0xCF, value))
    else:
        _pack(out, str(value), 0)


def _pack(out, value, depth):
    if depth > MAX_DEPTH:
        raise PackError("the value is nested too deeply")
    kind = type(value)
    if kind is str:
        data = value.encode()
        _head(out, len(data), (0xA0, 0x20), _TEXT)
        out.append(data)
    elif value is None:
        out.append(b"\xc0")
    elif kind is bool:
        out.append(b"\xc3" if value else b"\xc2")
    elif kind is int:
        _pack_int(out, value)
    elif kind is float:
        out.append(struct.pack(">Bd", 0xCB, value))
    elif kind is dict:
        _head(out, len(value), (0x80, 0x10), _MAP)
        for key, item in value.items():
            _pack(out, key, depth + 1)
            _pack(out, item, depth + 1)
    elif kind is list or kind is tuple:
        _head(out, len(value), (0x90, 0x10), _LIST)
        for item in value:
            _pack(out, item, depth + 1)
    elif kind is bytes or kind is bytearray:
        _head(out, len(value), None, _BYTES)
        out.append(bytes(value))
    elif isinstance(value, datetime.datetime):
        data = value.strftime(DATETIME_FORMAT).encode()
        out.append(struct.pack(">BBb", 0xC7, len(data), EXT_DATETIME))
        out.append(data)
    else:
        raise PackError("%s cannot be sent" % kind.__name__)


def _encode(value):
    out = []
    _pack(out, value, 0)
    return b"".join(out)


class _Reader:
    def __init__(self, data):
        self.data = memoryview(data)
        self.at = 0

    def take(self, size):
        start = self.at
        self.at = start + size
        if self.at > len(self.data):
            raise PackError("the message ends early")
        return self.data[start:self.at]

    def number(self, form, size):
        return struct.unpack(form, self.take(size))[0]

    def text(self, size):
        return str(self.take(size), "utf-8", "surrogateescape")

    def items(self, size, depth):
        return [self.value(depth + 1) for _ in range(size)]

    def map(self, size, depth):
        out = {}
        for _ in range(size):
            key = self.value(depth + 1)
            out[tuple(key) if isinstance(key, list) else key] = self.value(depth + 1)
        return out

    def extension(self, size):
        code = self.number("b", 1)
        data = self.take(size)
        return _datetime(data) if code == EXT_DATETIME else bytes(data)

    def value(self, depth=0):
        if depth > MAX_DEPTH:
            raise PackError("the message is nested too deeply")
        code = self.number("B", 1)
        if code < 0x80:
            return code
        if code < 0x90:
            return self.map(code & 0x0F, depth)
        if code < 0xA0:
            return self.items(code & 0x0F, depth)
        if code < 0xC0:
            return self.text(code & 0x1F)
        if code >= 0xE0:
            return code - 0x100
        if code in _PLAIN:
            return _PLAIN[code]
        if code in _NUMBERS:
            return self.number(*_NUMBERS[code])
        if code in _SIZED:
            form, size, read = _SIZED[code]
            return read(self, self.number(form, size), depth)
        if code in _FIXED_EXTENSIONS:
            return self.extension(_FIXED_EXTENSIONS[code])
        raise PackError("a message with the unknown code %d" % code)


_PLAIN = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: (">f", 4),
    0xCB: (">d", 8),
    0xCC: (">B", 1),
    0xCD: (">H", 2),
    0xCE: (">I", 4),
    0xCF: (">Q", 8),
    0xD0: (">b", 1),
    0xD1: (">h", 2),
    0xD2: (">i", 4),
    0xD3: (">q", 8),
}
_FIXED_EXTENSIONS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}


def _sized(codes, read):
    return {code: (form, size, read) for code, (form, size) in zip(codes, ((">B", 1), (">H", 2), (">I", 4)))}


_SIZED = {}
_SIZED.update(_sized((0xC4, 0xC5, 0xC6), lambda reader, size, depth: bytes(reader.take(size))))
_SIZED.update(_sized((0xC7, 0xC8, 0xC9), lambda reader, size, depth: reader.extension(size)))
_SIZED.update(_sized((0xD9, 0xDA, 0xDB), lambda reader, size, depth: reader.text(size)))
_SIZED.update({
    0xDC: (">H", 2, _Reader.items),
    0xDD: (">I", 4, _Reader.items),
    0xDE: (">H", 2, _Reader.map),
    0xDF: (">I", 4, _Reader.map),
})


def _decode(data):
    reader = _Reader(data)
    value = reader.value()
    if reader.at != len(reader.data):
        raise PackError("the message is longer than its value")
    return value


encode, decode = _packer() or (_encode, _decode)
