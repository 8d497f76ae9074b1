"""Milliseconds from the publish of test.ping to its return event, through Python Salt's own client.

Arguments: the master's configuration file, the minion's id, how many jobs. Writes a JSON list.
"""

import json
import sys
import time

import salt.client

config, minion, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = salt.client.LocalClient(c_path=config)
client.event.connect_pub(timeout=5)
times = []
for _ in range(count):
    started = time.perf_counter()
    job = client.run_job(minion, "test.ping", listen=True)
    event = client.event.get_event(wait=10, tag="salt/job/{}/ret/{}".format(job["jid"], minion))
    if event is None:
        sys.exit("no return of job {}".format(job["jid"]))
    times.append((time.perf_counter() - started) * 1000)
json.dump(times, sys.stdout)
