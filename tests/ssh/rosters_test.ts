/** Rosters: entries, and what each kind of roster gives. */

import type { MasterOpts } from "#lib/config/options.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { RosterError, TargetError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { startedProcess } from "#lib/procfs/process_facts.ts";
import { readInventory } from "#lib/ssh/ansible_roster.ts";
import { readMinionCache } from "#lib/ssh/cache_roster.ts";
import { readRosterHost } from "#lib/ssh/roster.ts";
import { EVERY_HOST, hostsOfTarget, readRosters, type RosterSources, type SshTarget } from "#lib/ssh/rosters.ts";
import { scanAddresses } from "#lib/ssh/scan_roster.ts";
import { readSshConfig } from "#lib/ssh/sshconfig_roster.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

function optsWith(overrides: Record<string, unknown> = {}): MasterOpts {
  const values = Object.fromEntries(Object.entries(overrides).map(([name, value]) => [name, toValue(value)]));
  return loadMasterConfig({ readsFiles: false, overrides: { root_dir: "/nonexistent", ...values } }).opts;
}

const NONE = (text: string) => {
  throw new Error(`unexpected warning: ${text}`);
};

Deno.test("an entry has the options' defaults, roster_defaults, and its own keys, in this order", () => {
  const opts = optsWith({ ssh_user: "a", ssh_port: 2200, roster_defaults: { user: "b", sudo: true }, timeout: 7 });
  const host = readRosterHost("web1", map({ sudo_user: "c", timeout: "3", cmd_umask: "027" }), { opts, warn: NONE });
  const { user, port, sudo, sudoUser, timeoutS, cmdUmask, priv } = host;
  assertEquals([user, port, sudo, sudoUser, timeoutS, cmdUmask], ["b", 2200, true, "c", 3, 0o27]);
  assertEquals([host.host, priv], ["web1", "/nonexistent/etc/salt/pki/master/ssh/salt-ssh.rsa"]);
  const plain = readRosterHost("web2", "10.1.1.1", { opts: optsWith(), warn: NONE });
  assertEquals([plain.host, plain.user, plain.timeoutS], ["10.1.1.1", "root", 65]);
  assertEquals(readRosterHost("w", map({ priv: "agent-forwarding" }), { opts, warn: NONE }).priv, null);
});

Deno.test("an entry with a value that ssh, a shell or rm would take for something else is refused", () => {
  const cases: [entry: Value, text: RegExp][] = [
    [map({ host: "-oProxyCommand=x" }), /host: .* may not begin with -/],
    [map({ user: "a\nb" }), /user: .*control characters/],
    [map({ host: "web1`id`" }), /host: .*a shell reads/],
    [map({ host: "web1 -w" }), /host: .*a shell reads/],
    [map({ user: "op;id" }), /user: .*a shell reads/],
    [map({ user: "$(id)" }), /user: .*a shell reads/],
    [map({ port: 0 }), /port must be a number from 1 to 65535/],
    [map({ port: "ssh" }), /port must be a number/],
    [map({ thin_dir: "/tmp" }), /thin_dir: .*at least two names/],
    [map({ thin_dir: "/var/../etc" }), /thin_dir/],
    [map({ thin_dir: "thin/x" }), /thin_dir/],
    [map({ cmd_umask: "9" }), /cmd_umask must be an umask/],
    [map({ minion_opts: ["a"] }), /minion_opts must be a map/],
    [map({ ssh_options: [1] }), /ssh_options must be a list of texts/],
    [map({ passwd: ["a"] }), /passwd must be a text/],
    [map({ ssh_pre_flight_args: "a 'b" }), /ssh_pre_flight_args: No closing quotation/],
    [5, /the entry is int, not a map/],
  ];
  for (const [entry, text] of cases) {
    const error = assertThrows(() => readRosterHost("web1", entry, { opts: optsWith(), warn: NONE }), RosterError);
    assertMatch(error.message, text);
  }
  assertThrows(() => readRosterHost("../x", map({}), { opts: optsWith(), warn: NONE }), RosterError, "cannot name");
  const warnings: string[] = [];
  const idle = map({ winrm: true, ssh_pre_hook: "", relenv: true });
  readRosterHost("web1", idle, { opts: optsWith(), warn: (text) => warnings.push(text) });
  assertEquals(warnings, ["web1: without effect in the roster: winrm, relenv"]);
});

