"""Sends events through the bus of a Python master to several subscribers. The counterpart of bus_load.ts.

Arguments: the master's configuration file, how many subscribers, how many events. Writes {"events": …, "seconds": …}.
"""

import json
import multiprocessing
import sys
import time

import salt.config
import salt.utils.event

TAG = "bench/event"


def listen(opts, count, ready, results):
    events = salt.utils.event.get_master_event(opts, opts["sock_dir"], listen=True)
    events.subscribe(TAG)
    events.connect_pub(timeout=5)
    ready.wait(60)
    read = 0
    while read < count and events.get_event(wait=30, tag=TAG) is not None:
        read += 1
    results.put((read, time.time()))


if __name__ == "__main__":
    opts = salt.config.master_config(sys.argv[1])
    subscribers, count = int(sys.argv[2]), int(sys.argv[3])
    ready, results = multiprocessing.Barrier(subscribers + 1), multiprocessing.Queue()
    listeners = [
        multiprocessing.Process(target=listen, args=(opts, count, ready, results)) for _ in range(subscribers)
    ]
    for listener in listeners:
        listener.start()
    ready.wait(60)
    time.sleep(1)  # the bus does not report when a subscription is active
    sender = salt.utils.event.get_master_event(opts, opts["sock_dir"], listen=False)
    begun = time.time()
    for n in range(count):
        sender.fire_event(
            {"jid": "20261121120000000000", "id": "web1", "return": "x" * 100, "retcode": 0, "success": True, "n": n},
            TAG,
        )
    ends = [results.get(timeout=180) for _ in listeners]
    for listener in listeners:
        listener.join()
    json.dump({"events": min(read for read, _ in ends), "seconds": max(end for _, end in ends) - begun}, sys.stdout)
