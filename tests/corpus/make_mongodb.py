#!/usr/bin/env python3
"""Writes mongodb.json: what Salt's execution module `mongodb` and its states return, one call after the other, with the server of
tests/support/servers/mongo_server.ts, which is no mongod. Run it with the Python of an environment that has Salt 3006.28 and pymongo 3.13 (pymongo 4 has
no `Database.authenticate`, so that Salt's module cannot log in with it), and the arguments: the path of deno, and the root of the tree. `{port}` is the
server's port, `{id}` and `{uuid}` are ids that a server or a client makes. An exception that Salt returns, and that no master can get then, is its text. A
step with `ours` has the result here where Salt fails because of its own fault, or differs as docs/differences.md says."""
import datetime
import json
import logging
import pathlib
import re
import subprocess
import sys
import uuid
import warnings

warnings.simplefilter("ignore")
import bson
import salt.config
import salt.loader
import salt.version

logging.disable(logging.CRITICAL)
DENO, ROOT = sys.argv[1:]
PASSWORD = "s3cret/ä%,="
SHOP = {"database": "shop", "authdb": "admin"}
HERE = {"host": "127.0.0.1", "port": "{port}"}
WRONG = {"user": "admin", "password": "wrong"}
ODD = {"user": "ä, =%2C✓", "password": "ä✓ ", "database": "shop", "authdb": "shop"}
FRED = {"user": "fred", "password": "s3'c\\ret", "authdb": "shop"}


def state(fun, test=False, **kwargs):
    return {"fun": fun, "kwargs": kwargs, "test": test}


def call(fun, *args, **kwargs):
    return {"fun": f"mongodb.{fun}", "args": list(args), "kwargs": kwargs}


def reached(fun, **kwargs):
    """A state in test mode, then applied, then again."""
    return [state(fun, True, **kwargs), state(fun, **kwargs), state(fun, **kwargs)]


def ours(step, result):
    return {**step, "ours": result}


def outcome(name, result, comment, changes=None):
    return {"name": name, "result": result, "comment": comment, "changes": changes or {}}


