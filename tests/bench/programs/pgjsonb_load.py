"""Stores returns by Salt's returner pgjsonb, one after the other, and prints the returns a second.

Arguments: the port of the database, the number of returns, and those that are not measured before them.
"""

import sys
import time

import salt.returners.pgjsonb as pgjsonb

port, count, warm = (int(word) for word in sys.argv[1:4])
pgjsonb.__opts__ = {
    "returner.pgjsonb.host": "127.0.0.1",
    "returner.pgjsonb.port": port,
    "returner.pgjsonb.user": "salt",
    "returner.pgjsonb.pass": "salt",
    "returner.pgjsonb.db": "salt",
}
pgjsonb.__salt__ = {}


def store(first, last):
    for n in range(first, last):
        value = {"fun": "test.ping", "jid": "20260101000000000001", "id": f"m{n}", "return": True}
        pgjsonb.returner({**value, "success": True, "retcode": 0, "fun_args": []})


store(0, warm)
start = time.perf_counter()
store(warm, warm + count)
print(count / (time.perf_counter() - start))
