import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { fullHostname, generateMinionId, type HostNames, readHostNames } from "#lib/config/node_id.ts";
import { ConfigError } from "#lib/errors.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { ConfigPlace } from "./config_place.ts";

const NOBODY: HostNames = { hostname: "", hosts: "", hostnameFile: "", addresses: [] };

const IDS: [what: string, names: Partial<HostNames>, id: string][] = [
  ["the hostname, if that is all", { hostname: "box" }, "box"],
  ["a hostname with a domain as it is", { hostname: "box.lan", hosts: "127.0.1.1 other.org box.lan" }, "box.lan"],
  [
    "the full name by the hosts file",
    { hostname: "box", hosts: "# x\n10.0.0.7\tbox.example.org box # y\n" },
    "box.example.org",
  ],
  ["the hostname, where its line has no full name", { hostname: "box", hosts: "127.0.1.1 box" }, "box"],
  ["not localhost's full name", { hostname: "box", hosts: "127.0.0.1 localhost.localdomain box" }, "box"],
  ["the hostname file, where the kernel has no name", { hostname: "localhost", hostnameFile: "filed\n" }, "filed"],
  ["another name of the loopback address", { hostname: "localhost", hosts: "127.0.1.1 localhost me" }, "me"],
  [
    "not a name of another host",
    { hostname: "localhost", hosts: "10.0.0.9 other", addresses: ["10.0.0.7"] },
    "10.0.0.7",
  ],
  ["localhost at last", { hostname: "localhost", hosts: "::1 ip6-localhost" }, "localhost"],
];
for (const [what, names, id] of IDS) {
  Deno.test(`the default id is made from the host's names: ${what}`, () => {
    assertEquals(generateMinionId({ ...NOBODY, ...names }), id);
  });
}

Deno.test("the FQDN of a host that is not in the hosts file is its host name", () => {
  assertEquals(fullHostname("box", "10.0.0.1 boxes.example.org boxes"), "box");
});

Deno.test("the host's names are read from its files; a missing or unreadable file gives no name", () =>
  withTemporaryDirectory((etc) => {
    Deno.writeTextFileSync(`${etc}/hosts`, "10.0.0.7 box.example.org box\n");
    assertEquals(readHostNames(etc), { ...readHostNames(), hosts: "10.0.0.7 box.example.org box\n", hostnameFile: "" });
    Deno.mkdirSync(`${etc}/hostname`);
    assertEquals(readHostNames(etc).hostnameFile, "");
  }));

Deno.test("an id from the host's name is cached at the minion's first start, and then used", () => {
  using place = new ConfigPlace();
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
  using place = new ConfigPlace();
  const cache = place.path("etc/salt/minion_id");
  Deno.mkdirSync(cache, { recursive: true });
  assertThrows(() => loadMinionConfig(place.request()), ConfigError, `${cache}: the id of this node cannot be read: `);
});

Deno.test("options that shape an id", () => {
  using place = new ConfigPlace({ "etc/salt/minion": "minion_id_remove_domain: true\nappend_domain: lan" });
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
  using place = new ConfigPlace({ "etc/salt/minion": "minion_id_lowercase: true\nminion_id_remove_domain: true" });
  const id = (names: Partial<HostNames>) => {
    const hostNames = () => ({ hostname: "localhost", hosts: "", hostnameFile: "", addresses: [], ...names });
    return loadMinionConfig({ ...place.request(), environment: { ...place.environment, hostNames } }).opts.id;
  };
  assertEquals(id({ hostname: "BOX.Example.org" }), "box");
  assertEquals(id({ addresses: ["10.0.0.7"] }), "10.0.0.7");
});

Deno.test("an id that cannot be cached is used, with a warning", () => {
  using place = new ConfigPlace({ "etc/salt/minion": "master: m" });
  const { opts, warnings } = loadMinionConfig({ ...place.request({ root_dir: "/proc" }), cacheId: true });
  assertEquals(opts.id, "box.example.org");
  assertStringIncludes(warnings.join("\n"), "The id box.example.org cannot be kept in /proc/etc/salt/minion_id: ");
});
