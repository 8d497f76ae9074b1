""" Calls the methods of Python Salt's clients on a master's host, and prints the results as one line of JSON.

    python python_clients.py DIRECTORY_OF_CONFIGURATION

The master has two minions, m1 and m2, and authenticates fred by the file of external_auth.
"""
import contextlib
import json
import logging
import os
import re
import sys
import time

import salt.auth
import salt.client
import salt.config
import salt.runner
import salt.utils.event
import salt.wheel

logging.disable(logging.CRITICAL)
path = sys.argv[1] + "/master"
opts = salt.config.client_config(path)
login = {"eauth": "file", "username": "fred", "password": "secret"}
local = salt.client.LocalClient(path)
runner = salt.runner.RunnerClient(opts)
wheel = salt.wheel.WheelClient(opts)
said = {}


def masked(value):
    """Job ids and times differ from run to run, the order of minions too; tracebacks are of Python's own."""
    if isinstance(value, dict):
        return {
            key: "<jid>" if key == "jid" else masked(val)
            for key, val in sorted(value.items(), key=str)
            if key not in ("_stamp", "__pub_jid")
        }
    if isinstance(value, (list, tuple, set)):
        return sorted(map(masked, value), key=json.dumps)
    if isinstance(value, str):
        return re.sub(r"\d{20}", "<jid>", re.sub(r"Traceback .*\n\w+: (.*)\n$", r"\1", value, flags=re.DOTALL))
    return value


@contextlib.contextmanager
def quiet():
    """Some calls print; this output is ignored."""
    with open(os.devnull, "w", encoding="utf-8") as null, contextlib.redirect_stdout(null):
        yield


def say(name, call):
    try:
        with quiet():
            said[name] = masked(call())
    except Exception as exc:  # an error of a client is a result
        said[name] = f"{type(exc).__name__}: {exc}"


def runner_sync(fun, **more):
    return runner.cmd_sync({"fun": fun, **login, **more})


def first_events():
    with salt.utils.event.get_event("master", sock_dir=opts["sock_dir"], opts=opts, listen=True) as bus:
        bus.connect_pub()
        jid = local.cmd_async("*", "test.ping")
        tags = []
        for event in bus.iter_events(full=True, tag=f"salt/job/{jid}"):
            tags.append(event["tag"])
            if len(tags) == 3:
                return [re.sub("m[12]", "m?", tag) for tag in tags]


def own_event():
    with salt.utils.event.get_master_event(opts, opts["sock_dir"], listen=True) as bus:
        bus.connect_pub()
        fired = bus.fire_event({"a": 1}, "my/tag")
        return [fired, (bus.get_event(tag="my/tag", wait=10) or {}).get("a")]


def later(read):
    jid = local.cmd_async("*", "test.ping")
    time.sleep(1)
    return read(jid)


say("cmd", lambda: local.cmd("*", "test.arg_type", [1, "a"], kwarg={"b": 2}))
say("cmd of a list", lambda: local.cmd(["m1", "m2"], "test.ping", tgt_type="list"))
say("cmd of several", lambda: local.cmd("m1", ["test.ping", "test.echo"], [[], ["x"]]))
say("cmd of a compound", lambda: local.cmd("G@id:m1 or m2", "test.ping", tgt_type="compound"))
say("cmd of a range of addresses", lambda: local.cmd("127.0.0.0/8", "test.ping", tgt_type="ipcidr"))
say("cmd with full_return", lambda: local.cmd("*", "test.ping", full_return=True))
say("cmd that fails", lambda: local.cmd("m1", "test.raise_exception", full_return=True)["m1"]["retcode"])
say("cmd by eauth", lambda: local.cmd("*", "test.ping", **login))
say("cmd that is not allowed", lambda: local.cmd("*", "cmd.run", ["id"], **login))
say("cmd of nobody", lambda: local.cmd("nobody", "test.ping"))
say("get_cache_returns", lambda: later(local.get_cache_returns))
say("get_full_returns", lambda: later(lambda jid: local.get_full_returns(jid, {"m1", "m2"}, 3)))
say("cmd_iter", lambda: list(local.cmd_iter("*", "test.ping")))
say("cmd_iter_no_block", lambda: [part for part in local.cmd_iter_no_block("*", "test.ping") if part])
say("cmd_batch", lambda: list(local.cmd_batch("*", "test.ping", batch="1")))
say("cmd_subset", lambda: len(local.cmd_subset("*", "test.ping", subset=1)))
say("cmd_cli", lambda: list(local.cmd_cli("*", "test.ping")))
say("run_job", lambda: local.run_job("*", "test.ping")["minions"])
say("RunnerClient.cmd_sync", lambda: runner_sync("test.arg", arg=[1], kwarg={"b": 2}))
say("RunnerClient.cmd_sync, full", lambda: runner.cmd_sync({"fun": "manage.up", **login}, full_return=True))
say("RunnerClient.cmd_sync, wrong", lambda: runner_sync("test.arg", password="x"))
say("RunnerClient.cmd_sync, not allowed", lambda: runner_sync("salt.cmd", arg=["cmd.run", "id"]))
say("RunnerClient.cmd_sync, a failure", lambda: runner_sync("error.error", kwarg={"name": "Exception", "message": "boom"}))
say("RunnerClient.cmd_async", lambda: runner.cmd_async({"fun": "test.arg", **login}))
say("RunnerClient.cmd", lambda: runner.cmd("test.arg", [3], print_event=False))
say("WheelClient.cmd_sync", lambda: wheel.cmd_sync({"fun": "key.list", "match": "accepted", **login}))
say("WheelClient.cmd_sync, not allowed", lambda: wheel.cmd_sync({"fun": "config.values", **login}))
say("WheelClient.cmd", lambda: wheel.cmd("key.list", ["accepted"], print_event=False))
say("events of a job", first_events)
say("an event of its own", own_event)
made = salt.auth.Resolver(opts).mk_token(dict(login))
say("a token", lambda: {key: val for key, val in made.items() if key in ("name", "eauth")})
say("cmd by token", lambda: local.cmd("*", "test.ping", token=made["token"]))
say("RunnerClient.cmd_sync by token", lambda: runner.cmd_sync({"fun": "test.arg", "token": made["token"]}))
print("\n" + json.dumps(said), flush=True)
