/**
 * Compared with psutil on the same files of `/proc`: tests/corpus/psutil.json, made by make_psutil.py.
 * @module
 */

import { parseLogins } from "#lib/host/accounts/logged_in.ts";
import { memoryMaps, uniqueMemory } from "#lib/procfs/memory_maps.ts";
import { numbersIn, parseStat, splitProcessCommand, wholeName } from "#lib/procfs/process_attributes.ts";
import {
  busyPercent,
  counters,
  deviceTypes,
  diskUsage,
  parseCpuTimes,
  parseDiskCounters,
  parseNetworkCounters,
  parsePartitions,
  swapMemory,
  virtualMemory,
} from "#lib/procfs/system_usage.ts";
import { float, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/psutil.json" with { type: "json" };

const { files, results, after } = corpus;

/** Only numbers, including floats. */
function plain(values: Record<string, Value> | Map<string, Value | number>): Record<string, number> {
  const entries = values instanceof Map ? [...values] : Object.entries(values);
  return Object.fromEntries(entries.map(([name, value]) => [name, Number(value)]));
}

Deno.test("memory, processors, network and disks equal psutil's results for the same files", () => {
  assertEquals(plain(virtualMemory(files.meminfo)), results.virtual_memory);
  assertEquals(plain(swapMemory(files.meminfo, files.vmstat)), results.swap_memory);
  const before = parseCpuTimes(files.stat), now = parseCpuTimes(after);
  assertEquals({ ...before.all }, results.cpu_times);
  assertEquals(busyPercent(before.all, now.all), results.cpu_percent);
  assertEquals(before.each.map((times, i) => busyPercent(times, now.each[i])), results.cpu_percent_each);
  const network = parseNetworkCounters(files["net/dev"]);
  assertEquals(plain(counters("network", [...network.values()])), results.net_io_counters);
  assertEquals(plain(counters("network", [network.get("eth0") ?? []])), results.net_io_counters_eth0);
  assertEquals(
    plain(counters("disk", [parseDiskCounters(files.diskstats).get("vda") ?? []])),
    results.disk_io_counters_vda,
  );
});

Deno.test("mounts of devices are distinguished from other mounts", () => {
  const types = deviceTypes("nodev\tsysfs\nnodev\tzfs\n\text4\n\tvfat\n");
  assertEquals(types, ["zfs", "ext4", "vfat"]);
  const mounts = "/dev/vda / ext4 rw 0 0\nnone /sys sysfs rw 0 0\n/dev/sdb /media/my\\040disk vfat ro,user 0 0\n";
  assertEquals(parsePartitions(mounts, types).map(({ mountpoint }) => mountpoint), ["/", "/media/my disk"]);
  assertEquals(parsePartitions(mounts, undefined)[1], { device: "", mountpoint: "/sys", fstype: "sysfs", opts: "rw" });
  assertEquals(diskUsage({ bsize: 4096, blocks: 1000, bfree: 400, bavail: 300 }), {
    total: 4_096_000,
    used: 2_457_600,
    free: 1_228_800,
    percent: float(66.7),
  });
});

Deno.test("a process with any name is parsed", () => {
  const known: Record<number, string> = { 0: "S", 1: "1", 4: "34816", 11: "150", 12: "25", 13: "300", 14: "400" };
  Object.assign(known, { 16: "-5", 19: "1234", 36: "3", 39: "700" });
  const fields = Array.from({ length: 50 }, (_, i) => known[i] ?? "9").join(" ");
  assertEquals(parseStat(`77 (a) b (c)) ${fields}\n`), {
    name: "a) b (c)",
    state: "sleeping",
    parent: 1,
    terminal: 34816,
    user: 1.5,
    system: 0.25,
    childrenUser: 3,
    childrenSystem: 4,
    nice: -5,
    started: 12.34,
    processor: 3,
    wait: 7,
  });
  assertEquals(splitProcessCommand("/bin/x\0-a\0\0"), ["/bin/x", "-a", ""]);
  assertEquals(splitProcessCommand("nginx: master process /x\0"), ["nginx:", "master", "process", "/x"]);
  assertEquals(splitProcessCommand("set by itself"), ["set", "by", "itself"]);
  assertEquals(wholeName("systemd-journal", ["/lib/systemd/systemd-journald"]), "systemd-journald");
  assertEquals(wholeName("short", ["/bin/shorter"]), "short");
  assertEquals(numbersIn("0-2,5\n"), [0, 1, 2, 5]);
});

Deno.test("the memory maps of a process are summed by path", () => {
  const block = (head: string, rss: number) =>
    `${head}\nSize: 8 kB\nRss: ${rss} kB\nPss: 2 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 3 kB\nSwap: 0 kB\nVmFlags: rd ex\n`;
  const smaps = block("00400000-00402000 r-xp 00000000 fe:00 12 /bin/x", 4) +
    block("00602000-00604000 rw-p 0 fe:00 12 /bin/x", 8) +
    block("7f00-7f02 rw-p 0 00:00 0", 1) + block("7f10-7f12 rw-p 0 00:00 0 /gone (deleted)", 1);
  const kb = 1024;
  assertEquals(memoryMaps(smaps), [
    ["/bin/x", 12 * kb, 16 * kb, 4 * kb, 0, 0, 2 * kb, 6 * kb, 0, 0, 0],
    ["[anon]", kb, 8 * kb, 2 * kb, 0, 0, kb, 3 * kb, 0, 0, 0],
    ["/gone", kb, 8 * kb, 2 * kb, 0, 0, kb, 3 * kb, 0, 0, 0],
  ]);
  assertEquals(uniqueMemory(smaps), [16 * kb, 8 * kb, 0]);
});

Deno.test("logins are read from both formats of the utmp file", () => {
  for (const [size, at, write] of [[384, 340, "setInt32"], [400, 344, "setBigInt64"]] as const) {
    const bytes = new Uint8Array(2 * size);
    const view = new DataView(bytes.buffer);
    view.setInt16(0, 7, true);
    view.setInt32(4, 4242, true);
    for (const [offset, text] of [[8, "pts/3"], [44, "fred"], [76, ":0"]] as const) {
      bytes.set(new TextEncoder().encode(text), offset);
    }
    if (write === "setInt32") view.setInt32(at, 1_700_000_000, true);
    else view.setBigInt64(at, 1_700_000_000n, true);
    view.setInt16(size, 2, true); // the boot time
    const logins = parseLogins(bytes, size);
    assert(logins.length === 1);
    assertEquals(logins, [
      { name: "fred", terminal: "pts/3", host: "localhost", started: float(1_700_000_000), pid: 4242 },
    ]);
  }
});