Deno.test("sshconfig: hosts without patterns, with the keys of patterns that match", () => {
  const text = "User nobody\nHost web1 web2\n  HostName 10.0.0.1\n\tport=2201\n  IdentityFile ~/.ssh/web\n" +
    'host *\n  User deploy\n  Port 22\nHost !web3 db?\n  User x\nMatch user y\n  Port 5\n# Host no\nHost "quoted"\n';
  assertEquals(
    toValue([...readSshConfig(text)].map(([id, entry]) => [id, entry])),
    toValue([
      ["web1", { user: "deploy", port: "2201", priv: "~/.ssh/web", host: "web1" }],
      ["web2", { user: "deploy", port: "2201", priv: "~/.ssh/web", host: "web2" }],
      ["quoted", { user: "deploy", port: "22", host: "quoted" }],
    ]),
  );
});

Deno.test("ansible: hosts of all groups with their variables, and groups within groups", () => {
  const { hosts, group } = readInventory(JSON.stringify({
    all: { children: ["web", "db"] },
    web: { hosts: ["w1", "w2"] },
    db: { hosts: ["d1"], children: ["web", "db"] },
    _meta: { hostvars: { w1: { ansible_host: "10.0.0.1", ansible_user: "u", ansible_sudo_pass: "s", color: "red" } } },
  }));
  assertEquals(
    toValue(hosts.get("w1")),
    map({ host: "10.0.0.1", user: "u", sudo: true, passwd: "s", minion_opts: { color: "red" } }),
  );
  assertEquals([[...hosts.keys()], group("db"), group("none")], [["w1", "w2", "d1"], ["d1", "w1", "w2"], []]);
  const script = readInventory(JSON.stringify({ web: ["w1"], db: { hosts: ["d1"] }, _meta: { hostvars: { w2: {} } } }));
  assertEquals([[...script.hosts.keys()], script.group("all"), script.group("web")], [["w1", "d1"], ["w1", "d1"], [
    "w1",
  ]]);
  assertThrows(() => readInventory("{"), RosterError, "no JSON");
  assertThrows(() => readInventory("[]"), RosterError, "no map");
});

Deno.test("cache: addresses by range, network, grain and pillar", () => {
  const grains = map({
    ipv4: ["127.0.0.1", "8.8.8.8", "10.0.0.9", "10.0.0.7"],
    ipv6: ["::1", "fd00::5"],
    fqdn: "m1.site",
  });
  const facts = {
    data: { get: (id: string) => id === "m1" ? { grains, pillar: map({ ssh: { user: "op" } }) } : undefined },
    mine: { get: () => map({ addr: ["1.2.3.4"] }) },
  };
  const entry = (order: Record<string, unknown>) => {
    const warnings: string[] = [];
    const entries = readMinionCache(["m1"], facts, { order: map(order), warn: (text) => warnings.push(text) });
    return entries.get("m1") ?? warnings.join();
  };
  const usual = ["ipv6-private", "ipv6-global", "ipv4-private", "ipv4-public"];
  assertEquals(entry({ host: usual }), map({ host: "fd00::5" }));
  assertEquals(entry({ host: usual.slice(2) }), map({ host: "10.0.0.7" }));
  assertEquals(entry({ host: "public" }), map({ host: "8.8.8.8" }));
  assertEquals(entry({ host: "10.0.0.8/29" }), map({ host: "10.0.0.9" }));
  const by = { host: { mine: "addr" }, user: [{ pillar: ["no", "ssh:user"] }] };
  assertEquals(entry(by), map({ host: "1.2.3.4", user: "op" }));
  assertEquals(entry({ host: { grain: "fqdn" } }), map({ host: "m1.site" }));
  assertEquals(entry({ host: "ipv6-local", user: "id" }), map({ host: "::1", user: "m1" }));
  assertEquals(entry({ host: "192.168.0.0/16" }), "Could not determine host information for minion m1");
  assertThrows(() => entry({ host: "ipv4-strange" }), RosterError, "neither a range nor a network");
  assertThrows(() => entry({ host: { vault: "x" } }), RosterError, "none of grain, pillar, mine");
  assertThrows(() => entry({ host: 5 }), RosterError, "5 is no way to find a value");
});

