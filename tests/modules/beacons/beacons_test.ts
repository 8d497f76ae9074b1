/**
 * Beacons on real files, processes and counters.
 * @module
 */

import { readLoginRecord, RECORD_BYTES } from "#modules/beacons/_login_records.ts";
import { percentLimit } from "#modules/beacons/_percent.ts";
import { BEACONS } from "#modules/beacons/_built_in.ts";
import { loadBeacon } from "#modules/beacons/load.ts";
import { networkInfoBeacon } from "#modules/beacons/network_info.ts";
import { psBeacon } from "#modules/beacons/ps.ts";
import { wtmpBeacon } from "#modules/beacons/wtmp.ts";
import { type BeaconModule, configMaps, ownConfig } from "#lib/plugins/beacon.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { openBeacon } from "#tests/support/open_beacon.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

async function builtIn(name: string): Promise<BeaconModule> {
  return (await BEACONS[name]()).beacon;
}

const paths = (fired: readonly ValueMap[]) => fired.map((data) => str(data.get("path") ?? null));

Deno.test("load: outside of a range, or only when it leaves it", async () => {
  let now = [1, 1, 1];
  const module = loadBeacon(() => now);
  const limits = { "1m": [0, 2], "5m": [0, 2], "15m": [0, 2] };
  using always = await openBeacon(module, [{ averages: limits }]);
  using changes = await openBeacon(module, [{ averages: limits }, { onchangeonly: true }]);
  assertEquals([(await always.look()).length, (await changes.look()).length], [0, 0]);
  now = [3, 1, 1];
  assertEquals([(await always.look()).length, (await changes.look()).length], [1, 1]);
  assertEquals([(await always.look()).length, (await changes.look()).length], [1, 0]);
  // One of the three is enough; Salt raises.
  using one = await openBeacon(module, [{ averages: { "1m": [0, 2] } }]);
  assertEquals((await one.look()).length, 1);
});

Deno.test("ps: running, stopped and neither", async () => {
  using ps = await openBeacon(psBeacon(() => new Set(["here"])), [{
    processes: { here: "running", gone: "stopped", other: "x", away: "running" },
  }]);
  assertEquals(await ps.look(), [map({ here: "Running" }), map({ gone: "Stopped" }), map({ other: false })]);
  using runs = await openBeacon(psBeacon(() => new Set(["here"])), [{ processes: { here: "stopped" } }]);
  assertEquals(await runs.look(), []);
  using real = await openBeacon(await builtIn("ps"), [{ processes: { "nobody-has-this": "stopped" } }]);
  assertEquals(await real.look(), [map({ "nobody-has-this": "Stopped" })]);
});

Deno.test("network_info: equal and greater", async () => {
  const text = "a\nb\n  lo: 10 2 0 0 0 0 0 0 30 4 0 0 0 0 0 0\n";
  using greater = await openBeacon(networkInfoBeacon(() => text), [{
    interfaces: { lo: { type: "greater", bytes_sent: 29 }, none: { errin: 0 } },
  }]);
  assertEquals((await greater.look()).length, 1);
  using equal = await openBeacon(networkInfoBeacon(() => text), [{
    interfaces: { lo: { type: "equal", bytes_sent: 29 } },
  }]);
  assertEquals(await equal.look(), []);
});

Deno.test("usage: percent as a number or a text, a broken one is an error", async () => {
  assertEquals([percentLimit("63%"), percentLimit(63), percentLimit("63")], [63, 63, 63]);
  assertThrows(() => percentLimit("much%"), Error, "could not convert string to float: 'much'");
  assertThrows(() => percentLimit([]), Error, "[] is no limit in percent");
  for (const name of ["memusage", "diskusage"]) {
    using used = await openBeacon(await builtIn(name), name === "memusage" ? [{ percent: 1 }] : [{ "/": "0%" }]);
    assertEquals((await used.look()).length, 1);
  }
  using mixed = await openBeacon(await builtIn("diskusage"), [{ "([": "1%" }, { "/": "0%" }]);
  assertEquals((await mixed.look())[0].get("mount"), "/");
  using full = await openBeacon(await builtIn("diskusage"), [{ "/": "101%" }]);
  assertEquals(await full.look(), []);
  using gone = await openBeacon(await builtIn("diskusage"), [{ "/no": "0%" }]);
  await withReplaced(Deno, { name: "readTextFileSync", by: () => "tmpfs /no tmpfs rw 0 0\n" }, async () => {
    assertEquals(await gone.look(), []);
  });
  using swap = await openBeacon(await builtIn("swapusage"), [{ percent: "0%" }]);
  const [{ size }] = await swap.look();
  assertEquals(size, 1);
  using swapped = await openBeacon(await builtIn("swapusage"), [{ percent: "101%" }]);
  assertEquals(await swapped.look(), []);
});

