import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { asMap, call, listOf, mapOf } from "#tests/support/calls/host_calls.ts";
import { answeringContext, resultOrError } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { run } from "#tests/support/processes.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "ps");

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("ps.proc_info shows a process's I/O class, as ionice reports it", async () => {
  using programs = new RecordedPrograms();
  const ioClass = async (stdout: string) => {
    programs.answer("ionice", [{ args: "*", stdout }]);
    const info = await resultOrError(minion(), "ps.proc_info", [Deno.pid], { attrs: ["ionice"] });
    return isMap(info) ? info.get("ionice") : info;
  };
  assertEquals(await ioClass("best-effort: prio 4\n"), [2, 4]);
  assertEquals(await ioClass("idle\n"), [3, 0]);
  assertEquals(await ioClass("ionice: failed\n"), null);
});

const onLinux = { ignore: Deno.build.os !== "linux" };

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

Deno.test(
  "ps.pkill and process.absent leave the salt-call whose arguments name what they end",
  onLinux,
  () =>
    withTemporaryDirectory(async (directory) => {
      Deno.writeTextFileSync(`${directory}/minion`, `root_dir: ${directory}\nid: web1\n`);
      const entry = decodeURIComponent(new URL("../../../minion.ts", import.meta.url).pathname);
      const call = [...DENO_RUN, "--config", TREE_CONFIG, entry, "--as", "salt-call", "--local", "-c", directory];
      for (
        const words of [["ps.pkill", "nobody-has-this-text", "full=True"], [
          "state.single",
          "process.absent",
          "nobody-has-this-text",
        ]]
      ) {
        const { code, out, err } = await run([Deno.execPath(), ...call, "--out=json", ...words]);
        assertEquals(code, 0, err);
        assert(!out.includes("illed"), out);
      }
    }),
);

/** The number in the line of `path`, a file of the kernel, that begins with `name`. */
function numberIn(path: string, name: string): number {
  return Number(new RegExp(`^${name}:?\\s+(\\d+)`, "m").exec(Deno.readTextFileSync(path))?.[1]);
}

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