Deno.test("a roster that cannot be read is warned about, and the others count", async () => {
  await withTemporaryDirectory(async (root) => {
    const warnings: string[] = [];
    const sources = (overrides: Record<string, unknown>): RosterSources => ({
      opts: { ...optsWith(overrides), config_dir: root },
      accepted: () => [],
      data: new DataCache(root, { log: NONE }),
      mine: new Mine(root, { maxBytes: 1024, log: NONE }),
      render: () => Promise.resolve(map({ web1: {}, web2: {}, db1: {} })),
      home: root,
      signal: new AbortController().signal,
      own: { has: () => false, targets: () => Promise.reject(new Error("there is none")) },
      warn: (text) => warnings.push(text),
    });
    await assertRejects(
      () => readRosters(sources({}), EVERY_HOST),
      RosterError,
      `flat: Roster file "${root}/roster" not found`,
    );
    await assertRejects(
      () => readRosters(sources({ roster: "range" }), EVERY_HOST),
      RosterError,
      "There is no roster range",
    );
    Deno.writeTextFileSync(`${root}/roster`, "");
    const given = sources({
      roster: "flat,sshconfig",
      ssh_list_nodegroups: { dbs: ["db1", "gone"], text: "web1, db1" },
      nodegroups: { webs: "E@web." },
    });
    const rosters = await readRosters(given, EVERY_HOST);
    assertMatch(warnings.join(), /roster sshconfig: Roster file .*config" not found/);
    const ids = (
      tgt: Value,
      tgtType: string,
    ) => [...hostsOfTarget(rosters, { tgt, tgtType, delimiter: ":" }, given).keys()];
    assertEquals(ids("web*", "glob"), ["web1", "web2"]);
    assertEquals(ids(["db1", "x"], "list"), ["db1"]);
    assertEquals(ids("(db|web)1", "pcre"), ["web1", "db1"]);
    assertEquals([ids("dbs", "nodegroup"), ids("text", "nodegroup")], [["db1"], ["web1", "db1"]]);
    assertEquals(ids("webs", "nodegroup"), ["web1", "web2"]);
    given.data.setGrains("web2", map({ os: "Debian" }));
    assertEquals(ids("os:Deb*", "grain"), ["web2"]);
    assertThrows(() => ids("nobody", "nodegroup"), TargetError, "There is no group nobody");
  });
});

Deno.test("ansible: an inventory that never ends is ended with the command that asks for it", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/inventory`;
    Deno.writeTextFileSync(file, `#!/bin/sh\necho $$ >${root}/pid\nexec sleep 600\n`, { mode: 0o755 });
    const opts = { ...optsWith({ roster: "ansible", roster_file: file }), config_dir: root };
    const ending = new AbortController();
    const reading = readRosters({
      opts,
      accepted: () => [],
      data: new DataCache(root, { log: NONE }),
      mine: new Mine(root, { maxBytes: 1024, log: NONE }),
      render: () => Promise.resolve(null),
      home: root,
      signal: ending.signal,
      own: { has: () => false, targets: () => Promise.resolve(new Map()) },
      warn: () => {},
    }, EVERY_HOST);
    const pid = await eventually(() => Number(Deno.readTextFileSync(`${root}/pid`)) || undefined, {
      what: "its start",
    });
    ending.abort(new Error("Ctrl-C"));
    await assertRejects(() => reading, RosterError, "ansible: Ctrl-C");
    await eventually(() => startedProcess(pid) === undefined, { what: "the end of the inventory" });
  }));

