"""Writes job_cache.json and runners.json: a job cache written by Salt, and the results of Salt's runners for it. See README.md."""

import base64
import json
import os
import pathlib
import tempfile

import salt.cache
import salt.config
import salt.loader
import salt.returners.local_cache as local_cache

from typed import typed

HERE = pathlib.Path(__file__).parent

JOBS = [
 ("20240102030405000001", {"cmd":"publish","tgt":"*","fun":"test.ping","arg":[],"tgt_type":"glob","ret":"","jid":"20240102030405000001","kwargs":{"show_timeout":True,"show_jid":False,"delimiter":":"},"user":"root"}, ["web1","db1"], [
   {"cmd":"_return","id":"web1","success":True,"return":True,"retcode":0,"jid":"20240102030405000001","fun":"test.ping","fun_args":[],"user":"root"},
   {"cmd":"_return","id":"db1","success":False,"return":"'test.pong' is not available.","retcode":1,"jid":"20240102030405000001","fun":"test.ping","out":"nested"},
 ]),
 ("20240102030405000002", {"cmd":"publish","tgt":["web1"],"fun":"test.arg","arg":[1, 1.0, 2.5, None, "é", b"\xff\x00", 2**63, -7, {"__kwarg__":True,"a":{"b":[True]},"metadata":{"team":"ops"}}],"tgt_type":"list","ret":"","jid":"20240102030405000002","kwargs":{},"user":"sudo_ann"}, ["web1"], [
   {"id":"web1","return":{"args":[1,1.0,b"\xff\x00"],"kwargs":{1:2}},"retcode":0,"success":True,"jid":"20240102030405000002","out":"highstate"},
 ]),
 ("20240102030405000003", {"tgt":"web*","fun":["test.ping","test.echo"],"arg":[[],["x"]],"tgt_type":"glob","jid":"20240102030405000003","user":"root","kwargs":{"metadata":{"a":1}}}, ["web2","web1"], [
   {"id":"web1","return":{"test.ping":True,"test.echo":"x"},"retcode":{"test.ping":0,"test.echo":0},"success":{"test.ping":True,"test.echo":True},"jid":"20240102030405000003"},
   {"id":"web2","return":{"test.ping":True,"test.echo":"x"},"retcode":{"test.ping":0,"test.echo":0},"success":{"test.ping":True,"test.echo":True},"jid":"20240102030405000003"},
 ]),
]
J = "2024010203040500000"
CASES = [
 ("jobs.list_jobs", [], {}),
 ("jobs.list_jobs", [], {"outputter":"json"}),
 ("jobs.list_jobs", [], {"search_target":"web*"}),
 ("jobs.list_jobs", [], {"search_target":["web1","db*"]}),
 ("jobs.list_jobs", [], {"search_metadata":{"team":"ops","zzz":1}}),
 ("jobs.list_jobs", [], {"search_metadata":{"a":2}}),
 ("jobs.list_jobs", [], {"start_time":"2024, Jan 02 03:04:05.000002"}),
 ("jobs.list_jobs", [], {"end_time":"2024-01-02 03:04:05.000001"}),
 ("jobs.list_jobs", [], {"start_time":"2024-01-03"}),
 ("jobs.list_jobs", [], {"end_time":"3 Jan 2024"}),
 ("jobs.list_job", [J+"1"], {}),
 ("jobs.list_job", [J+"2"], {}),
 ("jobs.list_job", [J+"9"], {}),
 ("jobs.list_job", ["nonsense"], {}),
 ("jobs.lookup_jid", [J+"1"], {}),
 ("jobs.lookup_jid", [J+"2"], {}),
 ("jobs.lookup_jid", [J+"3"], {"missing":True}),
 ("jobs.lookup_jid", [J+"3"], {"missing":True,"returned":False}),
 ("jobs.lookup_jid", [J+"9"], {}),
 ("jobs.print_job", [J+"3"], {}),
 ("jobs.print_job", [J+"9"], {}),
 ("jobs.exit_success", [J+"1"], {}),
 ("jobs.exit_success", [J+"3"], {}),
 ("jobs.list_jobs_filter", [2], {}),
 ("jobs.list_jobs_filter", [50], {"filter_find_job":False}),
 ("jobs.last_run", [], {}),
 ("jobs.last_run", [], {"target":"nobody"}),
 ("jobs.last_run", [], {"target":"*"}),
 ("jobs.last_run", [], {"metadata":{"team":"ops"}}),
 ("test.arg", [1,"a"], {"b":2,"__c":3}),
 ("test.raw_arg", [1,"a"], {"b":2,"__c":3}),
 ("test.metasyntactic", [], {}),
 ("test.metasyntactic", ["uk"], {}),
 ("test.metasyntactic", ["fr"], {}),
]


def in_order_of_jids(result):
    """Salt lists jobs in the order of their directories in the file system."""
    if isinstance(result, dict) and set(result) == {"outputter", "data"}:
        return {"outputter": result["outputter"], "data": in_order_of_jids(result["data"])}
    return dict(sorted(result.items()))


with tempfile.TemporaryDirectory() as root:
    config = pathlib.Path(root, "master")
    config.write_text(f"root_dir: {root}\nid: host_master\n")
    opts = salt.config.master_config(str(config))
    cachedir = opts["cachedir"]
    os.makedirs(cachedir)
    local_cache.__opts__ = opts
    for jid, load, minions, returns in JOBS:
        local_cache.prep_jid(passed_jid=jid)
        local_cache.save_load(jid, load, minions)
        for item in returns:
            local_cache.returner(dict(item))
    local_cache.save_minions("20240102030405000003", ["syn1"], syndic_id="below1")
    local_cache.update_endtime("20240102030405000001", "2024, Jan 02 03:04:06.000000")
    local_cache.prep_jid(nocache=True, passed_jid="20240102030405000004")
    cache = salt.cache.factory(opts)
    cache.store("grains", "web1", {"os": "Debian", "id": "web1", "f": 1.0})
    cache.store("pillar", "web1", {})
    cache.store("minions/old1", "data", {"grains": {"os": "Arch"}, "pillar": {"x": [1]}})

    files = {
        str(path.relative_to(cachedir)): base64.b64encode(path.read_bytes()).decode()
        for path in sorted(pathlib.Path(cachedir).rglob("*"))
        if path.is_file()
    }
    (HERE / "job_cache.json").write_text(json.dumps({"files": files}, indent=0) + "\n")

    runners = salt.loader.runner(salt.config.client_config(str(config)))
    results = []
    for name, args, kwargs in CASES:
        result = runners[name](*args, **kwargs)
        if name == "jobs.list_jobs":
            result = in_order_of_jids(result)
        results.append([name, typed(args), typed(kwargs), typed(result)])
    lines = ",\n".join(json.dumps(result, separators=(",", ":")) for result in results)
    (HERE / "runners.json").write_text(f"[\n{lines}\n]\n")
