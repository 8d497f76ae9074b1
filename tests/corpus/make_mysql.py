#!/usr/bin/env python3
"""Writes mysql.json: what Salt's execution module `mysql` and its states return, one call after the other, with a MariaDB of this host in a temporary
directory. Run it with the Python of an environment that has Salt 3006.28, mysqlclient and sqlparse. `{file}` in an argument is the path of a file with SCRIPT. The time
of a query is left out. A step with `ours` has the result here where Salt fails because of its own fault, or differs as docs/differences.md says."""
import json
import logging
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import warnings

warnings.simplefilter("ignore")
import salt.config
import salt.loader
import salt.version

logging.disable(logging.CRITICAL)
NOBODY = 65534
SCRIPT = """# a comment; with a semicolon
CREATE TABLE words (id INT, word VARCHAR(20));
INSERT INTO words VALUES (1, 'a;b');
INSERT INTO words VALUES (2, 'c'), (3, NULL);
SELECT word FROM words WHERE id < 3 ORDER BY id;
"""
ODD = "f_o%o`b'a\"r\\"
HASH = "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4"
WRONG = {"connection_user": "salt", "connection_pass": "wrong"}


def state(fun, test=False, **kwargs):
    return {"fun": fun, "kwargs": kwargs, "test": test}


def call(fun, *args, **kwargs):
    return {"fun": fun, "args": list(args), "kwargs": kwargs}


def reached(fun, **kwargs):
    """A state in test mode, then applied, then again."""
    return [state(fun, True, **kwargs), state(fun, **kwargs), state(fun, **kwargs)]


