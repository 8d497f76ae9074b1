"""Writes auth_rules.json: the decisions of Python Salt's CkMinions. See README.md.

Each row: [group, rules, request, decision]. In the groups "prefix" and "compound" this project is stricter.
"""

import copy
import json
import pathlib
import tempfile

import salt.cache
import salt.config
import salt.utils.minions

HERE = pathlib.Path(__file__).parent
IDS = ["db1", "db2", "web1", "web10", "web2"]

root = tempfile.mkdtemp()
opts = salt.config.master_config(None)
opts.update(pki_dir=f"{root}/pki", cachedir=f"{root}/cache", root_dir=root, minion_data_cache=True, key_cache="")
for name in ("minions", "minions_pre", "minions_rejected", "minions_denied"):
    (pathlib.Path(opts["pki_dir"]) / name).mkdir(parents=True)
for minion in IDS:
    (pathlib.Path(opts["pki_dir"]) / "minions" / minion).write_text("key")
check = salt.utils.minions.CkMinions(opts)


def kw(**kwargs):
    return {"__kwarg__": True, **kwargs}


def job(rules, fun, arg, minions):
    ids = [minion for minion in IDS if minion in minions]
    answer = check.auth_check(
        copy.deepcopy(rules), copy.deepcopy(fun), copy.deepcopy(arg), ",".join(ids), "list",
        minions=ids, whitelist=["saltutil.find_job"])
    return ["job", rules, {"fun": fun, "arg": arg, "minions": ids}, bool(answer)]


def master(rules, form, fun, arg=None, kwarg=None):
    ask = check.runner_check if form == "runner" else check.wheel_check
    args = {}
    if arg is not None:
        args["arg"] = arg
    if kwarg is not None:
        args["kwarg"] = kwarg
    answer = ask(copy.deepcopy(rules), fun, args)
    return ["master", rules, {"form": form, "fun": fun, "arg": arg, "kwarg": kwarg},
            "syntax" if isinstance(answer, dict) else bool(answer)]


def listed(provider, name, groups):
    return ["list", provider, {"user": name, "groups": groups},
            check.fill_auth_list(copy.deepcopy(provider), name, groups)]


ALL = IDS
WEB = ["web1", "web2", "web10"]
DENY = [{"web1": ["test.ping"]}]
ARGS = [{"web*": [{"pkg.install": {"args": ["nginx.*", None, "[0-9]+"], "kwargs": {"refresh": "True|False", "any": None}}}]}]
FULL = ["nginx-light", "x", 12, kw(refresh=True, any=[1])]
EITHER = [{"*": [{"my.fun": [{"args": ["a"]}, {"kwargs": {"b": "c"}}]}]}]

