import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { loadClientConfig, loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { ConfigError } from "#lib/errors.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { ConfigPlace } from "./config_place.ts";

Deno.test("without a configuration file the defaults apply, below root_dir", () => {
  using place = new ConfigPlace();
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
  using place = new ConfigPlace();
  loadMasterConfig(place.request()).opts.file_roots.clear();
  assertEquals(loadMasterConfig(place.request()).opts.file_roots.size, 1);
});

Deno.test("an unreadable file is an error", () => {
  using place = new ConfigPlace({ "etc/salt/master/oops": "" });
  assertThrows(
    () => loadMasterConfig(place.request()),
    ConfigError,
    `${place.path("etc/salt/master")}: cannot be read`,
  );
});

Deno.test("master.d is read in order: later files override earlier ones, maps are merged, lists are joined, and all override the main file", () => {
  using place = new ConfigPlace({
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
  using place = new ConfigPlace({ "etc/salt/master.d/x.conf": "\n\nret_port: x" });
  assertThrows(
    () => loadMasterConfig(place.request()),
    ConfigError,
    `${place.path("etc/salt/master.d/x.conf")}:3: ret_port: `,
  );
});

Deno.test("include accepts paths and globs, relative to its file, and warns if they match nothing", () => {
  using place = new ConfigPlace({
    "etc/salt/master": "include: [more/*.yml, absent.conf]",
    "etc/salt/more/a.yml": "timeout: 3\ninclude: b.inc",
    "etc/salt/more/b.inc": "ret_port: 77\ninclude: a.yml",
  });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals([opts.timeout, opts.ret_port], [3, 77]);
  assertEquals(warnings, ["include: absent.conf matches no file"]);
});

Deno.test("include accepts a path in the home directory, and rejects other values", () => {
  using place = new ConfigPlace({ "etc/salt/master": "include: ~/mine.conf", "home/mine.conf": "timeout: 3" });
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
  using place = new ConfigPlace();
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
  using place = new ConfigPlace({ "etc/salt/master": "pki_dir: /srv/pki\n" });
  const { opts } = loadMasterConfig({ configDir: "etc/salt", environment: place.environment });
  assertEquals([opts.root_dir, opts.pki_dir, opts.cachedir], ["/", "/srv/pki", "/var/cache/salt/master"]);
});

Deno.test("a sock_dir that is much longer than the cache directory is replaced", () => {
  using place = new ConfigPlace({ "etc/salt/master": `sock_dir: /${"s".repeat(60)}` });
  assertEquals(loadMasterConfig(place.request()).opts.sock_dir, place.path("var/cache/salt/master/.salt-unix"));
});

Deno.test("log_dir is the directory of a log file that is unset or relative", () => {
  using place = new ConfigPlace({ "etc/salt/master": "log_dir: /logs" });
  assertEquals(loadMasterConfig(place.request()).opts.log_file, place.path("logs/master"));
  place.write("etc/salt/master", "log_dir: /logs\nlog_file: m.log");
  assertEquals(loadMasterConfig(place.request()).opts.log_file, place.path("logs/m.log"));
});

Deno.test("keep_jobs is used if keep_jobs_seconds is not set", () => {
  using place = new ConfigPlace({ "etc/salt/master": "keep_jobs: 2" });
  assertEquals(loadMasterConfig(place.request()).opts.keep_jobs_seconds, 7200);
  place.write("etc/salt/master", "keep_jobs: 2\nkeep_jobs_seconds: 5");
  assertEquals(loadMasterConfig(place.request()).opts.keep_jobs_seconds, 5);
});

Deno.test("old option names still work, with a warning", () => {
  using place = new ConfigPlace({ "etc/salt/master": "client_acl: {fred: [test.ping]}" });
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
    using place = new ConfigPlace({ "etc/salt/minion": yaml });
    const { opts } = loadMinionConfig(place.request());
    assertEquals([opts.master, opts.master_port], [master, port]);
  });
}

Deno.test("an invalid master address is an error; a missing one too, unless the minion needs none", () => {
  using place = new ConfigPlace({ "etc/salt/minion": "master: m:x" });
  assertThrows(() => loadMinionConfig(place.request()), ConfigError, 'master: "x" in "m:x" is no port');
  place.write("etc/salt/minion", "master: []");
  assertThrows(() => loadMinionConfig(place.request()), ConfigError, "master: names no master");
  place.write("etc/salt/minion", "master: []\nfile_client: local");
  assertEquals(loadMinionConfig(place.request()).opts.master, "");
});

Deno.test("of a list of masters those that cannot be read are left out, with a warning each", () => {
  using place = new ConfigPlace({ "etc/salt/minion": "master: [m1:x, 'm2:5000', m3]\n" });
  const { opts, warnings } = loadMinionConfig(place.request());
  assertEquals([opts.masters, opts.master, opts.master_port], [["m2:5000", "m3:4506"], "m2", 5000]);
  assertEquals(warnings, ['master: "x" in "m1:x" is no port: the others of the list are used']);
  // The names of the masters are what the function returns: nothing is read yet.
  place.write("etc/salt/minion", "master: my.masters\nmaster_type: func\n");
  assertEquals(loadMinionConfig(place.request()).opts.masters, ["my.masters"]);
});

Deno.test("environment variables set the configuration directory", () => {
  using place = new ConfigPlace({ "a/master": "timeout: 1", "b.yml": "timeout: 2" });
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
  using place = new ConfigPlace({ "home/.saltrc": "timeout: 9", "etc/salt/master": "timeout: 1\nret_port: 5" });
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
  using place = new ConfigPlace({ "srv/a1/x": "", "srv/a2/x": "", "srv/b/x": "" });
  place.write("etc/salt/master", `file_roots: {base: [${place.root}/srv/a*, /nowhere], 1: }`);
  assertEquals(
    loadMasterConfig(place.request()).opts.file_roots,
    new Map([["base", [place.path("srv/a1"), place.path("srv/a2"), "/nowhere"]], ["1", []]]) as ValueMap,
  );
});

Deno.test({
  name: "root ignores, and says so, the ~/.saltrc of a user whose HOME it has",
  ignore: Deno.uid() !== 0,
  fn: () => {
    using place = new ConfigPlace({ "home/.saltrc": "timeout: 9", "etc/salt/master": "timeout: 1" });
    place.variables.HOME = place.path("home");
    assertEquals(loadClientConfig(place.request()).opts.timeout, 9);
    const own = place.path("home/.saltrc");
    Deno.chownSync(own, 65534, 65534);
    const { opts, warnings } = loadClientConfig(place.request());
    assertEquals(opts.timeout, 1);
    assertEquals(warnings, [`${own} is ignored: other users than root may change it`]);
  },
});
