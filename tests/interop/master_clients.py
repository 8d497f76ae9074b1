"""Runs functions of a master through Python Salt's clients, and prints their results as one line of JSON."""
import json
import logging
import sys
import time

import salt.config
import salt.exceptions
import salt.runner
import salt.utils.master
import salt.wheel

logging.disable(logging.CRITICAL)
opts = salt.config.client_config(sys.argv[1])
user = salt.utils.user.get_specific_user()
key = salt.utils.master.get_master_key(user, opts)
proof = {"user": user, "key": key}

wheel = salt.wheel.WheelClient(opts)
runner = salt.runner.RunnerClient(opts)


def sync(fun, *args, **kwargs):
    return wheel.cmd_sync({"fun": fun, "arg": list(args), "kwarg": kwargs, **proof})


said = {}
listed = sync("key.list", match="accepted")
said["listed"] = listed["data"]["return"]
said["fun"] = listed["data"]["fun"]
said["positional"] = sync("key.list", "pre")["data"]["return"]
said["written"] = sync("file_roots.write", "made: by wheel\n", "made.sls")["data"]["return"]
said["outside"] = sync("file_roots.write", "x", "../outside")["data"]["return"]
said["failed"] = str(sync("error.error", "Exception", "boom")["data"]["return"])
try:
    wheel.cmd_sync({"fun": "key.accept", "match": "*", "user": user, "key": "wrong"})
    said["refused"] = None
except salt.exceptions.SaltException as exc:
    said["refused"] = str(exc)
wheel.cmd_async({"fun": "key.list_all", "arg": [], "kwarg": {}, **proof})
started = runner.cmd_async({"fun": "test.arg", "arg": [1, "a"], "kwarg": {"b": 2}, **proof})
said["jid"] = started["jid"]
said["tag"] = started["tag"] == "salt/run/" + started["jid"]
# cmd_async of the wheel client sends from a background process.
time.sleep(2)
print("\n" + json.dumps(said), flush=True)
sys.exit(0)
