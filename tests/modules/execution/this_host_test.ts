/**
 * Functions that describe this host agree with `/proc` and `/sys`. tests/interop/modules_here_test.ts compares them
 * with Python Salt.
 * @module
 */

import { createSocket } from "node:dgram";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const onLinux = { ignore: Deno.build.os !== "linux" };

async function call(name: string, args: Value[] = [], kwargs: Record<string, Value> = {}): Promise<Value> {
  return await testContext().call(name, args, map(kwargs));
}

async function mapOf(name: string, args: Value[] = [], kwargs: Record<string, Value> = {}): Promise<ValueMap> {
  const result = await call(name, args, kwargs);
  assert(isMap(result), `${name} is no map`);
  return result;
}

async function listOf(name: string, args: Value[] = [], kwargs: Record<string, Value> = {}): Promise<Value[]> {
  const result = await call(name, args, kwargs);
  assert(Array.isArray(result), `${name} is no list`);
  return result;
}

function asMap(value: Value | undefined): ValueMap {
  assert(isMap(value ?? null));
  return value as ValueMap;
}

/** The number in the line of `path`, a file of the kernel, that begins with `name`. */
function numberIn(path: string, name: string): number {
  return Number(new RegExp(`^${name}:?\\s+(\\d+)`, "m").exec(Deno.readTextFileSync(path))?.[1]);
}

Deno.test("ps lists processes with their data from /proc", onLinux, async () => {
  const pids = await listOf("ps.get_pid_list");
  assert(pids.includes(Deno.pid) && pids.includes(Deno.ppid));
  const attributes = ["pid", "ppid", "cwd", "cmdline", "exe"];
  const result = await mapOf("ps.proc_info", [Deno.pid], { attrs: attributes });
  const words = Deno.readTextFileSync("/proc/self/cmdline").split("\0").slice(0, -1);
  assertEquals(result, map({ pid: Deno.pid, ppid: Deno.ppid, cwd: Deno.cwd(), cmdline: words, exe: Deno.execPath() }));
  assertEquals(await mapOf("ps.proc_info", [Deno.pid], { attrs: "ppid" }), map({ ppid: Deno.ppid }));
  const busiest = await listOf("ps.top", [2, 0.02]);
  assertEquals(busiest.length, 2);
  for (const one of busiest.map(asMap)) {
    assertEquals([...one.keys()], ["cmd", "user", "status", "pid", "create_time", "cpu", "mem"]);
    assertEquals([...asMap(one.get("cpu")).keys()].slice(0, 2), ["user", "system"]);
    assert(Number(asMap(one.get("mem")).get("vms")) >= Number(asMap(one.get("mem")).get("rss")));
  }
});

Deno.test(
  "ps.pkill ends the processes of a name, and no others",
  onLinux,
  () =>
    withTemporaryDirectory(async (directory) => {
      // The kernel keeps 15 characters of a name.
      const name = `pk${Deno.pid}x`;
      await Deno.copyFile("/bin/sleep", `${directory}/${name}`);
      const child = new Deno.Command(`${directory}/${name}`, { args: ["60"] }).spawn();
      while (await call("ps.pgrep", [name]) === null) await new Promise((resolve) => setTimeout(resolve, 5));
      assertEquals(await call("ps.pkill", [name], { user: "nobody-of-this-name" }), null);
      assertEquals(await call("ps.pkill", [name], { signal: 9 }), map({ killed: [child.pid] }));
      assertEquals((await child.status).signal, "SIGKILL");
      assertEquals(await call("ps.pkill", [name]), null);
    }),
);

Deno.test("ps shows processors, memory and the start of the host", onLinux, async () => {
  const processors = Deno.readTextFileSync("/proc/stat").split("\n").filter((line) => /^cpu\d/.test(line)).length;
  assertEquals(await call("ps.num_cpus"), processors);
  const percent = Number(str(await call("ps.cpu_percent", [0.02])));
  assert(percent >= 0 && percent <= 100);
  assertEquals((await listOf("ps.cpu_percent", [0.02, true])).length, processors);
  const times = await mapOf("ps.cpu_times");
  assertEquals([...times.keys()].slice(0, 4), ["user", "nice", "system", "idle"]);
  assertEquals((await listOf("ps.cpu_times", [true])).length, processors);
  const total = numberIn("/proc/meminfo", "MemTotal") * 1024;
  assertEquals([await call("ps.total_physical_memory"), (await mapOf("ps.virtual_memory")).get("total")], [
    total,
    total,
  ]);
  assertEquals((await mapOf("ps.swap_memory")).get("total"), numberIn("/proc/meminfo", "SwapTotal") * 1024);
  const start = numberIn("/proc/stat", "btime");
  assertEquals(await call("ps.boot_time"), start);
  assertEquals(await call("ps.boot_time", ["%s"]), String(start));
  await listOf("ps.get_users");
});

