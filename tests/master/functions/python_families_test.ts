/**
 * Plugins in Python of the smaller families: outputters, systems of external_auth, rosters, drivers of sdb,
 * serializers.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { RosterError } from "#lib/errors.ts";
import { withPythonEauth } from "#lib/master/functions/python_auth.ts";
import { pythonRosters } from "#lib/master/functions/python_rosters.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { type Fleet, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Writes files below a directory, by their paths. */
function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    Deno.mkdirSync(`${root}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
    Deno.writeTextFileSync(`${root}/${path}`, text);
  }
}

const AUTH = `
def auth(username, password):
    return password == "right" and username in ("ann", "bob", "eve")
def groups(username, **kwargs):
    return ["ops"] if username == "bob" else []
def acl(username):
    return [".*"] if username == "eve" else None
`;
const OUTPUT = `
print("printed")
def output(data, **kwargs):
    if data == {"web1": "fail"}:
        raise KeyError("went wrong")
    return "own %s %s %s\\n" % (sorted(data.items()), __opts__["id"], __opts__["color"])
`;

Deno.test("a system in Python tells the rules of users that another one knows (eauth_acl_module)", () =>
  withTemporaryDirectory(async (root) => {
    write(root, {
      "mods/auth/own_eauth.py": AUTH,
      "mods/auth/texts.py": "def acl(username, password):\n    return 'test.' + username if password == 'p' else {}\n",
    });
    const overrides = { root_dir: root, sock_dir: `${root}/s`, module_dirs: [`${root}/mods`] };
    const values = Object.fromEntries(Object.entries(overrides).map(([name, value]) => [name, toValue(value)]));
    const { opts } = loadMasterConfig({ readsFiles: false, overrides: values });
    const load = withPythonEauth(() => Promise.resolve(undefined));
    const rulesOf = async (name: string, username: string, password = "p") =>
      await (await load(name, { opts, config: map({}), log: SILENT_LOGGER }))?.rules?.({ username, password });
    assertEquals(await rulesOf("texts", "ann"), ["test.ann"]);
    // What is no list of rules allows nothing.
    assertEquals(await rulesOf("texts", "ann", "q"), []);
    // It takes no password, and is not given one.
    assertEquals([await rulesOf("own_eauth", "eve"), await rulesOf("own_eauth", "ann")], [[".*"], undefined]);
    assertEquals(await rulesOf("absent", "ann"), undefined);
  }));

Deno.test("outputters and systems of external_auth in Python serve a master's commands", () =>
  withTemporaryDirectory(async (root) => {
    write(root, {
      "auth/own_eauth.py": AUTH,
      "auth/bare.py": 'def auth(username, password):\n    return password == "right"\n',
      "output/shown.py": OUTPUT,
      "auth/fails.py": "def auth(username): x\n",
    });
    await using fleet = await startFleet({
      minions: ["web1"],
      master: {
        module_dirs: [root],
        external_auth: {
          own_eauth: { ann: ["test.echo"], "ops%": ["test.ping"] },
          fails: { ann: [".*"] },
          bare: { ann: ["test.ping"] },
        },
      },
    });
    const as = (user: string, password: string, ...words: string[]) =>
      fleet.salt("web1", ...words, "-a", "own_eauth", `--username=${user}`, `--password=${password}`, "--out=json");
    assertStringIncludes((await as("ann", "right", "test.echo", "hi")).out, '"hi"');
    assertStringIncludes((await as("bob", "right", "test.ping")).out, "true");
    assertStringIncludes((await as("eve", "right", "test.arg", "1")).out, '"args"');
    for (const [user, password] of [["ann", "wrong"], ["dan", "right"]]) {
      const refused = await as(user, password, "test.echo", "hi");
      assertMatch(refused.out + refused.err, /Authentication/);
    }
    // A system needs no groups, and no rules of its own.
    const bare = (password: string) =>
      fleet.salt("web1", "test.ping", "-a", "bare", "--username=ann", `--password=${password}`, "--out=json");
    assertStringIncludes((await bare("right")).out, "true");
    const wrong = await bare("wrong");
    assertMatch(wrong.out + wrong.err, /Authentication/);
    const other = await as("ann", "right", "test.arg", "1");
    assertMatch(other.out + other.err, /Authorization/);
    assertEquals((await fleet.salt("web1", "test.ping", "-a", "none", "--username=a", "--password=b")).code, 64);

    const shown = await fleet.salt("web1", "test.echo", "hi", "--out=shown");
    assertEquals(shown.out, "own [('web1', 'hi')] fleet_master False\n");
    const failed = await fleet.salt("web1", "test.echo", "fail", "--out=shown");
    assertEquals(failed.out, "web1:\n    fail\n");
    assertStringIncludes(failed.err, "The outputter shown failed, fall back to nested: KeyError: 'went wrong'");
  }));

const SDB = `
STORED = "%s"
import json, os
def _read():
    return json.load(open(STORED)) if os.path.exists(STORED) else {}
def get(key, profile=None):
    return _read().get(profile["prefix"] + key)
def set_(key, value, profile=None):
    stored = dict(_read(), **{profile["prefix"] + key: value})
    json.dump(stored, open(STORED, "w"))
    return value
__func_alias__ = {"set_": "set"}
`;
const SERIALIZER = `
def serialize(obj, **options):
    return "own:" + ",".join("%s=%s" % one for one in sorted(obj.items())) + options.get("end", "")
def deserialize(text, **options):
    return dict(one.split("=") for one in text.split(":", 1)[1].split(","))
`;

fleetTest("drivers of sdb and serializers in Python serve a minion's functions and states", {
  minions: ["web1"],
}, async (fleet: Fleet) => {
  const extmods = `${fleet.root}/srv`;
  write(extmods, {
    "_sdb/kept.py": SDB.replace("%s", `${fleet.root}/stored.json`),
    "_serializers/own_form.py": SERIALIZER,
    "made.sls":
      `${fleet.root}/made:\n  file.serialize:\n    - dataset: {a: 1, b: 2}\n    - serializer: own_form\n    - serializer_opts: [{end: ';'}]\n`,
  });
  await fleet.stopMinion("web1");
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1", { own: { driver: "kept", prefix: "p_" } }));
  await fleet.salt("web1", "saltutil.sync_all");
  const call = (...words: string[]) => fleet.saltJson("web1", ...words);
  const of = (value: Value) => map({ web1: value });
  assertEquals(await call("sdb.set", "sdb://own/k", "v"), of("v"));
  assertEquals(await call("sdb.get", "sdb://own/k"), of("v"));
  assertEquals(await call("config.get", "own:driver"), of("kept"));
  assertEquals(JSON.parse(Deno.readTextFileSync(`${fleet.root}/stored.json`)), { p_k: "v" });
  assertMatch((await fleet.salt("web1", "sdb.delete", "sdb://own/k")).out, /The driver 'kept' of sdb removes nothing/);
  assertEquals(await call("slsutil.serialize", "own_form", "{a: 1}"), of("own:a=1"));
  assertEquals(await call("slsutil.deserialize", "own_form", "own:a=1,b=2"), of(map({ a: "1", b: "2" })));
  assertMatch(
    (await fleet.salt("web1", "slsutil.serialize", "no_form", "{a: 1}")).out,
    /Serializer 'no_form' not found/,
  );
  await fleet.salt("web1", "state.apply", "made");
  assertEquals(Deno.readTextFileSync(`${fleet.root}/made`), "own:a=1,b=2;\n");
});

const ROSTER = `
def targets(tgt, tgt_type="glob", **kwargs):
    if tgt == "fail":
        return ["web1"]
    if tgt == "functions":
        import salt_bridge
        try:
            called = salt_bridge.JOB.ask("call", fun="test.echo", args=["x"], kwargs={})
        except Exception as error:
            called = str(error)
        functions = list(salt_bridge.JOB.dunder("__salt__"))
        return {"known": {"host": repr([list(__runner__), "jobs.active" in __runner__, functions, called])}}
    return {name: {"host": "10.0.0.1", "user": __opts__["ssh_user"]} for name in ("web1", "web2") if tgt in ("*", name)}
`;

Deno.test("a roster in Python gives the hosts of a target; one that gives no map is refused", () =>
  withTemporaryDirectory(async (root) => {
    write(root, {
      "mods/roster/own_hosts.py": ROSTER,
      "mods/roster/broken.py": "import no_such_module\n",
      "mods/roster/bare.py": "def hosts():\n    return {}\n",
    });
    const overrides = { root_dir: root, sock_dir: `${root}/s`, module_dirs: [`${root}/mods`], ssh_user: "ann" };
    const values = Object.fromEntries(Object.entries(overrides).map(([name, value]) => [name, toValue(value)]));
    const { opts } = loadMasterConfig({ readsFiles: false, overrides: values });
    const rosters = pythonRosters({ opts, log: SILENT_LOGGER, signal: new AbortController().signal });
    const target = (tgt: string) => ({ tgt, tgtType: "glob", delimiter: ":" });
    assertEquals([rosters.has("own_hosts"), rosters.has("flat")], [true, false]);
    const host = map({ host: "10.0.0.1", user: "ann" });
    assertEquals(await rosters.targets("own_hosts", target("web2")), new Map([["web2", host]]));
    assertEquals((await rosters.targets("own_hosts", target("*"))).size, 2);
    // A roster has no functions.
    const known = (await rosters.targets("own_hosts", target("functions"))).get("known");
    assertEquals(known, map({ host: `[[], False, [], "'test.echo'"]` }));
    await assertRejects(() => rosters.targets("own_hosts", target("fail")), Error, "returned no map of hosts");
    await assertRejects(() => rosters.targets("broken", target("*")), Error, "No module named 'no_such_module'");
    await assertRejects(() => rosters.targets("bare", target("*")), RosterError, "has no function targets");
  }));
