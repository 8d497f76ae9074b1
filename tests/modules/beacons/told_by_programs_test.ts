/**
 * The beacons of the journal, of network settings and of certificates: a real journal, a network of its own, and what
 * Salt's beacon with pyOpenSSL 24.3 answers for certificates.
 * @module
 */

import { loadCertificate } from "#lib/host/x509/loading.ts";
import { type BeaconModule, configMaps, ownConfig } from "#lib/plugins/beacon.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { beacon as certInfo, certificateData } from "#modules/beacons/cert_info.ts";
import { journalBeacon, matchEntry, readJournalEntry } from "#modules/beacons/journald.ts";
import { beacon as networkSettings } from "#modules/beacons/network_settings.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { openBeacon } from "#tests/support/open_beacon.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Times are as they are now, and big numbers travel as text. */
function comparable(data: ValueMap): ValueMap {
  const copy = new Map(data);
  for (const key of ["has_expired", "cert_path"]) copy.delete(key);
  return copy.set("serial_number", str(data.get("serial_number") ?? null));
}

Deno.test("cert_info: the data of certificates is Salt's", () => {
  const file = parseJson(Deno.readTextFileSync(new URL("./recorded_certificates.json", import.meta.url)));
  const recorded = isMap(file) ? file.get("cases") : undefined;
  assert(Array.isArray(recorded) && recorded.length > 3);
  for (const one of recorded) {
    assert(isMap(one));
    const wanted = one.get("data");
    assert(isMap(wanted));
    const data = certificateData("x", loadCertificate(new TextEncoder().encode(str(one.get("pem") ?? null))));
    assertEquals(comparable(data), comparable(wanted));
    assertEquals([...data.keys()].sort(), [...wanted.keys()].sort());
  }
});