Deno.test("service: only changes, after a delay", async () => {
  const answers: Record<string, Value> = { "service.status": true };
  using service = await openBeacon(await builtIn("service"), [{ services: { x: { onchangeonly: true } } }], answers);
  assertEquals((await service.look()).length, 1);
  assertEquals((await service.look()).length, 0);
  answers["service.status"] = false;
  assertEquals(await service.look(), [map({ x: { running: false }, service_name: "x", tag: "x" })]);
});

Deno.test("service: only one state, not at the start, and after a delay", async () => {
  const answers: Record<string, Value> = { "service.status": true };
  const open = async (config: unknown) =>
    await openBeacon(await builtIn("service"), [{ services: { x: config } }], answers);
  using stopped = await open({ is_running_state: false });
  using quiet = await open({ onchangeonly: true, emitatstartup: false });
  using delayed = await open({ onchangeonly: true, delay: 0.05 });
  const counts = async () =>
    (await Promise.all([stopped.look(), quiet.look(), delayed.look()])).map((one) => one.length);
  assertEquals(await counts(), [0, 0, 0]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assertEquals(await counts(), [0, 0, 1]);
  answers["service.status"] = false;
  assertEquals(await counts(), [1, 1, 0]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assertEquals(await counts(), [1, 0, 1]);
  assertEquals(await counts(), [1, 0, 0]);
});

Deno.test("status: all of a function, fields of it, items of a list, and what is not there", async () => {
  const answers: Record<string, Value | Error> = {
    "status.broken": new Error("it is broken"),
    "status.loadavg": map({ "1-min": 1, "5-min": 2 }),
    "status.list": ["a", "b"],
  };
  const data = async (config: unknown) => {
    using status = await openBeacon(await builtIn("status"), config, answers);
    return (await status.look())[0].get("data");
  };
  assertEquals(await data([{ loadavg: ["all"] }]), map({ loadavg: { "1-min": 1, "5-min": 2 } }));
  assertEquals(
    await data([{ loadavg: ["5-min"] }, { list: ["1", "-2"] }]),
    map({ loadavg: { "5-min": 2 }, list: { "1": "b", "-2": "a" } }),
  );
  assertEquals(
    await data([{ loadavg: "2-min" }]),
    map({ loadavg: "Status beacon is incorrectly configured: '2-min'" }),
  );
  assertEquals(await data([{ loadavg: ["all", "5-min"] }]), map({ loadavg: { "1-min": 1, "5-min": 2 } }));
  for (const item of ["first", "2"]) {
    assertEquals(
      await data([{ list: ["0", item] }]),
      map({ list: `Status beacon is incorrectly configured: '${item}'` }),
    );
  }
  assertEquals(await data([{ broken: ["all"] }]), map({ broken: {} }));
});

Deno.test("pkg: what changes", async () => {
  const answers: Record<string, Value> = { "pkg.version": "1", "pkg.latest_version": "" };
  using pkg = await openBeacon(await builtIn("pkg"), [{ pkgs: ["zsh"] }], answers);
  assertEquals(await pkg.look(), []);
  answers["pkg.latest_version"] = "2";
  assertEquals(await pkg.look(), [map({ pkg: "zsh", version: "2", status: "upgrade" })]);
});

Deno.test("log: lines from the end, after a cut, a rotation and a removal; patterns that do not end", async () => {
  const root = Deno.makeTempDirSync();
  const file = `${root}/x.log`;
  Deno.writeTextFileSync(file, "hit before\n");
  using log = await openBeacon(await builtIn("log"), [{ file }, {
    tags: {
      t: { regex: "hit" },
      bad: { regex: "([" },
      slow: { regex: "(x+x+)+y$" },
      long: { regex: "(x+)+\\1y" },
      none: {},
    },
  }]);
  assertEquals(log.fired.splice(0), [map({ tag: "bad", match: "no", raw: "", error: "bad regex" })]);
  const raws = () => log.fired.filter((data) => data.get("match") === "yes").map((data) => data.get("raw"));
  const append = (text: string) => Deno.writeTextFileSync(file, text, { append: true });
  append("miss\nhit 1\n  hit not at the beginning\nhit ");
  append("2\n");
  await eventually(() => raws().length === 2, { what: "two lines" });
  Deno.writeTextFileSync(file, "hit 3\n");
  await eventually(() => raws().includes("hit 3"), { what: "a line after a cut" });
  Deno.renameSync(file, `${file}.1`);
  Deno.writeTextFileSync(`${file}.1`, "hit 4\n", { append: true });
  Deno.writeTextFileSync(file, "hit 5\n");
  await eventually(() => raws().includes("hit 5"), { what: "a line of a rotated file" });
  assertEquals(raws(), ["hit 1", "hit 2", "hit 3", "hit 4", "hit 5"]);
  assertEquals(log.fired.filter((data) => data.get("match") === "no"), []);
  append(`${"x".repeat(5_000)}\nhit 6`);
  await eventually(() => raws().includes("hit 6"), { what: "a line without an end" });
  const failed = log.fired.filter((data) => data.get("match") === "no");
  assertEquals(failed, [map({ tag: "long", match: "no", raw: "", error: "bad match" })]);
  Deno.removeSync(root, { recursive: true });
});

Deno.test("inotify: masks, trees that grow and move, exclusions, a file that is replaced", async () => {
  const root = Deno.makeTempDirSync();
  Deno.mkdirSync(`${root}/tree/sub/skip`, { recursive: true });
  Deno.writeTextFileSync(`${root}/conf`, "1");
  using watch = await openBeacon(await builtIn("inotify"), [{
    files: {
      [`${root}/tree`]: {
        mask: ["create", "delete", "moved_from", "moved_to"],
        recurse: true,
        auto_add: true,
        exclude: [`${root}/tree/sub/skip`, { "secret[0-9]+$": { regex: true } }],
      },
      [`${root}/conf`]: { mask: ["modify", "close_write"] },
    },
  }]);
  Deno.writeTextFileSync(`${root}/tree/sub/skip/a`, "");
  Deno.writeTextFileSync(`${root}/tree/sub/secret1`, "");
  Deno.mkdirSync(`${root}/tree/sub/new/deep`, { recursive: true });
  await eventually(() => paths(watch.fired).includes(`${root}/tree/sub/new/deep`), { what: "a deep directory" });
  Deno.writeTextFileSync(`${root}/tree/sub/new/deep/file`, "");
  await eventually(() => paths(watch.fired).includes(`${root}/tree/sub/new/deep/file`), { what: "a file in it" });
  assert(!paths(watch.fired).some((path) => path.includes("secret") || path.includes("skip/")));
  Deno.renameSync(`${root}/tree/sub`, `${root}/tree/moved`);
  await eventually(() => watch.fired.some((data) => data.get("change") === "IN_MOVED_TO|IN_ISDIR"), { what: "a move" });
  Deno.writeTextFileSync(`${root}/tree/moved/new/deep/again`, "");
  const again = `${root}/tree/moved/new/deep/again`;
  await eventually(() => paths(watch.fired).includes(again), { what: "a file below a moved directory" });
  const last = watch.fired.find((data) => data.get("path") === again);
  assertEquals([last?.get("tag"), last?.get("change")], [`${root}/tree/moved/new/deep`, "IN_CREATE"]);
  // An editor writes another file of the name.
  Deno.writeTextFileSync(`${root}/conf.new`, "2");
  Deno.renameSync(`${root}/conf.new`, `${root}/conf`);
  await eventually(() => {
    Deno.writeTextFileSync(`${root}/conf`, "3");
    return paths(watch.fired).includes(`${root}/conf`);
  }, { what: "a change of the new file" });
  Deno.removeSync(root, { recursive: true });
});

Deno.test("watchdog: created, modified, moved and deleted", async () => {
  const root = Deno.makeTempDirSync();
  using watch = await openBeacon(await builtIn("watchdog"), [{ directories: { [root]: {} } }]);
  const changes = () => watch.fired.map((data) => data.get("change"));
  Deno.writeTextFileSync(`${root}/a`, "x");
  await eventually(() => changes().includes("modified"), { what: "a new file" });
  Deno.renameSync(`${root}/a`, `${root}/b`);
  await eventually(() => changes().includes("moved"), { what: "a move" });
  Deno.removeSync(`${root}/b`);
  await eventually(() => changes().includes("deleted"), { what: "a removal" });
  assertEquals([...new Set(changes())], ["created", "modified", "moved", "deleted"]);
  assertEquals(watch.fired[0].get("tag"), "watchdog");
  Deno.removeSync(root, { recursive: true });
});

Deno.test("inotify: equal events are one, a broken exclusion is named, and a directory of watchdog that is not there", async () => {
  const root = Deno.makeTempDirSync();
  const exclude = [{ "([": { regex: true } }, { "(x+)+\\1y": { regex: true } }];
  using watch = await openBeacon(await builtIn("inotify"), [
    { files: { [root]: { mask: ["modify", "create"], exclude } } },
    { coalesce: true },
  ]);
  using each = await openBeacon(await builtIn("inotify"), [{ files: { [root]: { mask: ["modify", "create"] } } }]);
  assertStringIncludes(watch.failures[0], "exclude: ");
  for (let i = 0; i < 3; i++) {
    Deno.writeTextFileSync(`${root}/a`, "x");
    Deno.writeTextFileSync(`${root}/b`, "x");
  }
  await eventually(() => each.fired.length > 4, { what: "the events" });
  await eventually(() => watch.fired.length > 0, { what: "the events that are one" });
  const told = watch.fired.map((data) => `${str(data.get("path") ?? null)} ${str(data.get("change") ?? null)}`);
  assertEquals(new Set(told).size, told.length);
  const long = `${root}/${"x".repeat(240)}`;
  Deno.writeTextFileSync(long, "");
  await eventually(() => paths(watch.fired).includes(long), { what: "an event that no exclusion matches" });
  assertStringIncludes(watch.failures[1], "its references take too many steps");
  using none = await openBeacon(await builtIn("watchdog"), [{ directories: { [`${root}/none`]: {} } }]);
  assertEquals(none.failures, [`No such file or directory: '${root}/none'`]);
  Deno.removeSync(root, { recursive: true });
});

/** A record of a login or a logout. */
function loginRecord(type: number, line: string, user: string): Uint8Array<ArrayBuffer> {
  const record = new Uint8Array(RECORD_BYTES);
  record.set([type, 0, 0, 0, 42]);
  record.set(new TextEncoder().encode(line), 8);
  record.set(new TextEncoder().encode(user), 44);
  return record;
}

Deno.test("wtmp: logins and logouts of named users and groups, within a range of time", async () => {
  const root = Deno.makeTempDirSync(), file = `${root}/wtmp`;
  Deno.writeFileSync(file, loginRecord(7, "pts/9", "before"));
  const answers: Record<string, Value> = { "group.info": map({ members: ["bob", "ann"] }) };
  const always = { start: "12 am", end: "24:00" }, never = { start: "24:00", end: "0:00" };
  const open = (config: unknown) => openBeacon(wtmpBeacon(file), config, answers);
  using all = await open([{ ut_type: { login: 9 } }]);
  using some = await open([{ users: { ann: { time_range: always } } }, { groups: { admins: { time_range: never } } }]);
  using none = await open([{ defaults: { time_range: never } }]);
  const records = [[7, "pts/0", "ann"], [7, "pts/1", "bob"], [7, "pts/2", "eve"], [8, "pts/0", ""], [
    9,
    "pts/3",
    "ann",
  ]] as const;
  const bytes = new Uint8Array(records.flatMap(([type, line, user]) => [...loginRecord(type, line, user)]));
  // The first record comes in two pieces.
  Deno.writeFileSync(file, bytes.subarray(0, 100), { append: true });
  Deno.writeFileSync(file, bytes.subarray(100), { append: true });
  await eventually(() => all.fired.length === 5, { what: "five records" });
  const told = (fired: readonly ValueMap[]) =>
    fired.map((data) => [data.get("action") ?? "", data.get("user"), data.get("line")].join(" "));
  assertEquals(told(all.fired), [" ann pts/0", " bob pts/1", " eve pts/2", "logout  pts/0", "login ann pts/3"]);
  await eventually(() => some.fired.length >= 3, { what: "the records of ann" });
  assertEquals(told(some.fired), ["login ann pts/0", "logout ann pts/0", " ann pts/3"]);
  assertEquals(none.fired, []);
  Deno.removeSync(root, { recursive: true });
});

Deno.test("login records have Salt's fields", () => {
  const read = readLoginRecord(loginRecord(7, "pts/0", "root"));
  assertEquals([read.get("type"), read.get("PID"), read.get("line"), read.get("user")], [7, 42, "pts/0", "root"]);
});

Deno.test("an inotify beacon needs no mask, nor a login beacon the hours of a user", async () => {
  for (
    const [name, config] of [
      ["inotify", [{ files: { a: { recurse: true } } }]],
      ["wtmp", [{ users: { ann: { time_range: {} } } }]],
      ["wtmp", [{ users: { ann: { time_range: null } } }]],
    ] as const
  ) {
    const maps = configMaps(toValue(config)) ?? [];
    assertEquals(await (await builtIn(name)).validate(ownConfig(maps)), undefined);
  }
});

Deno.test("salt_monitor: of a list what is true, of a single function whatever it is", async () => {
  const answers = { "test.false": false, "test.ping": true };
  using list = await openBeacon(await builtIn("salt_monitor"), [{ salt_fun: ["test.false", "test.ping"] }], answers);
  assertEquals(await list.look(), [map({ salt_fun: "test.ping", ret: true })]);
  using single = await openBeacon(await builtIn("salt_monitor"), [{ salt_fun: "test.false" }], answers);
  assertEquals(await single.look(), [map({ salt_fun: "test.false", ret: false })]);
});

Deno.test("a beacon of a file says what it cannot follow", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/none`, missing = [`No such file or directory: '${file}'`];
    using log = await openBeacon(await builtIn("log"), [{ file }, { tags: {} }]);
    using logins = await openBeacon(wtmpBeacon(file), []);
    assertEquals([log.failures, logins.failures], [missing, missing]);
  }));

Deno.test("a beacon of the kernel's reports says when one was not handled, and goes on", () =>
  withTemporaryDirectory(async (root) => {
    using inotify = await openBeacon(await builtIn("inotify"), [{ files: { [root]: { mask: ["create"] } } }]);
    using watchdog = await openBeacon(await builtIn("watchdog"), [{ directories: { [root]: {} } }]);
    const by = () => {
      throw new Error("it broke");
    };
    for (const { fired, failures } of [inotify, watchdog]) {
      await withReplaced(fired, { name: "push", by }, async () => {
        Deno.mkdirSync(`${root}/${crypto.randomUUID()}`);
        await eventually(() => failures.length > 0, { what: "the failure" });
      });
      assertEquals(failures[0], "A report of the kernel was not handled: it broke");
      const before = fired.length;
      Deno.mkdirSync(`${root}/again-${crypto.randomUUID()}`);
      await eventually(() => fired.length > before, { what: "the next report" });
    }
  }));

Deno.test("inotify: a file that is not there is watched when it appears", () =>
  withTemporaryDirectory(async (root) => {
    using time = new SkippedTime();
    const file = `${root}/late`;
    using inotify = await openBeacon(await builtIn("inotify"), [{ files: { [file]: { mask: ["close_write"] } } }]);
    Deno.writeTextFileSync(file, "1");
    await time.to(5_100);
    Deno.writeTextFileSync(file, "2");
    await eventually(() => inotify.fired.length > 0, { what: "a change" });
    assertEquals(inotify.fired.map((data) => data.get("change")), ["IN_CLOSE_WRITE"]);
  }));

Deno.test("every beacon refuses what Salt's refuses, in its words", async () => {
  const noDict = "Averages configuration for load beacon must contain 1m, 5m or 15m items.";
  const refusals: [name: string, config: unknown, text: string][] = [
    ["load", [{ averages: {} }, { emitatstartup: 1 }], "load beacon option emitatstartup must be a boolean."],
    ["load", [{ averages: {} }, { onchangeonly: "x" }], "load beacon option onchangeonly must be a boolean."],
    ["load", [{ onchangeonly: true }], "Averages configuration is required for load beacon."],
    ["load", [{ averages: 1 }], noDict],
    ["load", [{ averages: { "2m": [0, 1] } }], noDict],
    ["load", [{ averages: { "5m": 1 } }], "1m, 5m and 15m items must be a list of two items."],
    ["load", [{ averages: { "5m": [1] } }], "1m, 5m and 15m items must be a list of two items."],
    ["network_info", [{ interfaces: { lo: 1 } }], "network_info beacon must be a list of dictionaries."],
    ["network_info", [{ interfaces: { lo: { x: 1 } } }], "Invalid configuration item in Beacon configuration."],
    [
      "network_info",
      [{ interfaces: { lo: { errin: "x" } } }],
      "errin for network_info beacon must be a number.",
    ],
    ["ps", [{}], "Configuration for ps beacon requires processes."],
    ["service", [{}], "Configuration for service beacon requires services."],
    ["service", [{ services: 1 }], "Services configuration item for service beacon must be a dictionary."],
    ["service", [{ services: { x: 1 } }], "Configuration for service beacon must be a list of dictionaries."],
    ["inotify", [{}], "Configuration for inotify beacon must include files."],
    ["inotify", [{ files: [] }], "Configuration for inotify beacon invalid, files must be a dict."],
    ["inotify", [{ files: { a: 1 } }], "Configuration for inotify beacon must be a list of dictionaries."],
    ["inotify", [{ files: { a: {} } }], "must contain mask, recurse or auto_add items."],
    ["inotify", [{ files: { a: { mask: ["x"] } } }], "Configuration for inotify beacon invalid mask option x."],
    ["watchdog", [{ directories: { a: { mask: ["x"] } } }], "Configuration for watchdog beacon contains invalid mask"],
    ["log", [{ tags: {} }], "Configuration for log beacon must contain file option."],
    ["memusage", [{}], "Configuration for memusage beacon requires percent."],
    ["ps", [{ processes: [] }], "Processes for ps beacon must be a dictionary."],
    ["btmp", [{ users: [] }], "User configuration for btmp beacon must be a dictionary."],
    ["wtmp", [{ defaults: { time_range: { start: "8am" } } }], "must contain start & end options."],
    ["salt_monitor", [{ salt_fun: [{ f: { args: 1 } }] }], "args key for fun f must be list"],
    ["salt_monitor", [{ salt_fun: [{ f: { x: 1 } }] }], "key x not allowed under fun f"],
    ["salt_monitor", [{}], "Configuration for salt_monitor beacon requires salt_fun, a name or a list."],
    ["salt_monitor", [{ salt_fun: [{ f: 1 }] }], "1 under fun f must be a dictionary"],
    ["salt_monitor", [{ salt_fun: [{ f: { kwargs: {} } }] }], "kwargs key for fun f must be list of key value pairs"],
    ["salt_monitor", [{ salt_fun: [{ f: { kwargs: ["x"] } }] }], "x is not a key / value pair"],
    ["salt_monitor", [{ salt_fun: ["no.such"] }], "no.such not in __salt__"],
    ["inotify", [{ files: { a: { recurse: 1 } } }], "Configuration for inotify beacon recurse must be boolean."],
    ["inotify", [{ files: { a: { mask: "create" } } }], "Configuration for inotify beacon mask must be list."],
    ["watchdog", [{}], "Configuration for watchdog beacon must include directories."],
    ["watchdog", [{ directories: [] }], "Configuration for watchdog beacon directories must be a dictionary."],
    ["watchdog", [{ directories: { a: 1 } }], "beacon directory path must be a dictionary."],
    ["watchdog", [{ directories: { a: { mask: "create" } } }], "beacon mask must be list."],
    ["load", [{ averages: { "1m": ["a", 2] } }], "Averages configuration for load beacon: 1m must be two numbers."],
    ["wtmp", [{ groups: [] }], "Group configuration for wtmp beacon must be a dictionary."],
    ["btmp", [{ defaults: [] }], "Defaults configuration for btmp beacon must be a dictionary."],
    [
      "btmp",
      [{ users: { ann: { time_range: "8am" } } }],
      "The time_range parameter for btmp beacon must be a dictionary",
    ],
    [
      "btmp",
      [{ users: { ann: { time_range: { start: "8am", end: "25:00" } } } }],
      "time_range: end is no time of a day",
    ],
    ["btmp", [{ defaults: { time_range: { start: "8:60", end: "9" } } }], "time_range: start is no time of a day"],
  ];
  const hasFunction = (fun: string) => Promise.resolve(fun === "f");
  for (const [name, config, text] of refusals) {
    const maps = configMaps(toValue(config)) ?? [];
    assert(maps.every(isMap));
    assertStringIncludes(String(await (await builtIn(name)).validate(ownConfig(maps), hasFunction)), text);
  }
});
