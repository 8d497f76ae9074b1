"""Fires events that a reactor answers, each with a job, and reads the events of the jobs. The counterpart of
reactor_load.ts.

Arguments: the master's configuration file, how many events one after the other, how many at once. Writes
{"ms": …, "jobs": …, "seconds": …}.
"""

import json
import sys
import time

import salt.config
import salt.utils.event

TAG = "bench/react"

if __name__ == "__main__":
    opts = salt.config.master_config(sys.argv[1])
    single, together = int(sys.argv[2]), int(sys.argv[3])
    events = salt.utils.event.get_master_event(opts, opts["sock_dir"], listen=True)
    events.subscribe("salt/job/")
    events.connect_pub(timeout=5)
    sender = salt.utils.event.get_master_event(opts, opts["sock_dir"], listen=False)
    time.sleep(3)  # the reactor's process reads the bus a while after the master answers

    def published():
        while True:
            event = events.get_event(wait=30, tag="salt/job/", full=True)
            if event is None:
                return False
            if event["tag"].endswith("/new"):
                return True

    times = []
    for n in range(single):
        begun = time.time()
        sender.fire_event({"n": n}, TAG)
        if not published():
            break
        times.append((time.time() - begun) * 1000)
    times.sort()
    begun = time.time()
    for n in range(together):
        sender.fire_event({"n": n}, TAG)
    jobs = 0
    while jobs < together and published():
        jobs += 1
    json.dump({"ms": times[len(times) // 2], "jobs": jobs, "seconds": time.time() - begun}, sys.stdout)
