"""Dates."""

import datetime


def date_cast(date):
    """The date that a value stands for."""
    if date is None:
        return datetime.datetime.now()
    if isinstance(date, datetime.datetime):
        return date
    if isinstance(date, str):
        if date.isdigit():
            return datetime.datetime.fromtimestamp(int(date))
        for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%Y/%m/%d"):
            try:
                return datetime.datetime.strptime(date, form)
            except ValueError:
                pass
        return datetime.datetime.fromisoformat(date)
    return datetime.datetime.fromtimestamp(date)


def strftime(date=None, format="%Y-%m-%d"):
    return date_cast(date).strftime(format)


def total_seconds(td):
    return td.total_seconds()