Deno.test("ps shows file systems, and the traffic of disks and interfaces", onLinux, async () => {
  const places = Deno.readTextFileSync("/proc/self/mounts").split("\n").slice(0, -1).map((line) => line.split(" ")[1]);
  const all = (await listOf("ps.disk_partitions", [true])).map((one) => asMap(one).get("mountpoint"));
  assertEquals(all.filter((place) => place === "/proc"), places.filter((place) => place === "/proc"));
  assertEquals(all.length, places.length);
  const known = (await listOf("ps.disk_partitions")).map((one) => asMap(one).get("mountpoint"));
  assert(known.every((place) => all.includes(place)));
  const sizes = new Deno.Command("df", { args: ["-B1", "--output=size", "/"] }).outputSync();
  const size = Number(new TextDecoder().decode(sizes.stdout).trim().split(/\s+/).at(-1));
  assertEquals((await mapOf("ps.disk_usage", ["/"])).get("total"), size);
  const used = (await listOf("ps.disk_partition_usage", [true])).map(asMap);
  assertEquals(used.find((one) => one.get("mountpoint") === "/proc")?.get("total"), 0);
  const sent = await mapOf("ps.network_io_counters", ["lo"]);
  assertEquals(sent.get("bytes_sent"), sent.get("bytes_recv"));
  const together = await mapOf("ps.network_io_counters");
  assert(Number(together.get("bytes_recv")) >= Number(sent.get("bytes_recv")));
  assertEquals(await call("ps.network_io_counters", ["nope0"]), false);
  assertEquals([...(await mapOf("ps.disk_io_counters")).keys()].slice(0, 2), ["read_count", "write_count"]);
  assertEquals(await call("ps.disk_io_counters", ["nope"]), false);
});

Deno.test("network shows the names of this host and its connections", onLinux, async () => {
  for (const name of ["network.get_hostname", "system.get_computer_name"]) {
    assertEquals(await call(name), Deno.hostname());
  }
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using client = await Deno.connect({ hostname: "127.0.0.1", port: (listener.addr as Deno.NetAddr).port });
  using server = await listener.accept();
  const [{ port: ours }, { port: theirs }] = [client.localAddr, server.localAddr] as Deno.NetAddr[];
  const connection = [...(await mapOf("network.active_tcp")).values()].map(asMap).find((one) =>
    one.get("local_port") === ours
  );
  const address = "127.0.0.1";
  const expected = { local_addr: address, local_port: ours, remote_addr: address, remote_port: theirs };
  assertEquals(connection, map(expected));
});

Deno.test("network.wol sends sixteen times the hardware address", async () => {
  const socket = createSocket("udp4");
  const received = new Promise<Uint8Array>((resolve) => socket.once("message", resolve));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port } = socket.address();
  assertEquals(await call("network.wol", ["08-00-27-13-69-77", "127.0.0.1", port]), true);
  const bytes = await received;
  socket.close();
  const address = [0x08, 0x00, 0x27, 0x13, 0x69, 0x77];
  assertEquals([...bytes], [...Array(6).fill(0xff), ...Array.from({ length: 16 }, () => address).flat()]);
  await assertRejects(() => call("network.wol", ["08-00", "127.0.0.1", port]), Error);
});

Deno.test("mount and disk show the mounted file systems", onLinux, async () => {
  const active = await mapOf("mount.active");
  assertEquals(asMap(active.get("/proc")).get("fstype"), "proc");
  assert([...asMap((await mapOf("mount.active", [], { extended: true })).get("/proc")).keys()].includes("mountid"));
  assertEquals(await call("mount.get_device_from_path", ["/proc/self"]), asMap(active.get("/proc")).get("device"));
  assertEquals(typeof await call("disk.get_fstype_from_path", ["/"]), "string");
});

