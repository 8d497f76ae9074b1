import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { type ConfigRequest, loadClientConfig, loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import type { ProcessEnvironment } from "#lib/config/place.ts";
import type { HostNames } from "#lib/config/node_id.ts";
import { OPTION_TABLES } from "#lib/config/options.ts";
import { refusedOptionNames } from "#lib/config/unbuilt_options.ts";
import { ConfigError } from "#lib/errors.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** A directory with the given files, by relative path, and an environment independent of this host. */
class Place {
  readonly root = Deno.makeTempDirSync({ prefix: "salt_config_" });
  readonly variables: Record<string, string> = {};

  constructor(files: Record<string, string> = {}) {
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  path(path: string): string {
    return `${this.root}/${path}`;
  }

  write(path: string, text: string): void {
    Deno.mkdirSync(this.path(path).replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(this.path(path), text);
  }

  get environment(): ProcessEnvironment {
    return {
      env: (name) => this.variables[name],
      cwd: this.root,
      hostNames: () => ({
        hostname: "box",
        hosts: "127.0.1.1 box.example.org box",
        hostnameFile: "box\n",
        addresses: [],
      }),
      user: () => "tester",
    };
  }

  request(overrides: ConfigRequest["overrides"] = {}): ConfigRequest {
    return {
      configDir: this.path("etc/salt"),
      overrides: { root_dir: this.root, ...overrides },
      environment: this.environment,
    };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("without a configuration file the defaults apply, below root_dir", () => {
  using place = new Place();
  const directory = place.path("etc/salt");
  const expected = [`${directory}: there is no such configuration directory; every option has its default`];
  assertEquals(loadMasterConfig(place.request()).warnings, expected);
  Deno.mkdirSync(directory, { recursive: true });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(warnings, []);
  assertEquals([opts.publish_port, opts.ret_port, opts.worker_threads, opts.user], [4505, 4506, 5, "tester"]);
  assertEquals(opts.pki_dir, place.path("etc/salt/pki/master"));
  assertEquals(opts.sock_dir, place.path("var/run/salt/master"));
  assertEquals(opts.extension_modules, place.path("var/cache/salt/master/extmods"));
  assertEquals(opts.conf_file, place.path("etc/salt/master"));
  assertEquals(opts.config_dir, place.path("etc/salt"));
  assertEquals(opts.id, "box.example.org_master");
  assertEquals(opts.autosign_file, null);
  assertEquals(opts.file_roots, new Map([["base", ["/srv/salt", "/srv/spm/salt"]]]) as ValueMap);
});

Deno.test("defaults are not shared between two loads", () => {
  using place = new Place();
  loadMasterConfig(place.request()).opts.file_roots.clear();
  assertEquals(loadMasterConfig(place.request()).opts.file_roots.size, 1);
});

Deno.test("values of the files are converted to the types of the option tables", () => {
  using place = new Place({
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
    using place = new Place({ [`etc/salt/${role}`]: `${yaml}\n` });
    const load = role === "master" ? loadMasterConfig : loadMinionConfig;
    const opts: Readonly<Record<string, unknown>> = { ...load(place.request()).opts };
    assertEquals(opts[name], value);
  });
}

for (const written of ["0", "-1", "99999999999"]) {
  Deno.test(`a minion with mine_interval: ${written}, which Salt accepts, names it and fills its mine all the same`, () => {
    using place = new Place({ "etc/salt/minion": `id: m1\nmine_interval: ${written}\n` });
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
      using place = new Place({ [`etc/salt/${role}`]: `a: 1\n${name}: [x]\n` });
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
    using place = new Place({ "etc/salt/master": yaml });
    const error = assertThrows(() => loadMasterConfig(place.request()), ConfigError, message);
    assertStringIncludes(error.message, `${place.path("etc/salt/master")}:`);
    assert(error.where.line !== undefined && error.where.line >= 1);
  });
}

Deno.test("the error of an invalid value on the command line names only the option", () => {
  // Also if a file has the option: its line is not the cause.
  for (const text of ["", "ret_port: 4506\n"]) {
    using place = new Place({ "etc/salt/master": text });
    const error = assertThrows(() => loadMasterConfig(place.request({ ret_port: -1 })), ConfigError);
    assertEquals(error.message, "ret_port: must be between 0 and 65535, not -1");
    assertEquals(error.where, { option: "ret_port", file: undefined, line: undefined });
  }
});

Deno.test("an unreadable file is an error", () => {
  using place = new Place({ "etc/salt/master/oops": "" });
  assertThrows(
    () => loadMasterConfig(place.request()),
    ConfigError,
    `${place.path("etc/salt/master")}: cannot be read`,
  );
});

Deno.test("an unknown option is a warning that suggests the nearest name, and is stored in extra", () => {
  using place = new Place({
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
  using place = new Place({ "etc/salt/master": "hgfs_remotes: []\nthorium_interval: 1\nauth_tries: 3\n" });
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
    using place = new Place({ [`etc/salt/${role}`]: `${name}: ${value}\n` });
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
  using place = new Place({ "etc/salt/master": "log_level: warn\n" });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(opts.log_level, "warning");
  assertEquals(warnings, [`${place.path("etc/salt/master")}:1: log_level: warn is called warning`]);
});

Deno.test("a misspelt state_output is taken for the default, with a warning that has the nearest word", () => {
  using place = new Place({
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

Deno.test("master.d is read in order: later files override earlier ones, maps are merged, lists are joined, and all override the main file", () => {
  using place = new Place({
    "etc/salt/master": "timeout: 1\npeer: {main: [x]}\nret_port: 1",
    "etc/salt/master.d/20.conf": "timeout: 20\npeer: {b: [y]}\nrunner_dirs: [/b, /a]",
    "etc/salt/master.d/10.conf": "timeout: 10\npeer: {a: [x]}\nrunner_dirs: [/a]",
    "etc/salt/master.d/.hidden.conf": "timeout: 99\npub_hwm: 99",
    "etc/salt/master.d/readme.txt": "timeout: 98",
  });
  const { opts } = loadMasterConfig(place.request());
  assertEquals([opts.timeout, opts.ret_port, opts.pub_hwm], [20, 1, 1000]);
  assertEquals([...opts.peer.keys()].map(str), ["a", "b"]);
  assertEquals(opts.runner_dirs, ["/a", "/b"]);
});

Deno.test("the error of an invalid value in an included file names that file", () => {
  using place = new Place({ "etc/salt/master.d/x.conf": "\n\nret_port: x" });
  assertThrows(
    () => loadMasterConfig(place.request()),
    ConfigError,
    `${place.path("etc/salt/master.d/x.conf")}:3: ret_port: `,
  );
});

Deno.test("include accepts paths and globs, relative to its file, and warns if they match nothing", () => {
  using place = new Place({
    "etc/salt/master": "include: [more/*.yml, absent.conf]",
    "etc/salt/more/a.yml": "timeout: 3\ninclude: b.inc",
    "etc/salt/more/b.inc": "ret_port: 77\ninclude: a.yml",
  });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals([opts.timeout, opts.ret_port], [3, 77]);
  assertEquals(warnings, ["include: absent.conf matches no file"]);
});

Deno.test("include accepts a path in the home directory, and rejects other values", () => {
  using place = new Place({ "etc/salt/master": "include: ~/mine.conf", "home/mine.conf": "timeout: 3" });
  place.variables.HOME = place.path("home");
  assertEquals(loadMasterConfig(place.request()).opts.timeout, 3);
  place.write("etc/salt/master", "timeout: 4\ninclude: [mine.conf, {a: b}]");
  assertThrows(
    () => loadMasterConfig(place.request()),
    ConfigError,
    `${place.path("etc/salt/master")}:2: include: must be a path or a list of paths`,
  );
});

Deno.test("paths in files are below root_dir, paths of the command line are not", () => {
  using place = new Place();
  place.write(
    "etc/salt/master",
    `pki_dir: /srv/pki\ncachedir: ${place.root}/cache\npidfile: run/m.pid\nautosign_file: auto\n`,
  );
  const { opts } = loadMasterConfig(place.request({ log_file: "here.log" }));
  assertEquals(opts.pki_dir, place.path("srv/pki"));
  assertEquals(opts.cachedir, place.path("cache"));
  assertEquals(opts.pidfile, place.path("run/m.pid"));
  assertEquals(opts.autosign_file, place.path("auto"));
  assertEquals(opts.log_file, place.path("here.log"));
  assertEquals(loadMasterConfig(place.request({ log_file: "/tmp/x.log" })).opts.log_file, "/tmp/x.log");
});

Deno.test("the default root_dir does not change paths", () => {
  using place = new Place({ "etc/salt/master": "pki_dir: /srv/pki\n" });
  const { opts } = loadMasterConfig({ configDir: "etc/salt", environment: place.environment });
  assertEquals([opts.root_dir, opts.pki_dir, opts.cachedir], ["/", "/srv/pki", "/var/cache/salt/master"]);
});

Deno.test("a sock_dir that is much longer than the cache directory is replaced", () => {
  using place = new Place({ "etc/salt/master": `sock_dir: /${"s".repeat(60)}` });
  assertEquals(loadMasterConfig(place.request()).opts.sock_dir, place.path("var/cache/salt/master/.salt-unix"));
});

Deno.test("log_dir is the directory of a log file that is unset or relative", () => {
  using place = new Place({ "etc/salt/master": "log_dir: /logs" });
  assertEquals(loadMasterConfig(place.request()).opts.log_file, place.path("logs/master"));
  place.write("etc/salt/master", "log_dir: /logs\nlog_file: m.log");
  assertEquals(loadMasterConfig(place.request()).opts.log_file, place.path("logs/m.log"));
});

Deno.test("keep_jobs is used if keep_jobs_seconds is not set", () => {
  using place = new Place({ "etc/salt/master": "keep_jobs: 2" });
  assertEquals(loadMasterConfig(place.request()).opts.keep_jobs_seconds, 7200);
  place.write("etc/salt/master", "keep_jobs: 2\nkeep_jobs_seconds: 5");
  assertEquals(loadMasterConfig(place.request()).opts.keep_jobs_seconds, 5);
});

Deno.test("old option names still work, with a warning", () => {
  using place = new Place({ "etc/salt/master": "client_acl: {fred: [test.ping]}" });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(opts.publisher_acl, map({ fred: ["test.ping"] }));
  assertEquals(warnings, [`${place.path("etc/salt/master")}:1: client_acl: is called publisher_acl now`]);
  place.write("etc/salt/master", "client_acl: {fred: [test.ping]}\npublisher_acl: {ann: ['*']}");
  const both = loadMasterConfig(place.request());
  assertEquals(both.opts.publisher_acl, map({ ann: ["*"] }));
  assertEquals(both.warnings, [
    `${place.path("etc/salt/master")}:1: client_acl: ignored: publisher_acl, its new name, is set as well`,
  ]);
});

const MASTERS: [yaml: string, master: string, port: number][] = [
  ["", "salt", 4506],
  ["master: m.example.org", "m.example.org", 4506],
  ["master: m:5000\nmaster_port: 1", "m", 5000],
  ["master: '[::1]:5000'", "::1", 5000],
  ["master: 'fe80::1'", "fe80::1", 4506],
  ["master: [a, b]", "a", 4506],
  ["master: 10.0.0.1\nmaster_port: 4600", "10.0.0.1", 4600],
  ["master: '::1'\nmaster_uri_format: ip_only\nmaster_port: 4600", "::1", 4600],
];
for (const [yaml, master, port] of MASTERS) {
  Deno.test(`the minion's master for ${JSON.stringify(yaml)} is ${master} at ${port}`, () => {
    using place = new Place({ "etc/salt/minion": yaml });
    const { opts } = loadMinionConfig(place.request());
    assertEquals([opts.master, opts.master_port], [master, port]);
  });
}

Deno.test("an invalid master address is an error; a missing one too, unless the minion needs none", () => {
  using place = new Place({ "etc/salt/minion": "master: m:x" });
  assertThrows(() => loadMinionConfig(place.request()), ConfigError, 'master: "x" in "m:x" is no port');
  place.write("etc/salt/minion", "master: []");
  assertThrows(() => loadMinionConfig(place.request()), ConfigError, "master: names no master");
  place.write("etc/salt/minion", "master: []\nfile_client: local");
  assertEquals(loadMinionConfig(place.request()).opts.master, "");
});

Deno.test("of a list of masters those that cannot be read are left out, with a warning each", () => {
  using place = new Place({ "etc/salt/minion": "master: [m1:x, 'm2:5000', m3]\n" });
  const { opts, warnings } = loadMinionConfig(place.request());
  assertEquals([opts.masters, opts.master, opts.master_port], [["m2:5000", "m3:4506"], "m2", 5000]);
  assertEquals(warnings, ['master: "x" in "m1:x" is no port: the others of the list are used']);
  // The names of the masters are what the function returns: nothing is read yet.
  place.write("etc/salt/minion", "master: my.masters\nmaster_type: func\n");
  assertEquals(loadMinionConfig(place.request()).opts.masters, ["my.masters"]);
});

Deno.test("an id from the host's name is cached at the minion's first start, and then used", () => {
  using place = new Place();
  assertEquals(loadMinionConfig(place.request()).opts.id, "box.example.org");
  const cache = place.path("etc/salt/minion_id");
  assertThrows(() => Deno.statSync(cache), Deno.errors.NotFound);
  loadMinionConfig({ ...place.request(), cacheId: true });
  assertEquals(Deno.readTextFileSync(cache), "box.example.org");
  Deno.writeTextFileSync(cache, "\ufeffold-name\n");
  assertEquals(loadMinionConfig(place.request()).opts.id, "old-name");
  assertEquals(loadMasterConfig(place.request()).opts.id, "old-name_master");
  assertEquals(loadMinionConfig(place.request({ id: "cli" })).opts.id, "cli");
  Deno.writeTextFileSync(cache, "localhost\n");
  assertEquals(loadMinionConfig(place.request()).opts.id, "box.example.org");
});

Deno.test("a cached id that cannot be read is an error that names the file", () => {
  using place = new Place();
  const cache = place.path("etc/salt/minion_id");
  Deno.mkdirSync(cache, { recursive: true });
  assertThrows(() => loadMinionConfig(place.request()), ConfigError, `${cache}: the id of this node cannot be read: `);
});

Deno.test("options that shape an id", () => {
  using place = new Place({ "etc/salt/minion": "minion_id_remove_domain: true\nappend_domain: lan" });
  assertEquals(loadMinionConfig(place.request()).opts.id, "box.lan");
  place.write("etc/salt/minion", "minion_id_remove_domain: Example.org");
  assertEquals(loadMinionConfig(place.request()).opts.id, "box");
  place.write("etc/salt/minion", "id: m1\nappend_minionid_config_dirs: [cachedir, pki_dir, pidfile]");
  const { opts } = loadMinionConfig(place.request());
  assertEquals(opts.cachedir, place.path("var/cache/salt/minion/m1"));
  assertEquals(opts.pki_dir, place.path("etc/salt/pki/minion/m1"));
  assertEquals(opts.pidfile, place.path("var/run/salt/m1/salt-minion.pid"));
});

Deno.test("a generated id is lower case if the option says so, and an address keeps its dots", () => {
  using place = new Place({ "etc/salt/minion": "minion_id_lowercase: true\nminion_id_remove_domain: true" });
  const id = (names: Partial<HostNames>) => {
    const hostNames = () => ({ hostname: "localhost", hosts: "", hostnameFile: "", addresses: [], ...names });
    return loadMinionConfig({ ...place.request(), environment: { ...place.environment, hostNames } }).opts.id;
  };
  assertEquals(id({ hostname: "BOX.Example.org" }), "box");
  assertEquals(id({ addresses: ["10.0.0.7"] }), "10.0.0.7");
});

Deno.test("an id that cannot be cached is used, with a warning", () => {
  using place = new Place({ "etc/salt/minion": "master: m" });
  const { opts, warnings } = loadMinionConfig({ ...place.request({ root_dir: "/proc" }), cacheId: true });
  assertEquals(opts.id, "box.example.org");
  assertStringIncludes(warnings.join("\n"), "The id box.example.org cannot be kept in /proc/etc/salt/minion_id: ");
});

Deno.test("environment variables set the configuration directory", () => {
  using place = new Place({ "a/master": "timeout: 1", "b.yml": "timeout: 2" });
  place.variables.SALT_CONFIG_DIR = place.path("a");
  const request = { environment: place.environment };
  assertEquals(loadMasterConfig(request).opts.timeout, 1);
  place.variables.SALT_MASTER_CONFIG = place.path("b.yml");
  assertEquals(loadMasterConfig(request).opts.timeout, 1);
  delete place.variables.SALT_CONFIG_DIR;
  assertEquals(loadMasterConfig(request).opts.timeout, 2);
  assertEquals(loadMasterConfig(request).opts.config_dir, place.root);
  assertEquals(loadMasterConfig({ ...request, configDir: place.path("a") }).opts.timeout, 1);
});

Deno.test("the commands read the user's own file, and connect over loopback to a master that listens on all addresses", () => {
  using place = new Place({ "home/.saltrc": "timeout: 9", "etc/salt/master": "timeout: 1\nret_port: 5" });
  place.variables.HOME = place.path("home");
  const { opts } = loadClientConfig(place.request());
  assertEquals([opts.timeout, opts.ret_port, opts.interface], [9, 5, "127.0.0.1"]);
  place.write("home/.config/salt/saltrc", "timeout: 8\ninterface: 10.0.0.1");
  const second = loadClientConfig(place.request()).opts;
  assertEquals([second.timeout, second.interface], [8, "10.0.0.1"]);
  place.write("own", "timeout: 7\ninterface: '::'");
  place.variables.SALT_CLIENT_CONFIG = "own";
  const third = loadClientConfig(place.request()).opts;
  assertEquals([third.timeout, third.interface], [7, "::1"]);
  place.variables.SALT_CLIENT_CONFIG = "missing";
  assertEquals(loadClientConfig(place.request()).opts.timeout, 8);
});

Deno.test("patterns in file roots are expanded to existing directories", () => {
  using place = new Place({ "srv/a1/x": "", "srv/a2/x": "", "srv/b/x": "" });
  place.write("etc/salt/master", `file_roots: {base: [${place.root}/srv/a*, /nowhere], 1: }`);
  assertEquals(
    loadMasterConfig(place.request()).opts.file_roots,
    new Map([["base", [place.path("srv/a1"), place.path("srv/a2"), "/nowhere"]], ["1", []]]) as ValueMap,
  );
});

Deno.test("addresses of sdb in options are replaced by what they lead to, in maps and lists too", () => {
  using place = new Place();
  place.write("facts.yaml", "ports: {publish: 4605}\n");
  place.write(
    "etc/salt/master",
    `osenv: {driver: env}
facts: {driver: yaml, files: [${place.path("facts.yaml")}]}
interface: sdb://osenv/ADDRESS
publish_port: sdb://facts/ports:publish
my.module: {list: [sdb://osenv/TOKEN, sdb://osenv/NONE, sdb://nothing/x]}
`,
  );
  Object.assign(place.variables, { ADDRESS: "127.0.0.9", TOKEN: "t0ken" });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals([opts.interface, opts.publish_port], ["127.0.0.9", 4605]);
  assertEquals(opts.extra.get("my.module"), map({ list: ["t0ken", null, "sdb://nothing/x"] }));
  assertEquals(warnings, []);
});

Deno.test("files of a sdb profile that cannot be read are named, and the others are used", () => {
  using place = new Place({ "list.yaml": "- 1\n", "broken.yaml": "a: [\n", "good.yaml": "port: 4605\n" });
  const file = (name: string) => place.path(`${name}.yaml`);
  const files = ["list", "gone", "broken", "good"].map(file);
  Deno.mkdirSync(place.path("directory.yaml"));
  place.write(
    "etc/salt/master",
    `facts: {driver: yaml, files: [${[...files, file("directory")].join(", ")}]}\npublish_port: sdb://facts/port\n`,
  );
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(opts.publish_port, 4605);
  const [list, gone, broken, directory, ...others] = warnings;
  assertStringIncludes(list, `Error deserializing sdb file '${file("list")}': it is no map`);
  assertStringIncludes(gone, `File '${file("gone")}' not found`);
  assertStringIncludes(broken, `Error deserializing sdb file '${file("broken")}': `);
  assertStringIncludes(directory, `File '${file("directory")}' cannot be read: `);
  assertEquals(others, []);
});

Deno.test("an address of sdb that only a service could answer stops the start, with its place", () => {
  using place = new Place();
  place.write("etc/salt/master", "kv: {driver: consul}\n\ninterface: sdb://kv/address\n");
  const error = assertThrows(() => loadMasterConfig(place.request()), ConfigError);
  assertStringIncludes(error.message, "sdb://kv/address cannot be read: in options the drivers env, and yaml without");
  assertStringIncludes(error.message, "master:3");
});

Deno.test({
  name: "root ignores, and says so, the ~/.saltrc of a user whose HOME it has",
  ignore: Deno.uid() !== 0,
  fn: () => {
    using place = new Place({ "home/.saltrc": "timeout: 9", "etc/salt/master": "timeout: 1" });
    place.variables.HOME = place.path("home");
    assertEquals(loadClientConfig(place.request()).opts.timeout, 9);
    const own = place.path("home/.saltrc");
    Deno.chownSync(own, 65534, 65534);
    const { opts, warnings } = loadClientConfig(place.request());
    assertEquals(opts.timeout, 1);
    assertEquals(warnings, [`${own} is ignored: other users than root may change it`]);
  },
});
