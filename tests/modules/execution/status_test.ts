/** @module */
import * as proc from "#lib/procfs/proc_stats.ts";
import * as status from "#modules/execution/status.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { addressesConnectedHere, addressesConnectedTo, parseConnections } from "#lib/procfs/tcp_table.ts";
import { which } from "#lib/programs/which.ts";
import { parseRequest } from "#lib/protocol/payload.ts";
import { strftime } from "#lib/text/strftime.ts";
import { float, isFloat, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

testRecordedCases("execution", "status");

const FUNCTIONS: Readonly<Record<string, ModuleFunction<JobContext>>> = status;

const onLinux = { ignore: Deno.build.os !== "linux" };

function call(name: string, args: unknown[] = [], context: JobContext = testContext()): Promise<Value> {
  const values = args.map((arg) => toValue(arg));
  return invoke(FUNCTIONS[name], { name: `status.${name}`, args: values, kwargs: new Map(), context });
}

function field(value: Value, ...path: string[]): Value {
  return path.reduce<Value>((at, key) => {
    assert(at instanceof Map && at.has(key), `${key} of ${path} is missing`);
    return at.get(key) ?? null;
  }, value);
}

const NUMBERS: [string, Value][] = [
  ["0", 0],
  ["007", 7],
  ["18446744073709551615", 18446744073709551615n],
  ["1.5", 1.5],
  ["2.0", float(2)],
  ["-3", float(-3)],
  ["1e3", float(1000)],
  ["0x1f", "0x1f"],
  ["sda", "sda"],
  ["", ""],
];

for (const [text, expected] of NUMBERS) {
  Deno.test(`number() makes ${Deno.inspect(expected)} of "${text}"`, () =>
    assertEquals(proc.parseProcNumber(text), expected));
}

Deno.test("parseCpuStats() names the times, and splits totals from single counts", () => {
  const stats = proc.parseCpuStats(
    "cpu  10 20 30 40 50 60 70 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nintr 9 0 5\nctxt 77\nbtime 1700000000\nsoftirq 12 1 2\n",
  );
  assertEquals(
    stats,
    map({
      cpu: { idle: 40, iowait: 50, irq: 60, nice: 20, softirq: 70, steal: 80, system: 30, user: 10 },
      cpu0: 1,
      intr: { total: 9, irqs: [0, 5] },
      ctxt: 77,
      btime: 1700000000,
      softirq: { total: 12, softirqs: [1, 2] },
    }),
  );
});

Deno.test("parseMeminfo() returns values as text, with a unit if there is one", () => {
  assertEquals(
    proc.parseMeminfo("MemTotal:       24684084 kB\nHugePages_Total:       0\n"),
    map({ MemTotal: { value: "24684084", unit: "kB" }, HugePages_Total: { value: "0" } }),
  );
});

Deno.test("parseCpuinfo() shows the last processor", () => {
  assertEquals(
    proc.parseCpuinfo(
      "processor\t: 0\nflags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: A: B\nflags\t\t: fpu sse\npower management:\n",
    ),
    map({ processor: "1", flags: ["fpu", "sse"], "model name": "A: B", "power management": "" }),
  );
});

Deno.test("parseDiskstats() names fourteen fields and ignores those of newer kernels", () => {
  const stats = proc.parseDiskstats("   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n 7 0 short 1\n");
  assertEquals([...stats.keys()], ["sda"]);
  assertEquals(field(stats, "sda", "device"), "sda");
  assertEquals([field(stats, "sda", "reads_issued"), field(stats, "sda", "weighted_ms_spent_in_io")], [1, 11]);
});

Deno.test("parseVmstats(), parseNetstats() and parseNetdev() return counts by name", () => {
  assertEquals(
    proc.parseVmstats("nr_free_pages 5\npgfault 18446744073709551615\n"),
    map({
      nr_free_pages: 5,
      pgfault: 18446744073709551615n,
    }),
  );
  assertEquals(
    proc.parseNetstats("TcpExt: A B\nTcpExt: 1 2\nIpExt: C\nIpExt: 3\n"),
    map({ TcpExt: { A: 1, B: 2 }, IpExt: { C: 3 } }),
  );
  const devices = proc.parseNetdev(
    "Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\neth0:100 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
  );
  assertEquals([...devices.keys()], ["lo", "eth0"]);
  assertEquals(
    ["iface", "rx_bytes", "rx_multicast", "tx_bytes", "tx_drop", "tx_compressed"].map((key) =>
      field(devices, "eth0", key)
    ),
    ["eth0", 100, 8, 9, 12, 16],
  );
});

Deno.test("parseMounts() decodes escaped paths", () => {
  assertEquals(proc.parseMounts("/dev/sda1 / ext4 rw 0 0\nx /mnt/a\\040b\\134c tmpfs rw 0 0\n"), [
    { path: "/", type: "ext4" },
    { path: "/mnt/a b\\c", type: "tmpfs" },
  ]);
});

Deno.test("parseAllowedCpus() counts the bits of the mask", () => {
  assertEquals(proc.parseAllowedCpus("Name:\tx\nCpus_allowed:\tff,00000003\nCpus_allowed_list:\t0-1\n"), 10);
  assertEquals(proc.parseAllowedCpus("Name:\tx\n"), 0);
});

Deno.test("parseConnections() reads established connections over IPv4, IPv6 and IPv4 in IPv6", () => {
  // The addresses are in the format of a little-endian host; the byte order of the test's host decides how they are
  // read.
  const little = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
  const word = (hex: string) => little ? (hex.match(/../g) ?? []).reverse().join("") : hex;
  const ipv6 = (words: string[]) => words.map(word).join("");
  const text = [
    "  sl  local_address rem_address   st tx_queue",
    `   0: ${word("7F000001")}:1199 ${word("0A000002")}:C350 01 00000000:00000000`,
    `   1: ${word("00000000")}:1199 ${word("00000000")}:0000 0A 00000000:00000000`,
    `   2: ${ipv6(["20010DB8", "00000000", "00000000", "00000001"])}:1199 ` +
    `${ipv6(["00000000", "00000000", "0000FFFF", "C0A80001"])}:0016 01 00000000:00000000`,
  ].join("\n");
  assertEquals(parseConnections(text), [
    { local: { address: "127.0.0.1", port: 4505 }, remote: { address: "10.0.0.2", port: 50000 } },
    { local: { address: "2001:db8::1", port: 4505 }, remote: { address: "192.168.0.1", port: 22 } },
  ]);
});

const TIME = new Date(2024, 0, 3, 15, 4, 5);

const FORMATS: [string, string][] = [
  ["%A, %d. %B %Y %I:%M%p", "Wednesday, 03. January 2024 03:04PM"],
  ["%a %b %e %H:%M:%S %j", "Wed Jan  3 15:04:05 003"],
  ["%y/%m %U %W %V %G %u %w", "24/01 00 01 01 2024 3 3"],
  [
    "%c|%x|%X|%D|%F|%T|%R|%r",
    "Wed Jan  3 15:04:05 2024|01/03/24|15:04:05|01/03/24|2024-01-03|15:04:05|15:04|03:04:05 PM",
  ],
  ["100%% %Q %", "100% %Q %"],
];

for (const [format, expected] of FORMATS) {
  Deno.test(`strftime() gives ${expected} for ${format}`, () => assertEquals(strftime(TIME, format), expected));
}

Deno.test("strftime() gives ISO year and week around New Year as Python does", () => {
  const weeks = (year: number, day: number) => strftime(new Date(year, 11, day), "%G-%V %U %W");
  assertEquals([weeks(2020, 31), weeks(2021, 31), weeks(2018, 31), weeks(2016, 31)], [
    "2020-53 52 52",
    "2021-52 52 52",
    "2019-01 52 53",
    "2016-52 52 52",
  ]);
});

Deno.test("status.loadavg returns floats, also if they have no fraction", async () => {
  const loads = await call("loadavg");
  assert(loads instanceof Map);
  assertEquals([...loads.keys()], ["1-min", "5-min", "15-min"]);
  assert([...loads.values()].every(isFloat));
});

Deno.test("status.uptime returns seconds, days, and the start of the host", onLinux, async () => {
  const up = await call("uptime");
  const seconds = Number(field(up, "seconds"));
  assert(Math.abs(Date.now() / 1000 - seconds - Number(field(up, "since_t"))) < 5);
  assertEquals(field(up, "days"), Math.floor(seconds / 86_400));
  assertMatch(str(field(up, "since_iso")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  assertMatch(str(field(up, "time")), /^\d{1,2}:\d{1,2}$/);
});

Deno.test("the functions that read a file of /proc show this host", onLinux, async () => {
  assertMatch(str(field(await call("meminfo"), "MemTotal", "value")), /^\d+$/);
  assert(typeof field(await call("cpustats"), "cpu", "idle") === "number");
  assertEquals(field(await call("netdev"), "lo", "iface"), "lo");
  assertMatch(str(await call("version")), /^Linux version /);
  assertEquals(await call("nproc"), navigator.hardwareConcurrency);
});

Deno.test("status.diskusage shows the requested paths and types of file systems", onLinux, async () => {
  const root = await call("diskusage", ["/", "/no/such/path"]);
  assert(root instanceof Map);
  assertEquals([...root.keys()], ["/"]);
  const [total, available] = [field(root, "/", "total"), field(root, "/", "available")];
  assert(typeof total === "number" && typeof available === "number" && total >= available && available >= 0);
  const proc = await call("diskusage", ["pro?"]);
  assert(proc instanceof Map && proc.has("/proc") && !proc.has("/dev"));
  const all = await call("diskusage");
  assert(all instanceof Map && all.has("/proc"));
});

Deno.test(
  "status.procs and status.pid find this process's children, and status.pid not the minion",
  onLinux,
  async () => {
    const child = new Deno.Command(which("sleep") ?? "/bin/sleep", { args: ["61.4505"] }).spawn();
    try {
      // Before a child has executed its program, it still has the name of this process's thread.
      const command = async () => str(field(await call("procs"), String(child.pid), "cmd"));
      await eventually(async () => /\/sleep 61\.4505$/.test(await command()), { what: "the child's program" });
      assertEquals(await call("pid", ["^\\w+ \\d+ \\S+/sleep 61\\.4505$"]), String(child.pid));
      assert(!str(await call("pid", ["."])).split("\n").includes(String(Deno.pid)));
      assertEquals(await call("pid", ["no such process at all"]), "");
    } finally {
      child.kill();
      await child.status;
    }
  },
);

Deno.test("status.time accepts a format", async () => {
  assertEquals(await call("time", ["%Y"]), String(new Date().getFullYear()));
});

Deno.test("status.w returns a list", { ignore: which("w") === undefined }, async () => {
  assert(Array.isArray(await call("w")));
});

Deno.test("status.all_status contains the parts", onLinux, async () => {
  const all = await call("all_status");
  assert(all instanceof Map);
  assertEquals([...all.keys()], [
    "cpuinfo",
    "cpustats",
    "diskstats",
    "diskusage",
    "loadavg",
    "meminfo",
    "netdev",
    "netstats",
    "uptime",
    "vmstats",
    "w",
  ]);
});

Deno.test("status.custom returns the fields that the configuration lists", onLinux, async () => {
  const opts = {
    ...testOpts(),
    extra: map({ "status.cpustats.custom": ["cpu", "nonsense"], "status.custom.x": ["y"] }),
  };
  const called: string[] = [];
  const context = testContext({
    opts,
    call: (name) => {
      called.push(name);
      return Promise.resolve(map({ cpu: 1, ctxt: 2 }));
    },
  });
  assertEquals(await call("custom", [], context), map({ cpu: 1, nonsense: "UNKNOWN" }));
  assertEquals(called, ["status.cpustats"]);
});

Deno.test("status.master detects a connection to the publish port, and fires changes", onLinux, async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const context = testContext({ opts: { ...testOpts(), publish_port: port } });
  assertEquals(await call("master", [null], context), null);
  assertEquals(await call("master", ["127.0.0.1:no port"], context), null);
  assertEquals(await call("master", ["127.0.0.1", false], context), false);
  assertEquals(context.fired, []);
  assertEquals(await call("master", ["127.0.0.1"], context), false);

  using _client = await Deno.connect({ hostname: "127.0.0.1", port });
  using _accepted = await listener.accept();
  assertEquals([addressesConnectedTo(port), addressesConnectedHere(port)], [
    new Set(["127.0.0.1"]),
    new Set(["127.0.0.1"]),
  ]);
  assertEquals(await call("master", ["127.0.0.1", true], context), true);
  assertEquals(await call("master", ["127.0.0.1", false], context), true);
  assertEquals(context.fired, [
    { tag: "__master_disconnected", data: map({ master: "127.0.0.1" }) },
    { tag: "__master_connected", data: map({ master: "127.0.0.1" }) },
  ]);
});

Deno.test("status.ping_master returns false without an answer, and true with one", async () => {
  const answering = Peer.router();
  try {
    await answering.bind("tcp://127.0.0.1:0");
    const port = Number(answering.address.split(":").at(-1));
    const context = testContext({ opts: { ...testOpts(), master_port: port, auth_timeout: 0.2 } });
    assertEquals(await call("ping_master", ["127.0.0.1"], context), false);
    assertEquals(await call("ping_master", [""], context), false);
    assertEquals(await call("ping_master", ["no-such-host.invalid"], context), false);
    assertEquals(context.fired, []);
    await answering.receive(1_000); // the abandoned request, if it arrived

    const pending = call(
      "ping_master",
      ["127.0.0.1"],
      testContext({ ...context, opts: { ...context.opts, auth_timeout: 60 } }),
    );
    const frames = await answering.receive(60_000);
    assert(frames !== undefined);
    assertEquals(parseRequest(frames[frames.length - 1]), { enc: "clear", version: 3, load: map({ cmd: "ping" }) });
    await answering.send(frames, 1_000);
    assertEquals(await pending, true);
    assertEquals(context.fired, [{ tag: "__master_failback", data: map({ master: "127.0.0.1" }) }]);
  } finally {
    answering.close();
  }
});

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("status.diskusage shows a path without statistics as empty, and leaves out a missing path", async () => {
  const context = minion();
  const result = await resultOrError(context, "status.diskusage", ["/etc/passwd/x", "/nonexistent-path"]);
  assertEquals(result, map({ "/etc/passwd/x": { available: null, total: null } }));
  assert(context.logged[0].startsWith("warning: Cannot get stats from '/etc/passwd/x': "));
});