STEPS = [
    *reached("mysql_database.present", name="shop", character_set="latin1", collate="latin1_swedish_ci"),
    call("mysql.db_get", "shop"), call("mysql.db_get", "nothing"), call("mysql.db_exists", "shop"), call("mysql.db_exists", "nothing"),
    call("mysql.db_create", "shop"),
    *reached("mysql_database.present", name="shop", character_set="utf8mb4", collate="utf8mb4_unicode_ci"),
    state("mysql_database.present", True, name="shop", character_set="latin1"),
    call("mysql.alter_db", "shop", collate="utf8mb4_bin"), call("mysql.db_get", "shop"),
    *reached("mysql_database.present", name=ODD),
    call("mysql.db_list"), call("mysql.db_exists", ODD), call("mysql.db_tables", "nothing"),
    call("mysql.query", "shop", "CREATE TABLE goods (id INT PRIMARY KEY, name VARCHAR(30), price DECIMAL(6,2), made DATE, raw VARBINARY(4))"),
    call("mysql.query", "shop", "INSERT INTO goods VALUES (1, 'ä''✓', 1.5, '2026-01-02', 'ab'), (2, NULL, 2, NULL, NULL)"),
    call("mysql.query", "shop", "SELECT * FROM goods ORDER BY id"),
    call("mysql.query", "shop", "UPDATE goods SET name='x' WHERE id > 0"), call("mysql.query", "shop", "UPDATE goods SET name='x' WHERE id > 0"),
    call("mysql.query", "shop", "SELECT id FROM goods WHERE id > 5"), call("mysql.query", "shop", "SHOW TABLES"),
    call("mysql.query", "nothing", "SELECT 1"), call("mysql.query", "shop", "DELETE FROM goods WHERE id = 2"),
    call("mysql.file_query", "shop", "{file}"), call("mysql.file_query", "shop", "/nonexistent.sql"),
    call("mysql.db_tables", "shop"), call("mysql.db_check", "shop"), call("mysql.db_check", "shop", "goods"), call("mysql.db_check", "shop", "nothing"),
    call("mysql.db_optimize", "shop", "goods"), call("mysql.db_repair", "shop", "goods"), call("mysql.db_repair", "shop"),
    *reached("mysql_query.run", name="ask", database="shop", query="SELECT word FROM words ORDER BY id"),
    state("mysql_query.run", name="ask", database="nothing", query="SELECT 1"),
    state("mysql_query.run", name="put", database="shop", query="UPDATE words SET word='z' WHERE id=1"),
    state("mysql_query.run", name="flags", database="shop", query="SELECT 1", client_flags="x"),
    state("mysql_query.run", True, name="out", database="shop", query="SELECT 1", output="/nonexistent/out"),
    state("mysql_query.run", True, name="out", database="shop", query="SELECT 1", output="grain", grain="a"),
    state("mysql_query.run", True, name="out", database="shop", query="SELECT 1", output="grain", grain="a", key="b"),
    state("mysql_query.run", name="out", database="shop", query="SELECT 1", output="grain"),
    state("mysql_query.run_file", name="f", database="shop", query_file="/nonexistent.sql"),
    state("mysql_query.run_file", True, name="f", database="shop", query_file="{file}"),
    *reached("mysql_user.present", name="frank", password="s3'c\\ret"),
    state("mysql_user.present", True, name="frank", password="other"), state("mysql_user.present", name="frank", password="other"),
    call("mysql.user_exists", "frank", "localhost", "other"), call("mysql.user_exists", "frank", "localhost", "no"), call("mysql.user_exists", "frank", "%"),
    call("mysql.verify_login", "frank", "other"), call("mysql.verify_login", "frank", "no"),
    *reached("mysql_user.present", name="hash", host="%", password_hash=HASH),
    call("mysql.user_exists", "hash", "%", "mypass"), call("mysql.user_exists", "hash", "%", password_hash=HASH),
    *reached("mysql_user.present", name="open", allow_passwordless=True),
    call("mysql.user_exists", "open", passwordless=True), call("mysql.user_exists", "frank", passwordless=True),
    state("mysql_user.present", name="none"), state("mysql_user.present", True, name="maybe", allow_passwordless="maybe", unix_socket=True),
    *reached("mysql_user.present", name="sock", allow_passwordless=True, unix_socket=True),
    call("mysql.user_chpass", "nobody", "localhost", "x"), call("mysql.user_chpass", "frank", "localhost", "third"), call("mysql.verify_login", "frank", "third"),
    call("mysql.user_create", "frank", "localhost", "x"), call("mysql.user_create", ODD, "localhost", ODD), call("mysql.user_exists", ODD, "localhost", ODD),
    call("mysql.verify_login", ODD, ODD),
    call("mysql.user_grants", "frank"), call("mysql.user_grants", "nobody"),
    *reached("mysql_grants.present", name="g1", grant="select,insert, update", database="shop.*", user="frank"),
    *reached("mysql_grants.present", name="g2", grant="ALL", database="shop.*", user="hash", host="%", grant_option=True),
    *reached("mysql_grants.present", name="g3", grant="all privileges", database="*.*", user="open"),
    *reached("mysql_grants.present", name="g4", grant="SELECT", database="shop.goods", user="frank"),
    *reached("mysql_grants.present", name="g5", grant="LOCK TABLES, CREATE TEMPORARY TABLES", database=f"{ODD}.*", user="frank"),
    *reached("mysql_grants.present", name="g6", grant="REPLICATION CLIENT", database="*.*", user="frank", ssl_option=[{"SSL": True}]),
    *reached("mysql_grants.present", name="g7", grant="USAGE", database="*.*", user="frank"),
    state("mysql_grants.present", name="g8", grant="FLY", database="*.*", user="frank"),
    state("mysql_grants.present", name="g9", grant="SELECT", database="shop.*", user="nobody"),
    call("mysql.user_grants", "hash", "%"),
    state("mysql_grants.present", name="g10", grant="SELECT (id, Name)", database="shop.goods", user="nologin"),
    state("mysql_user.present", name="cols", password="x"),
    {**state("mysql_grants.present", name="g11", grant="SELECT (id), INSERT (id, name)", database="shop.goods", user="cols"),
     "ours": {"name": "g11", "changes": {"g11": "Present"}, "result": True,
              "comment": "Grant SELECT (id), INSERT (id, name) on shop.goods to cols@localhost has been added"}},
    *reached("mysql_grants.present", name="g12", grant="SELECT,UPDATE", database="shop.*", user="cols"),
    state("mysql_grants.present", name="g13", grant="DELETE", database="shop.*", user="cols", revoke_first=True),
    {**call("mysql.user_grants", "cols"), "ours": [
        "GRANT USAGE ON *.* TO `cols`@`localhost`", "GRANT DELETE ON `shop`.* TO `cols`@`localhost`",
        "GRANT SELECT (`ID`), INSERT (`NAME`, `ID`) ON `shop`.`goods` TO `cols`@`localhost`"]},
    {**call("mysql.query", "shop", "SELEKT 1"), "ours": False},
    {**state("mysql_query.run", name="bad", database="shop", query="SELEKT 1"), "ours": {
        "name": "bad", "changes": {}, "result": False, "comment": "MySQL Error 1064: You have an error in your SQL syntax; check the manual that corresponds to your "
        "MariaDB server version for the right syntax to use near 'SELEKT 1' at line 1"}},
    call("mysql.grant_exists", "SELECT", "shop.*", "frank"), call("mysql.grant_exists", "SELECT,DELETE", "shop.*", "frank"),
    call("mysql.grant_exists", "SELECT", "other.*", "frank"), call("mysql.grant_exists", "FLY", "shop.*", "frank"),
    call("mysql.grant_add", "DELETE", "shop.*", "frank"), call("mysql.grant_revoke", "DELETE", "shop.*", "frank"),
    *reached("mysql_grants.absent", name="g1", grant="insert", database="shop.*", user="frank"),
    *reached("mysql_grants.absent", name="g2", grant="all", database="shop.*", user="hash", host="%"),
    *reached("mysql_user.absent", name="open"), *reached("mysql_user.absent", name="hash", host="%"), state("mysql_user.absent", name="nobody"),
    call("mysql.user_remove", "sock"), call("mysql.user_remove", ODD), call("mysql.user_remove", ODD),
    call("mysql.plugin_status", "InnoDB"), call("mysql.plugin_status", "nothing"), call("mysql.plugin_add", "InnoDB"), call("mysql.plugin_remove", "nothing"),
    call("mysql.plugin_add", "nothing"),
    call("mysql.slave_lag"), call("mysql.get_slave_status"), call("mysql.get_master_status"),
    call("mysql.quote_identifier", ODD), call("mysql.quote_identifier", ODD, True),
    *[call("mysql.tokenize_grant", grant) for grant in [
        "GRANT SELECT, INSERT ON testdb.* TO 'testuser'@'localhost'",
        "GRANT SELECT, LOCK TABLES, UPDATE, CREATE ON `test ``(:=saltdb)`.* TO 'foo'@'localhost' WITH GRANT OPTION",
        "GRANT SELECT, INSERT, UPDATE, CREATE ON `te s.t'\"sa;ltdb`.`tbl ``'\"xx` TO 'foo ' bar'@'localhost'",
        "GRANT USAGE ON *.* TO 'user \";--,?:&/\\'@'localhost'",
        "GRANT SELECT (a, b), INSERT (c) ON `db`.`t` TO 'u'@'%'",
        "GRANT ALL PRIVILEGES ON `my\\_db`.* TO `u`@`%`",
    ]],
    state("mysql_database.present", name="x", **WRONG), state("mysql_database.absent", name="x", **WRONG), state("mysql_user.present", name="x", password="y", **WRONG),
    state("mysql_user.absent", name="x", **WRONG), state("mysql_grants.present", name="x", grant="SELECT", database="a.*", user="b", **WRONG),
    state("mysql_grants.absent", name="x", grant="SELECT", database="a.*", user="b", **WRONG), state("mysql_query.run", name="x", database="shop", query="SELECT 1", **WRONG),
    *[call(f"mysql.{fun}", **WRONG) for fun in ("status", "version", "slave_lag", "db_list", "user_list", "processlist", "showvariables", "showglobal",
                                                "get_master_status", "get_slave_status", "plugins_list")],
    call("mysql.query", "shop", "SELECT 1", **WRONG), call("mysql.user_info", "x", **WRONG), call("mysql.plugin_status", "x", **WRONG),
    *reached("mysql_database.absent", name=ODD), *reached("mysql_database.absent", name="shop"),
]