rows = {
    "jobs": [
        *[job([rule], fun, [], ["web1"]) for rule, fun in [
            ("test.ping", "test.ping"), ("test.*", "test.ping"), ("test.*", "testing.ping"), (".*", "cmd.run"), 
            ("*", "test.ping"), ("test.*|cmd.run", "cmd.run"), ("^test", "cmd.run"), ("(", "("), ("(", "test.ping"), ("TEST.PING", "test.ping"),
            ("@runner", "test.ping"), ("@jobs", "jobs.x"), ("test.ping$", "test.ping"), ("test.ver*", "test.version"),
            ("test?ping", "test.ping"), ("[a]", "a"), ("*.ping", "test.ping"), ("ping", "test.ping"), ("cmd[.]run", "cmd.run"),
            ("saltutil.refresh", "saltutil.find_job")]],
        *[job([{expr: ["test.ping"]}], "test.ping", [], ids) for expr, ids in [
            ("*", ALL), ("web*", WEB), ("web*", ALL), ("web1", ["web1"]), ("web1", ["web1", "web2"]), ("web?", ["web1", "web2"]),
            ("web?", ["web10"]), ("nobody", ["web1"]), ("@runner", ["web1"]), ("", ["web1"])]],
        *[job([{"web*": rule}], "test.ping", [], ["web1"]) for rule in [
            "test.ping", "cmd.run", [], None, 7, [7], [["test.ping"]], {"test.ping": {}}, [{"test.ping": {}}], [{"test.ping": [{}]}],
            [{"test.ping": None}], [{"test.ping": []}], [{"test.ping": "x"}], [{"test.ping": {}, "cmd.run": {}}]]],
        *[job(rules, "test.ping", [], ["web1"]) for rules in [
            [], [7], [None], [["test.ping"]], [{}], [{"web1": ["test.ping"], "web2": ["test.ping"]}], ["cmd.run", {"web1": ["test.ping"]}],
            [{"db*": ["test.ping"]}, {"web*": ["cmd.run"]}]]],
        job(DENY, "saltutil.find_job", ["2026"], ALL), job([], "saltutil.find_job", [], ALL), job(DENY, "saltutil.find_jobs", [], ["web1"]),
        *[job(ARGS, "pkg.install", arg, ["web1"]) for arg in [
            FULL, FULL[:3], [], FULL[1:], ["apache", *FULL[1:]], ["nginx", None, 1, kw(refresh=False, any=None)],
            ["nginx", "x", 12, kw(refresh="maybe", any=1)], ["nginx", "x", 12, kw(refresh=True)], ["nginx", "x", "y", kw(refresh=True, any=1)],
            ["nginx", "x", 12, 13, kw(refresh=True, any=1, more=2)], ["nginx", "x", 12, {"refresh": True, "any": 1}],
            [kw(refresh=True, any=1)]]],
        job(ARGS, "pkg.install", FULL, ["db1"]), job(ARGS, "pkg.remove", FULL, ["web1"]),
        *[job(EITHER, "my.fun", arg, ["db1"]) for arg in [["a"], ["b"], [kw(b="c")], [kw(b="d")], ["b", kw(b="c")]]],
        job([{"*": [{"my.fun": {"args": [5]}}]}], "my.fun", [5], ["db1"]), job([{"*": [{"my.fun": {"args": ["5"]}}]}], "my.fun", [5], ["db1"]),
        job([{"*": [{"my.fun": {"args": ["True"]}}]}], "my.fun", [True], ["db1"]),
        job([{"*": [{"my.fun": {"args": [r"\['a', 1\]"]}}]}], "my.fun", [["a", 1]], ["db1"]),
        job(["test.ping"], ["test.ping"], [[]], ["web1"]), job(["test.ping"], ["cmd.run"], [["id"]], ["web1"]), job(["test.ping"], [], [], ["web1"]),
        job(["test.*", "cmd.run"], ["test.ping", "cmd.run"], [[], ["id"]], ["web1"]),
    ],
    "targets": [
        *[job([{expr: ["test.ping"]}], "test.ping", [], ids) for expr, ids in [
            ("L@web1,db1", ["db1", "web1"]), ("L@web1,db1", ["db2"]), ("E@^web[0-9]$", ["web1"]),
            ("E@^web[0-9]$", ["web10"]), ("web* and not web10", ["web1", "web2"]), ("web* and not web10", ["web10"]),
            ("web1 or db*", ["db1", "db2", "web1"]), ("not web*", ["db1"]), ("not web*", ["web1"])]],
    ],
    "master": [
        *[master([rule], form, fun) for rule in ["@runner", "@runners", "@wheel", "@wheels", "@jobs", "@key", "jobs.*", ".*", "@", "runner"]
          for form, fun in [("runner", "jobs.list_jobs"), ("wheel", "key.list_all")]],
        *[master([{key: rule}], "runner", "jobs.list_jobs") for key, rule in [
            ("@jobs", ["list_jobs"]), ("@jobs", "list_.*"), ("@jobs", ["lookup_jid"]), ("@jobs", ["jobs.list_jobs"]), ("@runner", ["jobs.list_jobs"]),
            ("@runners", ["jobs.*"]), ("@runner", ["list_jobs"]), ("@wheel", ["jobs.*"]), ("@manage", ["list_jobs"]), ("*", ["jobs.list_jobs"])]],
        *[master([{"@key": [{"accept": {"args": ["web.*"], "kwargs": {"include_denied": "False"}}}]}], "wheel", "key.accept", *args) for args in [
            (["web1"], {"include_denied": False}), (["db1"], {"include_denied": False}), (["web1"], {}), ([], {"include_denied": False}), (None, None)]],
        master([], "runner", "jobs.list_jobs"), master(["@runner"], "runner", "jobs"), master(["@runner"], "runner", "a.b.c"), master(["@runner"], "wheel", ""),
        master([7, None, {}, {"@jobs": ["x"], "@key": ["x"]}], "runner", "jobs.x"), master([{"@wheel": [{"key.delete": {}}]}], "wheel", "key.delete"),
    ],
    "lists": [
        *[listed({"fred": ["a"], "*": ["c"], "ops%": ["b"], "wheel%": ["d"]}, name, groups) for name, groups in [
            ("fred", []), ("anna", []), ("fred", ["ops"]), ("anna", ["ops", "wheel"]), ("fred", ["wheel", "ops", "fred"]), ("ops", []), ("ops%", ["x"])]],
        listed({"fred": ["a"]}, "anna", []), listed({}, "fred", ["ops"]), listed({"ops%": ["a"], "fred": [{"web*": ["b"]}]}, "fred", ["ops"]),
        listed({"Fred": ["a"], "fre": ["b"], "fred2": ["c"]}, "fred", []), listed({"adm.*": ["a"]}, "admin", []), listed({"steve|admin.*": ["a"]}, "steve", []),
    ],
    "prefix": [
        *[job([rule], fun, [], ["web1"]) for rule, fun in [("cmd.run", "cmd.run_all"), ("test", "test.ping"), ("grains.get", "grains.get_or_set_hash"), ("", "test.ping")]],
        job([{"web*": ["state.sls"]}], "state.sls_id", [], ["web1"]),
        job([{"*": [{"my.fun": {"args": ["a"]}}]}], "my.fun", ["abc; rm -rf /"], ["db1"]), job([{"*": [{"my.fun": {"kwargs": {"b": "c"}}}]}], "my.fun", [kw(b="cd")], ["db1"]),
        master([{"@jobs": ["list_job"]}], "runner", "jobs.list_jobs"),
    ],
    "compound": [
        job(["test.ping"], ["test.ping", "cmd.run"], [[], ["id"]], ["web1"]), job(["test.ping"], ["cmd.run", "test.ping"], [["id"], []], ["web1"]),
        job([], ["saltutil.find_job", "cmd.run"], [["1"], ["id"]], ["web1"]), job([{"web*": ["test.*"]}], ["test.ping", "cmd.run"], [[], ["id"]], ["web1"]),
    ],
}
print(sum(len(listed) for listed in rows.values()), "rows")
text = ",\n".join(f'"{group}": [\n' + ",\n".join(json.dumps(row) for row in listed) + "\n]" for group, listed in rows.items())
(HERE / "auth_rules.json").write_text("{\n\"ids\": " + json.dumps(IDS) + ",\n" + text + "\n}\n")