Deno.test("dir: a file for each host, whose name is the id; one that cannot be rendered is warned about", () =>
  withTemporaryDirectory(async (root) => {
    const warnings: string[] = [];
    const sources = (overrides: Record<string, unknown>): RosterSources => ({
      opts: { ...optsWith({ roster: "dir", ...overrides }), config_dir: root },
      accepted: () => [],
      data: new DataCache(root, { log: NONE }),
      mine: new Mine(root, { maxBytes: 1024, log: NONE }),
      render: (path) => Promise.resolve(loadYaml(Deno.readTextFileSync(path), path)),
      home: root,
      signal: new AbortController().signal,
      own: { has: () => false, targets: () => Promise.reject(new Error("there is none")) },
      warn: (text) => warnings.push(text),
    });
    await assertRejects(() => readRosters(sources({}), EVERY_HOST), RosterError, `Roster directory "${root}/roster.d"`);
    Deno.mkdirSync(`${root}/roster.d/sub`, { recursive: true });
    const files = {
      web1: "user: op",
      web2: "host: 10.0.0.2",
      broken: "{",
      list: "[a]",
      ".web3.swp": "",
      "web4~": "a: 1",
    };
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/roster.d/${name}`, text);
    const [plain] = await readRosters(sources({}), EVERY_HOST);
    assertEquals(
      plain.entries,
      new Map([["web1", map({ host: "web1", user: "op" })], ["web2", map({ host: "10.0.0.2" })]]),
    );
    assertEquals(warnings.map((line) => /"(.*?)"/.exec(line)?.[1]), [
      `${root}/roster.d/broken`,
      `${root}/roster.d/list`,
    ]);
    const [domain] = await readRosters(sources({ roster_domain: "example.org" }), EVERY_HOST);
    assertEquals(domain.entries.get("web1"), map({ host: "web1.example.org", user: "op" }));
    Deno.renameSync(`${root}/roster.d`, `${root}/hosts`);
    assertEquals((await readRosters(sources({ roster_dir: `${root}/hosts` }), EVERY_HOST))[0].file, `${root}/hosts`);
  }));

Deno.test("scan: the first open port of each address of the target, in order", async () => {
  using first = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using second = Deno.listen({ hostname: "127.0.0.2", port: 0 });
  const { port } = first.addr, other = second.addr.port;
  const settings = { timeoutS: 5, signal: new AbortController().signal };
  const scan = (tgt: Value, ports: Value) => scanAddresses(tgt, { ...settings, ports });
  const found = new Map([
    ["127.0.0.2", map({ host: "127.0.0.2", port: other })],
    ["127.0.0.1", map({ host: "127.0.0.1", port })],
  ]);
  assertEquals(await scan(["127.0.0.2", "127.0.0.1", "web1"], `${port}, ${other}`), found);
  assertEquals([...(await scan("127.0.0.0/30", [other, port])).keys()], ["127.0.0.1", "127.0.0.2"]);
  assertEquals(await scan("127.0.0.1/8", port), new Map());
  await assertRejects(() => scan("10.0.0.0/8", port), RosterError, "10.0.0.0/8 has more than");
  await assertRejects(() => scan("127.0.0.1", "22,http"), RosterError, "http is no port");
  // A connection that comes too late counts for nothing, and is closed.
  const late = Promise.withResolvers<Deno.TcpConn>(), closed = Promise.withResolvers<void>();
  await withReplaced(
    Deno,
    { name: "connect", by: (() => late.promise) as unknown as typeof Deno.connect },
    async () => {
      const scanned = await scanAddresses("127.0.0.1", { ...settings, ports: port, timeoutS: 0.01 });
      assertEquals(scanned, new Map());
    },
  );
  late.resolve({ close: () => closed.resolve() } as unknown as Deno.TcpConn);
  await closed.promise;
});

Deno.test("each kind of roster says what is wrong with it; one of the operator's own has the hosts of the target", () =>
  withTemporaryDirectory(async (root) => {
    const sources = (roster: string, more: Partial<RosterSources> = {}): RosterSources => ({
      opts: { ...optsWith({ roster, roster_file: `${root}/roster` }), config_dir: root },
      accepted: () => ["m1"],
      data: new DataCache(root, { log: NONE }),
      mine: new Mine(root, { maxBytes: 1024, log: NONE }),
      render: () => Promise.resolve(["web1"]),
      home: root,
      signal: new AbortController().signal,
      own: { has: () => false, targets: () => Promise.reject(new Error("there is none")) },
      warn: NONE,
      ...more,
    });
    const refusal = async (roster: string) =>
      (await assertRejects(() => readRosters(sources(roster), EVERY_HOST), RosterError)).message;
    Deno.mkdirSync(`${root}/roster`);
    assertMatch(await refusal("flat"), /Roster file ".*roster": Is a directory/);
    Deno.removeSync(`${root}/roster`);
    Deno.writeTextFileSync(`${root}/roster`, "");
    assertMatch(await refusal("flat"), /a roster is a map of hosts/);
    const refuse = () => {
      throw new Deno.errors.PermissionDenied("no");
    };
    await withReplaced(
      Deno,
      { name: "readTextFileSync", by: refuse },
      async () => assertMatch(await refusal("flat"), /Access denied to roster ".*roster"/),
    );
    const searchPath = Deno.env.get("PATH");
    if (searchPath?.split(":").every((directory) => !isFile(`${directory}/ansible-inventory`))) {
      assertMatch(await refusal("ansible"), /Install `ansible` to use inventory, or make the inventory an executable/);
      Deno.writeTextFileSync(`${root}/roster`, "#!/bin/sh\necho no vault >&2; exit 4\n");
      Deno.chmodSync(`${root}/roster`, 0o755);
      assertMatch(await refusal("ansible"), /roster ended with 4: no vault/);
      Deno.writeTextFileSync(`${root}/roster`, '#!/bin/sh\necho \'{"web": {"hosts": ["w1", "w2"]}}\'\n');
      const inventory = await readRosters(sources("ansible"), EVERY_HOST);
      const group = { tgt: "web", tgtType: "nodegroup", delimiter: ":" };
      assertEquals([...hostsOfTarget(inventory, group, sources("ansible")).keys()], ["w1", "w2"]);
    }
    const cache = sources("cache");
    cache.data.setGrains("m1", map({ ipv4: ["10.0.0.7"] }));
    const [minions] = await readRosters(cache, EVERY_HOST);
    assertEquals(minions.entries, new Map([["m1", map({ host: "10.0.0.7" })]]));
    // A target that a host names reaches no roster of the operator's own: it gets all hosts, and is matched afterwards.
    const asked: Value[] = [];
    const own = {
      has: (name: string) => name === "cmdb",
      targets: (_name: string, { tgt }: SshTarget) => {
        asked.push(tgt);
        return Promise.resolve(new Map([["c1", map({ host: "10.0.0.8" })]]));
      },
    };
    const target = { tgt: "role=web", tgtType: "glob", delimiter: ":" };
    const byOperator = await readRosters(sources("cmdb", { own }), target);
    assertEquals([...hostsOfTarget(byOperator, target, sources("cmdb")).keys()], ["c1"]);
    const byHost = await readRosters(sources("cmdb", { own }), target, new Map());
    assertEquals([...hostsOfTarget(byHost, target, sources("cmdb")).keys()], []);
    assertEquals(asked, ["role=web", "*"]);
  }));