Deno.test("kmod.available lists the modules below the kernel's directory", onLinux, async () => {
  const result = await listOf("kmod.available");
  const release = Deno.readTextFileSync("/proc/sys/kernel/osrelease").trim();
  const builtin = `/lib/modules/${release}/modules.builtin`;
  const names = lexistsOrThrow(builtin) ? Deno.readTextFileSync(builtin).split("\n").slice(0, -1) : [];
  const first = names.map((path) => path.replace(/^.*\/|\.ko.*$/g, "").replaceAll("-", "_"));
  assertEquals(first.filter((name) => !result.includes(name)), []);
  assertEquals(result, result.toSorted());
});

Deno.test("sysfs shows attributes, and does not change read-only ones", onLinux, async () => {
  const mtu = Number(Deno.readTextFileSync("/sys/class/net/lo/mtu"));
  assertEquals(await call("sysfs.read", ["class/net/lo/mtu"]), mtu);
  assertEquals(await call("sysfs.read", [["mtu", "nope"], "class/net/lo"]), map({ mtu }));
  assertEquals(await call("sysfs.read", ["class/net/nope"]), false);
  assertEquals(await call("sysfs.attr", ["class/net/lo/mtu"]), mtu);
  const place = Deno.realPathSync("/sys/class/net/lo");
  assertEquals(await call("sysfs.attr", ["class/net/lo"]), place);
  assertEquals(await call("sysfs.attr", ["class/net/nope"]), false);
  assertEquals([await call("sysfs.target", ["class/net/lo"]), await call("sysfs.target", ["class/net/lo", false])], [
    place,
    "lo",
  ]);
  assertEquals(await call("sysfs.target", ["class/net/nope"]), false);
  // The kernel rejects a change of the address length.
  assertEquals(await call("sysfs.write", ["class/net/lo/addr_len", 1]), false);
  assertEquals(await call("sysfs.attr", ["class/net/lo/addr_len", 1]), false);
  assertEquals(await call("sysfs.write", ["class/net/nope", 1]), false);
  const { r, rw } = Object.fromEntries(await mapOf("sysfs.interfaces", ["class/net/lo"]));
  assert(Array.isArray(r) && r.includes("addr_len") && Array.isArray(rw) && rw.includes("mtu"));
  assertEquals(await call("sysfs.interfaces", ["class/net/lo/mtu"]), false);
});

Deno.test("file.open_files lists the processes that have a file open", onLinux, async () => {
  const path = await Deno.makeTempFile({ prefix: "this_host_" });
  try {
    using _open = Deno.openSync(path);
    assertEquals((await mapOf("file.open_files")).get(path), [Deno.pid]);
    const ours = (await mapOf("file.open_files", [true])).get(Deno.pid);
    assert(Array.isArray(ours) && ours.includes(path));
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("accounts are those of this host, and password hashes are those of the C library", async () => {
  const users = (await listOf("user.getent")).map((one) => asMap(one).get("name"));
  const lines = Deno.readTextFileSync("/etc/passwd").split("\n").filter((line) => /^\w/.test(line));
  assertEquals(lines.map((line) => line.split(":")[0]).filter((name) => !users.includes(name)), []);
  assertEquals([await call("user.get_loginclass", ["root"]), await call("user.chloginclass", ["root", "x"])], [
    false,
    false,
  ]);
  assertEquals(
    await call("shadow.gen_password", ["x", "abcdefgh"]),
    "$6$abcdefgh$D7W7qyozKBT.t6FD3DVYHvADbIO0eSyI4.p20LaEUjro8PqTGYYo/EQcuNjhFbzo9Yg5ir1KIEqFY/yJpgFph0",
  );
});

Deno.test("sysctl.persist writes to the file that systemd reads, or to sysctl.conf", async () => {
  const file = (grains: Record<string, unknown>) => testContext({ grains: map(grains) }).call("sysctl.default_config");
  assertEquals(await file({ init: "systemd", systemd: { version: "252" } }), "/etc/sysctl.d/99-salt.conf");
  assertEquals(await file({ init: "systemd", systemd: { version: "206" } }), "/etc/sysctl.conf");
  assertEquals(await file({ init: "sysvinit" }), "/etc/sysctl.conf");
});
