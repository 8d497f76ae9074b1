"""Writes relative_dates.json: texts of dates, read by timelib, which Salt's filter `strftime` uses.

Run with the python of a virtual environment that holds Salt 3008.3, with TZ=UTC:
    TZ=UTC <venv>/bin/python tests/corpus/make_relative_dates.py > tests/corpus/relative_dates.json
"""

import calendar
import datetime
import json
import sys

import timelib

# A Wednesday, and the last day of a month that the next one does not have.
NOW = [datetime.datetime(2020, 4, 15, 13, 14, 15), datetime.datetime(2021, 1, 31, 0, 0, 1)]

WORDS = [
    "now", "today", "midnight", "noon", "tomorrow", "yesterday", "Tomorrow", " today ",
    "monday", "wednesday", "thu", "sun", "next monday", "next wed", "last friday", "last wednesday", "last sunday", "next sunday",
    "+1 day", "-1 day", "1 day", "2 days", "3 days ago", "+2 weeks", "1 week ago", "1 fortnight", "- 2 days", "+ 3 hours",
    "1 hour", "2 hours ago", "30 min", "5 minutes", "10 sec", "10 seconds ago", "1 month", "1 month ago", "2 months", "12 months", "1 year", "3 years ago",
    "next day", "next week", "next month", "next year", "last day", "last week", "last month", "last year", "previous week", "previous month",
    "1 furlong", "next furlong", "soonish", "next", "13:05", "1:05 pm", "12:30 am", "2345", "2020-02-03 04:05:06", "sept 3 2020",
]


def main():
    cases = []
    for now in NOW:
        epoch = calendar.timegm(now.timetuple())
        for words in WORDS:
            try:
                made = timelib.strtodatetime(words.encode(), now=epoch).strftime("%Y-%m-%d %H:%M:%S")
            except ValueError:
                made = None
            cases.append({"now": epoch, "words": words, "time": made})
    sys.stdout.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


main()