Deno.test("cert_info: only what expires within its days; what is no certificate holds up no other", async () => {
  await withTemporaryDirectory(async (root) => {
    const days = { long: 100, soon: 5 };
    for (const [name, left] of Object.entries(days)) {
      const { code } = await new Deno.Command("openssl", {
        args: ["req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "key", "-out", `${name}.pem`, "-days"]
          .concat(String(left), "-subj", `/CN=${name}`),
        cwd: root,
        stderr: "null",
      }).output();
      assertEquals(code, 0);
    }
    Deno.writeTextFileSync(`${root}/none.pem`, "no certificate\n");
    Deno.writeTextFileSync(`${root}/large.pem`, "");
    Deno.truncateSync(`${root}/large.pem`, 2 ** 30);
    const files = ["none.pem", "missing.pem", "large.pem", "soon.pem"].map((name): unknown => `${root}/${name}`);
    const more = { [`${root}/long.pem`]: { notify_days: 99 } };
    using beacon = await openBeacon(certInfo, [{ files: [...files, more] }]);
    const names = async () => {
      const [data] = await beacon.look();
      const certificates = data?.get("certificates");
      assert(Array.isArray(certificates));
      return certificates.map((one) => isMap(one) ? one.get("subject") : null);
    };
    assertEquals(await names(), ['CN="soon"', 'CN="long"']);
    assertEquals(await names(), ['CN="soon"', 'CN="long"']);
    assertEquals(beacon.failures.length, 3, beacon.failures.join("\n"));
    assertStringIncludes(beacon.failures[0], "none.pem");
    assertStringIncludes(beacon.failures[1], "missing.pem");
    assertMatch(beacon.failures[2], /large\.pem \(it is larger than \d+ bytes\)$/);
    const defaults = [{ [`${root}/long.pem`]: { notify_days: "soon" } }, { [`${root}/soon.pem`]: {} }];
    using usual = await openBeacon(certInfo, [{ notify_days: 6 }, { files: defaults }]);
    const [{ size }, ...others] = await usual.look();
    assertEquals([size, others], [1, []]);
  });
});

Deno.test("journald: numbers are numbers, and a service has all its fields", () => {
  const entry = readJournalEntry('{"PRIORITY":"6","_PID":"12","MESSAGE":[104,105,255],"SYSLOG_IDENTIFIER":"sshd"}');
  assert(entry !== undefined);
  assertEquals([entry.get("PRIORITY"), entry.get("_PID"), entry.get("MESSAGE")], [6, 12, "hi\ufffd"]);
  const services: Value = toValue({
    sshd: { SYSLOG_IDENTIFIER: "sshd", PRIORITY: 6 },
    text: { PRIORITY: "6" },
    other: { SYSLOG_IDENTIFIER: "sshd", PRIORITY: 5 },
    absent: { UNIT: "x" },
  });
  assert(isMap(services));
  assertEquals(matchEntry(services, entry).map((data) => data.get("tag")), ["sshd", "text"]);
  assertEquals(readJournalEntry("-- Reboot --"), undefined);
  assertEquals(readJournalEntry("[1]"), undefined);
  assertEquals(readJournalEntry('{"_PID":["12","x"]}'), map({ _PID: [12, "x"] }));
});

/** Whether this user may make namespaces of its own, as the user root of a test host may. */
function mayUnshare(...options: readonly string[]): boolean {
  const run = (command: string, args: string[]) => {
    try {
      return new Deno.Command(command, { args, stdout: "null", stderr: "null" }).outputSync().code === 0;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  };
  return run("unshare", [...options, "true"]);
}

const JOURNALD = "/lib/systemd/systemd-journald";

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function hasEntries(directory: string): boolean {
  try {
    return Array.from(Deno.readDirSync(directory)).length > 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A journal in a mount namespace of its own, which ends with its standard input. */
function startJournal(): Deno.ChildProcess {
  const script = `mount --make-rprivate / && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/log && ` +
    `mkdir -p /run/systemd/journal && { ${JOURNALD} & J=$!; read line; kill $J; }`;
  return new Deno.Command("unshare", {
    args: ["-m", "sh", "-c", script],
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

Deno.test({
  name: "journald: an entry of a real journal is told when it comes",
  ignore: !isThere(JOURNALD) || !mayUnshare("-m"),
  async fn() {
    const journal = startJournal();
    const root = `/proc/${journal.pid}/root/run`;
    try {
      const directory = `--directory=${root}/log/journal`;
      await eventually(() => isThere(`${root}/systemd/journal/kernel-seqnum`) && hasEntries(`${root}/log/journal`), {
        what: "a journal",
      });
      const send = (tag: string, text: string) => {
        const { code } = new Deno.Command("logger", {
          args: ["--socket", `${root}/systemd/journal/dev-log`, "-p", "user.err", "-t", tag, text],
        }).outputSync();
        assertEquals(code, 0);
      };
      // journalctl follows the entries of this boot, and ends if there is none yet.
      await eventually(() => {
        send("start", "it begins");
        const { code } = new Deno.Command("journalctl", { args: [directory, "--boot", "--lines=1"] }).outputSync();
        return code === 0;
      }, { what: "an entry of this boot" });
      using beacon = await openBeacon(journalBeacon(["journalctl", directory]), [
        { services: { app: { SYSLOG_IDENTIFIER: "app", PRIORITY: 3 } } },
      ]);
      await eventually(() => {
        send("app", "it broke");
        return beacon.fired.length > 0;
      }, { what: "an entry" });
      const [entry] = beacon.fired;
      assertEquals([entry.get("tag"), entry.get("MESSAGE"), entry.get("PRIORITY")], ["app", "it broke", 3]);
      assertEquals(beacon.failures, []);
    } finally {
      await journal.stdin.close();
      await journal.status;
    }
  },
});

Deno.test("journald: a program that ends is named, with what it says", async () => {
  using beacon = await openBeacon(journalBeacon(["journalctl", "--directory=/nonexistent"]), [{ services: {} }]);
  await eventually(() => beacon.failures.length > 0, { what: "the reason" });
  assertStringIncludes(beacon.failures[0], "journalctl ended with exit code 1: ");
});

Deno.test({
  name: "network_settings: changes of a network of its own are told",
  ignore: !mayUnshare("-n"),
  async fn() {
    const program = new URL("./network_settings_here.ts", import.meta.url);
    const { code, stdout, stderr } = await new Deno.Command("unshare", {
      args: ["-n", Deno.execPath(), "run", "-A", "--config", TREE_CONFIG, program.pathname],
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const events = JSON.parse(new TextDecoder().decode(stdout));
    const [flat, together] = events;
    assertEquals(flat[0], { tag: "lo", interface: "lo", change: { mtu: 1400 } });
    const ofAddress = flat.find(({ change }: { change: object }) => "ipaddr" in change);
    assertEquals(ofAddress.change.ipaddr.some((one: unknown[]) => one.join("/") === "10.9.8.7/24"), true);
    assertEquals(flat.at(-1), { tag: "lo", interface: "lo", change: { mtu: 1500 } });
    assertEquals(flat.some((event: { interface: string }) => event.interface !== "lo"), false);
    assertEquals(together[0], { tag: "result", changes: { lo: { mtu: 1400 } } });
    assertEquals(flat.some(({ change }: { change: object }) => "txqlen" in change), false);
  },
});

Deno.test("network_settings: a pattern that is none is named, and matches nothing", async () => {
  using beacon = await openBeacon(networkSettings, [{ interfaces: { "([": { mtu: null } } }]);
  assertEquals(beacon.failures.length, 1);
  assertStringIncludes(beacon.failures[0], "unterminated character set");
});

Deno.test("the three refuse what Salt's refuse, in its words", async () => {
  const refusals: [module: BeaconModule, config: unknown, text: string | undefined][] = [
    [networkSettings, [{ coalesce: true }], undefined],
    [networkSettings, [{ interfaces: { lo: { mtu: null } } }], undefined],
    [
      networkSettings,
      [{ interfaces: { lo: 1 } }],
      "Interface attributes for network_settings beacon must be a dictionary.",
    ],
    [journalBeacon(["journalctl"]), [], undefined],
    [certInfo, [{}], "Configuration for cert_info beacon must contain files option."],
    [networkSettings, [{ interfaces: [] }], "interfaces section for network_settings beacon must be a dictionary."],
    [networkSettings, [{ interfaces: { lo: { colour: null } } }], "Invalid attributes in beacon configuration."],
    [
      journalBeacon(["journalctl"]),
      [{ services: { sshd: 1 } }],
      "Services configuration for journald beacon must be a list of dictionaries.",
    ],
  ];
  for (const [module, config, text] of refusals) {
    assertEquals(await module.validate(ownConfig(configMaps(toValue(config)) ?? [])), text);
  }
});
