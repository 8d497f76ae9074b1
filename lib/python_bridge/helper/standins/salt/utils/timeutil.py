"""Times."""

import datetime
import time


def utcnow():
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)


def utcfromtimestamp(timestamp):
    return datetime.datetime.fromtimestamp(timestamp, datetime.timezone.utc).replace(tzinfo=None)


def get_timestamp_at(time_in=None, time_at=None):
    if time_in:
        if isinstance(time_in, int):
            return int(time.time() + time_in * 3600)
        hours, _, minutes = str(time_in).replace("H", ":").replace("M", "").partition(":")
        return int(time.time() + int(hours or 0) * 3600 + int(minutes or 0) * 60)
    if time_at:
        return int(time.mktime(time.strptime(str(time_at), "%Y-%m-%dT%H:%M:%S")))
    return int(time.time())


def get_time_at(time_in=None, time_at=None, out_fmt="%Y-%m-%dT%H:%M:%S"):
    return datetime.datetime.fromtimestamp(get_timestamp_at(time_in, time_at)).strftime(out_fmt)


def timestring_map(val):
    """`5m` in seconds."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    if isinstance(val, (int, float)) or val is None:
        return val
    text = str(val).strip()
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)
