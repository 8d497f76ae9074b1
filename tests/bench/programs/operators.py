"""Simulates operators who all work at once, through Python Salt's own client. The counterpart of operators.ts.

Arguments: the master's configuration directory, the target, how many operators, for how many seconds. Writes
{"jobs": …, "seconds": …}.
"""

import json
import multiprocessing
import re
import sys
import time

import salt.client


def operate(config, targets, seconds, barrier, results):
    client = salt.client.LocalClient(c_path=config + "/master")
    client.event.connect_pub(timeout=5)
    barrier.wait(60)
    begun = time.time()
    jobs = 0
    while time.time() < begun + seconds:
        job = client.run_job(targets[jobs % len(targets)], "test.ping", listen=True)
        missing = set(job["minions"])
        while missing:
            event = client.event.get_event(wait=30, tag="salt/job/{}/ret/".format(job["jid"]))
            if event is None:
                sys.exit("no return of job {}".format(job["jid"]))
            missing.discard(event["id"])
        jobs += 1
    results.put((jobs, begun, time.time()))


def targets_of(target, operator):
    swarm = re.match(r"^each of (\d+)$", target)
    if swarm is None:
        return [target]
    count = int(swarm.group(1))
    return ["sim-{}".format((i + operator) % count + 1) for i in range(count)]


if __name__ == "__main__":
    config, target, count, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    barrier, results = multiprocessing.Barrier(count), multiprocessing.Queue()
    operators = [
        multiprocessing.Process(target=operate, args=(config, targets_of(target, i), seconds, barrier, results))
        for i in range(count)
    ]
    for operator in operators:
        operator.start()
    works = [results.get(timeout=120) for _ in operators]
    for operator in operators:
        operator.join()
    json.dump(
        {
            "jobs": sum(jobs for jobs, _, _ in works),
            "seconds": max(end for _, _, end in works) - min(begun for _, begun, _ in works),
        },
        sys.stdout,
    )