def start(directory):
    """Starts MariaDB; its port."""
    os.chown(directory, NOBODY, NOBODY)
    run = {"user": NOBODY, "group": NOBODY, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"} if os.getuid() == 0 else {}
    subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={directory}/data", "--auth-root-authentication-method=normal"], check=True, **run)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    server = shutil.which("mariadbd", path="/usr/sbin:/usr/bin")
    child = subprocess.Popen([server, "--no-defaults", f"--datadir={directory}/data", f"--port={port}", "--bind-address=127.0.0.1",
                              f"--socket={directory}/sock", f"--pid-file={directory}/pid"], **run)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            # As startMariadb of tests/support/database_servers.ts.
            setup = "CREATE DATABASE salt; CREATE USER salt@localhost IDENTIFIED BY 'salt'; GRANT ALL ON salt.* TO salt@localhost;"
            subprocess.run(["mariadb", "--no-defaults", f"--socket={directory}/sock", "-u", "root"], input=setup.encode(), check=True)
            return child, port
        except OSError:
            time.sleep(0.2)
    raise SystemExit("MariaDB does not answer")


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items() if key != "query time"}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (bytes, bytearray)):
        return value.decode("latin-1")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return re.sub(r"'query time': \{[^}]*\}(, )?", "", str(value))


def main():
    directory = tempfile.mkdtemp()
    child, port = start(directory)
    try:
        script = f"{directory}/script.sql"
        pathlib.Path(script).write_text(SCRIPT)
        opts = salt.config.minion_config(None)
        opts.update({"mysql.host": "127.0.0.1", "mysql.port": port, "mysql.user": "root", "file_client": "local", "grains": {}, "pillar": {}, "test": False,
                     "root_dir": directory, "cachedir": f"{directory}/cache", "conf_file": f"{directory}/minion"})
        context = {}
        functions = salt.loader.minion_mods(opts, context)
        states = salt.loader.states(opts, functions, salt.loader.utils(opts), salt.loader.serializers(opts), context=context)
        steps = []
        for step in STEPS:
            context.clear()  # as in a new job
            family = functions if step["fun"].startswith("mysql.") else states
            given = json.loads(json.dumps([step.get("args", []), step["kwargs"]]).replace("{file}", script))
            for loader in (functions, states):
                loader.opts["test"] = step.get("test", False)
            try:
                result = {"result": plain(family[step["fun"]](*given[0], **given[1]))}
            except Exception as error:  # pylint: disable=broad-except
                result = {"raises": f"{type(error).__name__}: {error}"}
            steps.append({**step, **json.loads(json.dumps(result).replace(script, "{file}"))})
        corpus = {"salt": salt.version.__version__, "script": SCRIPT, "steps": steps}
        text = "\n".join([f'{{"salt": {json.dumps(corpus["salt"])}, "script": {json.dumps(SCRIPT)}, "steps": [',
                          ",\n".join(f" {json.dumps(one, ensure_ascii=False)}" for one in steps), "]}\n"])
        pathlib.Path(__file__).with_name("mysql.json").write_text(text)
    finally:
        child.terminate()
        child.wait()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