ROLES = {"frank": {"database": "shop", "roles": {"old": ["readWrite"], "new": ["read", "dbAdmin"]}}}
FRANK = {"name": "frank", "passwd": "pw", **SHOP, **HERE}
STEPS = [
    call("version"), call("db_list"), call("db_exists", "admin"), call("db_exists", "shop"),
    call("version", database="shop", authdb="admin"),
    # Users.
    call("user_list"), call("user_find", "fred", **SHOP), call("user_exists", "fred", **SHOP),
    call("user_create", "fred", FRED["password"], roles=["readWrite", "userAdmin"], **SHOP),
    call("user_create", "fred", "other", **SHOP), call("user_create", "empty", "", **SHOP), call("user_create", "odd", "pw", roles=["nothing"], **SHOP),
    call("user_create", "plain", "pw"), call("user_create", "ä, =%2C✓", "ä✓ ", **SHOP),
    call("user_find", "fred", **SHOP), call("user_list", **SHOP), call("user_exists", "fred", **SHOP), call("user_exists", "fred"),
    call("user_find", "fred"), call("user_find", "ä, =%2C✓", **SHOP),
    call("user_list", database="shop", **FRED), call("user_list", **FRED), call("user_find", "admin", **FRED), call("db_list", **FRED),
    call("user_list", **ODD), call("user_exists", "fred", **ODD), call("version", **ODD),
    # Logins that fail.
    call("version", **WRONG, **HERE), call("db_list", **WRONG), call("db_exists", "admin", **WRONG), call("db_remove", "shop", **WRONG),
    call("user_list", **WRONG), call("user_find", "fred", **WRONG, **HERE), call("user_exists", "fred", **WRONG), call("user_create", "x", "y", **WRONG),
    call("user_remove", "fred", **WRONG), call("user_roles_exists", "fred", "[]", "shop", **WRONG), call("user_grant_roles", "fred", [], "shop", **WRONG),
    call("user_revoke_roles", "fred", [], "shop", **WRONG), call("insert", "[]", "goods", **WRONG), call("update_one", "x", "goods", **WRONG),
    call("find", "goods", **WRONG), call("remove", "goods", "{}", **WRONG), call("collection_create", "x", **WRONG),
    call("collection_drop", "x", **WRONG), call("collections_list", **WRONG), call("find", "goods", database="shop"),
    # Roles.
    call("user_roles_exists", "fred", '["readWrite"]', "shop", authdb="admin"), call("user_roles_exists", "fred", ["readWrite", "read"], "shop", authdb="admin"),
    call("user_roles_exists", "fred", '[{"role": "readWrite", "db": "shop"}, "userAdmin"]', "shop", authdb="admin"),
    call("user_roles_exists", "fred", '[{"role": "readWrite", "db": "other"}]', "shop", authdb="admin"),
    call("user_roles_exists", "nobody", "[]", "shop", authdb="admin"), call("user_roles_exists", "fred", "readWrite", "shop"),
    call("user_grant_roles", "fred", '["read", {"role": "read", "db": "other"}]', "shop", authdb="admin"), call("user_grant_roles", "fred", "readWrite", "shop"),
    call("user_grant_roles", "nobody", ["read"], "shop", authdb="admin"), call("user_grant_roles", "fred", ["nothing"], "shop", authdb="admin"),
    call("user_grant_roles", "fred", [], "shop", authdb="admin"), call("user_find", "fred", **SHOP),
    call("user_revoke_roles", "fred", ["read", {"role": "read", "db": "other"}], "shop", authdb="admin"), call("user_revoke_roles", "fred", "{", "shop"),
    call("user_revoke_roles", "nobody", ["read"], "shop", authdb="admin"), call("user_list", **SHOP),
    # Collections.
    call("collection_create", "goods", **SHOP), call("collection_create", "goods", **SHOP), call("collections_list", **SHOP), call("collections_list"),
    call("collection_create", "a$b", **SHOP), call("collection_create", ".a", **SHOP), call("collection_create", "", **SHOP), call("collection_create", "a..b", **SHOP),
    call("collection_drop", "nothing", **SHOP), call("collection_drop", "a$b", **SHOP), call("db_list"), call("db_exists", "shop"),
    # Documents.
    call("insert", '[{"_id": "a", "n": 1, "f": 1.0, "big": 5000000000, "t": [true, null, {"x": "ä✓"}]}, {"_id": "b", "n": 2}]', "goods", **SHOP),
    call("insert", [{"_id": 3, "n": 2, "z": {"b": 1, "a": 2}}, {"n": 9, "huge": -9223372036854775808}], "goods", **SHOP),
    call("insert", '[{"_id": "c"}, {"_id": "a"}, {"_id": "d"}]', "goods", **SHOP), call("insert", "[", "goods", **SHOP),
    call("insert", '[{"_id": "e"}]', "a$b", **SHOP),
    ours(call("insert", '[{"_id": "e"}]', "goods", database="a b", authdb="admin"), "database names cannot contain the character ' '"),
    call("find", "goods", **SHOP), call("find", "goods", '{"n": 2}', **SHOP), call("find", "goods", [{"_id": "a"}, {"n": {"$gt": 1}}], **SHOP),
    call("find", "goods", '{"_id": {"$in": ["a", 3]}}', **SHOP), call("find", "goods", "{n: 2}", **SHOP), call("find", "nothing", **SHOP),
    call("find", "goods", {"n": {"$what": 1}}, **SHOP), call("find", "goods", {"$what": 1}, **SHOP), call("find", ".goods.", **SHOP),
    call("update_one", '{"_id": "a"} {"n": 5, "new": [1]}', "goods", **SHOP), call("update_one", '{"_id": "a"}\n {"n": 5}', "goods", **SHOP),
    call("update_one", '{"_id": "a"}', "goods", **SHOP), call("update_one", '{"n": 2} {"n": 3}', "goods", **SHOP),
    call("update_one", '{"_id": "x"} {"n": 3}', "goods", **SHOP), call("update_one", '{"_id": "a"} {"_id": "z"}', "goods", **SHOP),
    call("update_one", '{"_id": a} {"n": 3}', "goods", **SHOP), call("update_one", '{"$what": 1} {"n": 3}', "goods", **SHOP),
    call("update_one", {"_id": "a"}, "goods", **SHOP), call("find", "goods", {"_id": "a"}, **SHOP),
    call("remove", "goods", '{"n": 2}', **SHOP), call("remove", "goods", [{"_id": "a"}, {"_id": "c"}, {"_id": "x"}], **SHOP),
    call("remove", "goods", "{}", w=9, **SHOP), call("remove", "goods", "{n", **SHOP), call("remove", "goods", {"$what": 1}, **SHOP),
    call("find", "goods", **SHOP), call("insert", [{"_id": i} for i in range(250)], "many", **SHOP), call("remove", "many", {}, w=240, **SHOP),
    call("find", "many", **SHOP), call("collection_drop", "many", **SHOP), call("collection_drop", "goods", **SHOP), call("db_exists", "shop"),
    # Databases.
    call("insert", [{"_id": 1}], "goods", **SHOP), call("db_remove", "shop"), call("db_remove", "shop"), call("db_remove", "admin"), call("db_remove", "a.b"),
    call("insert", [{"_id": 1}], "goods", **SHOP),
    *reached("mongodb_database.absent", name="shop"),
    ours(state("mongodb_database.absent", name="admin"), outcome(
        "admin", False, "Failed to remove database admin: Dropping the 'admin' database is prohibited., full error: {'ok': 0.0, 'errmsg': "
        "\"Dropping the 'admin' database is prohibited.\", 'code': 20, 'codeName': 'IllegalOperation'}")),
    ours(state("mongodb_database.absent", name="shop", **WRONG), outcome("shop", False, "Failed to connect to mongo database")),
    # States of users.
    *reached("mongodb_user.present", **FRANK, roles=["readWrite"]),
    ours(state("mongodb_user.present", True, **FRANK, roles=["read", "dbAdmin"]), outcome("frank", None, "User frank is already present", ROLES)),
    state("mongodb_user.present", **FRANK, roles=["read", "dbAdmin"]),
    ours(state("mongodb_user.present", **FRANK, roles=["read", "dbAdmin"]), outcome("frank", True, "User frank is already present")),
    ours(call("user_list", **SHOP), [
        {"user": "fred", "roles": [{"role": "readWrite", "db": "shop"}, {"role": "userAdmin", "db": "shop"}]}, {"user": "ä, =%2C✓", "roles": []},
        {"user": "frank", "roles": [{"role": "read", "db": "shop"}, {"role": "dbAdmin", "db": "shop"}]}]),
    state("mongodb_user.present", name="gina", passwd="pw", **HERE), state("mongodb_user.present", name="gina", passwd="pw", roles=[], **HERE),
    state("mongodb_user.present", name="odd", passwd="pw", roles=["nothing"], **HERE), state("mongodb_user.present", name="x", passwd="y", **WRONG, **HERE),
    state("mongodb_user.present", name="x", passwd="y", host="127.0.0.1", port=None),
    ours(state("mongodb_user.present", name="x", passwd="y", host="127.0.0.1", port="text"), outcome("x", False, "Port (text) is not an integer.")),
    state("mongodb_user.present", name="x", passwd="y", **HERE, **ODD),
    *reached("mongodb_user.absent", name="frank", **SHOP), *reached("mongodb_user.absent", name="gina"), state("mongodb_user.absent", name="x", **WRONG),
    call("user_remove", "plain"), call("user_remove", "plain"), call("user_remove", "fred", database="shop"), call("user_list", **SHOP),
]


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bson.ObjectId, uuid.UUID, datetime.datetime, Exception)):
        return str(value)
    return value


