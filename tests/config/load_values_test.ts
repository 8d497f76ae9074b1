/**
 * What a load makes of the values of options: converted, refused with file and line, or named in a warning.
 * @module
 */

import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { loadClientConfig, loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { OPTION_TABLES } from "#lib/config/options.ts";
import { refusedOptionNames } from "#lib/config/unbuilt_options.ts";
import { ConfigError } from "#lib/errors.ts";
import { str, type Value } from "#lib/values/value.ts";
import { ConfigPlace } from "./config_place.ts";

Deno.test("values of the files are converted to the types of the option tables", () => {
  using place = new ConfigPlace({
    "etc/salt/master": `
ret_port: "14506"
timeout: 2.5
loop_interval: 3
open_mode: yes
id: 7
file_ignore_glob: "*.pyc"
thorium_interval: 9
hash_type: SHA512
peer:
nodegroups: [{a: "L@x"}, {b: "L@y"}]
`,
  });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(warnings, [
    `${place.path("etc/salt/master")}: not built yet, and without effect: thorium_interval`,
  ]);
  assertEquals(loadClientConfig(place.request()).warnings, [], "said by the master, and not by each command again");
  assertEquals([opts.ret_port, opts.timeout, opts.loop_interval], [14506, 2.5, 3]);
  assertEquals([opts.open_mode, opts.id, opts.hash_type], [true, "7", "sha512"]);
  assertEquals(opts.file_ignore_glob, ["*.pyc"]);
  assertEquals(opts.peer, new Map());
  assertEquals([...opts.nodegroups.keys()].map(str), ["a", "b"]);
});

const SALTS_OWN: [role: "master" | "minion", yaml: string, name: string, value: Value][] = [
  ["master", "master_pubkey_signature:", "master_pubkey_signature", null],
  ["master", "loop_interval: 0.05", "loop_interval", 0.05],
  ["minion", "loop_interval: 0.05", "loop_interval", 0.05],
];
for (const [role, yaml, name, value] of SALTS_OWN) {
  Deno.test(`a ${role} accepts what Salt accepts: ${yaml}`, () => {
    using place = new ConfigPlace({ [`etc/salt/${role}`]: `${yaml}\n` });
    const load = role === "master" ? loadMasterConfig : loadMinionConfig;
    const opts: Readonly<Record<string, unknown>> = { ...load(place.request()).opts };
    assertEquals(opts[name], value);
  });
}

for (const written of ["0", "-1", "99999999999"]) {
  Deno.test(`a minion with mine_interval: ${written}, which Salt accepts, names it and fills its mine all the same`, () => {
    using place = new ConfigPlace({ "etc/salt/minion": `id: m1\nmine_interval: ${written}\n` });
    const { opts, warnings } = loadMinionConfig(place.request());
    assertEquals(opts.mine_interval, 60);
    assertStringIncludes(warnings.join("\n"), `etc/salt/minion:2: mine_interval: must be between 1 and 52704000`);
    assertStringIncludes(warnings.join("\n"), `not ${written}; 60 is used`);
  });
}

for (const role of ["master", "minion"] as const) {
  Deno.test(`a ${role} refuses options that protect something and are not built, unless they protect nothing`, () => {
    const load = role === "master" ? loadMasterConfig : loadMinionConfig;
    const other = OPTION_TABLES[role === "master" ? "minion" : "master"];
    const names = refusedOptionNames().filter((name) =>
      Object.hasOwn(OPTION_TABLES[role], name) || !Object.hasOwn(other, name)
    );
    assert(names.includes("disable_grains") && names.length > 5);
    for (const name of names) {
      using place = new ConfigPlace({ [`etc/salt/${role}`]: `a: 1\n${name}: [x]\n` });
      if (Object.hasOwn(OPTION_TABLES[role], name)) place.write(`etc/salt/${role}`, `a: 1\n${name}: x\n`);
      assertThrows(
        () => load(place.request()),
        ConfigError,
        `etc/salt/${role}:2: ${name}: is not built yet, and cannot be ignored: it protects this ${role}`,
      );
      for (const nothing of ["null", "false", "[]", "''"]) {
        if (Object.hasOwn(OPTION_TABLES[role], name) && nothing !== "''") continue;
        place.write(`etc/salt/${role}`, `${name}: ${nothing}\n`);
        load(place.request());
      }
    }
  });
}

const BAD: [yaml: string, message: string][] = [
  ["timeout: 5\nret_port: http", ":2: ret_port: must be an integer, not 'http' (str)"],
  ["ret_port: 70000", ":1: ret_port: must be between 0 and 65535, not 70000"],
  ["ret_port: 4506.5", ":1: ret_port: must be an integer, not 4506.5 (float)"],
  ["ret_port:", ":1: ret_port: must be an integer, not None (NoneType)"],
  ["keysize: 32769", ":1: keysize: must be between 2048 and 32768, not 32769"],
  ["worker_threads: 0", ":1: worker_threads: must be between 1 and 1024, not 0"],
  ['open_mode: "yes"', ":1: open_mode: must be true or false, not 'yes' (str)"],
  ["auto_accept: 1", ":1: auto_accept: must be true or false, not 1 (int)"],
  ["log_level: loud", ":1: log_level: must be one of quiet, critical,"],
  ["transport: smoke", ":1: transport: must be one of zeromq, not 'smoke'"],
  ["file_roots: /srv/salt", ":1: file_roots: must be a map, not '/srv/salt' (str)"],
  ["file_roots:\n  base: /srv/salt", ":1: file_roots: base must be a list of directories"],
  ["interface: [a]", ":1: interface: must be a string, not ['a'] (list)"],
  ["a: 1\nb: [", ":"],
  ["- a", ":1: expected a mapping"],
  ["pki_dir: file:///pki", ":1: pki_dir: must be a path, not file:///pki"],
  ["id: a/b", ':1: id: "a/b" cannot name a node'],
];
for (const [yaml, message] of BAD) {
  Deno.test(`an invalid value is an error with file, line and option: ${JSON.stringify(yaml)}`, () => {
    using place = new ConfigPlace({ "etc/salt/master": yaml });
    const error = assertThrows(() => loadMasterConfig(place.request()), ConfigError, message);
    assertStringIncludes(error.message, `${place.path("etc/salt/master")}:`);
    assert(error.where.line !== undefined && error.where.line >= 1);
  });
}

Deno.test("the error of an invalid value on the command line names only the option", () => {
  // Also if a file has the option: its line is not the cause.
  for (const text of ["", "ret_port: 4506\n"]) {
    using place = new ConfigPlace({ "etc/salt/master": text });
    const error = assertThrows(() => loadMasterConfig(place.request({ ret_port: -1 })), ConfigError);
    assertEquals(error.message, "ret_port: must be between 0 and 65535, not -1");
    assertEquals(error.where, { option: "ret_port", file: undefined, line: undefined });
  }
});

Deno.test("an unknown option is a warning that suggests the nearest name, and is stored in extra", () => {
  using place = new ConfigPlace({
    "etc/salt/master": "timeout: 5\nworker_thread: 7\nxyzzy: 1\nmysql.host: db\nx509_signing_policies: {}\n",
  });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(warnings, [
    `${place.path("etc/salt/master")}:2: worker_thread: unknown option; did you mean worker_threads?`,
    `${place.path("etc/salt/master")}:3: xyzzy: unknown option`,
  ]);
  assertEquals([...opts.extra.keys()].map(str), ["worker_thread", "xyzzy", "mysql.host", "x509_signing_policies"]);
});

Deno.test("options of Salt without effect here are listed in one warning", () => {
  using place = new ConfigPlace({ "etc/salt/master": "hgfs_remotes: []\nthorium_interval: 1\nauth_tries: 3\n" });
  assertEquals(loadMasterConfig(place.request()).warnings, [
    `${place.path("etc/salt/master")}: no effect on this master: auth_tries`,
    `${place.path("etc/salt/master")}: not built yet, and without effect: hgfs_remotes, thorium_interval`,
  ]);
});

Deno.test("a value of Salt that is not built is named, and the default is used", () => {
  const cases: readonly (readonly ["master" | "minion", string, string, string])[] = [
    ["minion", "transport", "tcp", "zeromq"],
    ["master", "ipc_mode", "tcp", "ipc"],
    ["master", "log_file", "file:///dev/log", "/var/log/salt/master"],
  ];
  for (const [role, name, value, used] of cases) {
    using place = new ConfigPlace({ [`etc/salt/${role}`]: `${name}: ${value}\n` });
    const { opts, warnings } = role === "master"
      ? loadMasterConfig(place.request())
      : loadMinionConfig(place.request());
    assertEquals(warnings, [
      `${place.path(`etc/salt/${role}`)}:1: ${name}: ${value} is not built yet: ${used} is used`,
    ]);
    const loaded = String(new Map<string, unknown>(Object.entries(opts)).get(name));
    assertEquals(loaded.endsWith(used), true, loaded);
  }
});

Deno.test("a log level by an alias of Python's is accepted with a warning", () => {
  using place = new ConfigPlace({ "etc/salt/master": "log_level: warn\n" });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(opts.log_level, "warning");
  assertEquals(warnings, [`${place.path("etc/salt/master")}:1: log_level: warn is called warning`]);
});

Deno.test("a misspelt state_output is taken for the default, with a warning that has the nearest word", () => {
  using place = new ConfigPlace({
    "etc/salt/master": "state_output: tersee\n",
    "etc/salt/minion": "state_output: Mixed_ID\n",
  });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(opts.state_output, "full");
  const text = "state_output: 'tersee' is not known; did you mean terse? full is used";
  assertEquals(warnings, [`${place.path("etc/salt/master")}:1: ${text}`]);
  const minion = loadMinionConfig(place.request());
  assertEquals([minion.opts.state_output, minion.warnings], ["mixed_id", []]);
});