def main():
    program = [DENO, "run", "-A", "--quiet", "--no-check", "--no-lock", "--node-modules-dir=manual", "--config", f"{ROOT}deno.json"]
    child = subprocess.Popen([*program, f"{ROOT}tests/support/servers/mongo_program.ts", json.dumps({"password": PASSWORD})],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        port = int(child.stdout.readline())
        opts = salt.config.minion_config(None)
        opts.update({"id": "web1", "file_client": "local", "mongodb.host": "127.0.0.1", "mongodb.port": port, "mongodb.user": "admin", "mongodb.password": PASSWORD})
        context = {}
        utils = salt.loader.utils(opts, context=context)
        functions = salt.loader.minion_mods(opts, utils=utils, context=context)
        states = salt.loader.states(opts, functions, utils, salt.loader.serializers(opts), context=context)
        steps = []
        for step in STEPS:
            context.clear()  # as in a new job
            family = functions if step["fun"].startswith("mongodb.") else states
            args, kwargs = json.loads(json.dumps([step.get("args", []), step["kwargs"]]).replace('"{port}"', str(port)))
            for loader in (functions, states):
                loader.opts["test"] = step.get("test", False)
            try:
                result = {"result": plain(family[step["fun"]](*args, **kwargs))}
            except Exception as error:  # pylint: disable=broad-except
                result = {"raises": f"{type(error).__name__}: {error}"}
            text = json.dumps(result, ensure_ascii=False).replace(f"127.0.0.1:{port}", "127.0.0.1:{port}")
            text = re.sub(r"\b[0-9a-f]{24}\b", "{id}", re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "{uuid}", text))
            steps.append({**step, **json.loads(text)})
        corpus = {"salt": salt.version.__version__, "password": PASSWORD, "steps": steps}
        text = "\n".join([f'{{"salt": {json.dumps(corpus["salt"])}, "password": {json.dumps(PASSWORD)}, "steps": [',
                          ",\n".join(f" {json.dumps(one, ensure_ascii=False)}" for one in steps), "]}\n"])
        pathlib.Path(__file__).with_name("mongodb.json").write_text(text)
    finally:
        child.stdin.close()
        child.wait()


if __name__ == "__main__":
    main()
