/**
 * Execution module `ps`: processes, and how processors, memory, disks and network are used. What Salt has psutil for is
 * in `lib/host/processes`. Source: the functions of Salt 3008.3 `salt/modules/ps.py`.
 * @module
 */

import { runTool } from "./_file_host.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, needPrograms, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { sendSignal } from "#lib/libc/libc.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { sleep } from "#lib/os/sleep.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { logins } from "#lib/host/accounts/logged_in.ts";
import {
  bootTime,
  NoProcessError,
  processAttributes,
  ProcessFiles,
  processIds,
  totalMemory,
} from "#lib/procfs/process_attributes.ts";
import {
  busyPercent,
  counters,
  type CpuTimes,
  deviceTypes,
  diskUsage,
  isWholeDisk,
  parseCpuTimes,
  parseDiskCounters,
  parseNetworkCounters,
  parsePartitions,
  type Partition,
  swapMemory,
  virtualMemory,
} from "#lib/procfs/system_usage.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { strftime } from "#lib/text/strftime.ts";
import { asList } from "#lib/values/shape.ts";
import { float, str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ grains: { kernel: ["Linux"] }, otherwise: "The ps module cannot be loaded: it reads Linux's /proc." }],
};

/** What `read` gives; `fallback` if the process has ended, or may not be read. */
function ifKnown<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NoProcessError || error instanceof Deno.errors.PermissionDenied) return fallback;
    throw error;
  }
}

/** Every process that there is now. */
function processes(): ProcessFiles[] {
  return processIds().flatMap((pid) => ifKnown(() => [new ProcessFiles(pid)], []));
}

function usedTime(process: ProcessFiles): number | undefined {
  return ifKnown<number | undefined>(() => {
    const { user, system } = process.stat();
    return user + system;
  }, undefined);
}

const MEMORY = ["rss", "vms", "shared", "text", "lib", "data", "dirty"];
const CPU = ["user", "system", "children_user", "children_system", "iowait"];

function namedValues(names: readonly string[], values: Value | undefined): Map<string, Value> {
  return new Map(names.map((name, i) => [name, Array.isArray(values) ? values[i] ?? null : null]));
}

export const top: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the processes that used most CPU time within `interval` seconds.",
    "ps.top",
    "ps.top 5 10",
  ),
  permissions: "all",
  params: { num_processes: p.int(5), interval: p.float(3) },
  async run({ num_processes, interval }, context) {
    const before = processes().map((process) => ({ process, start: usedTime(process) ?? 0 }));
    await sleep(interval * 1000, context.signal);
    const used = before.flatMap(({ process, start }) => {
      const now = usedTime(process);
      return now === undefined ? [] : [{ process, used: now - start }];
    }).sort((a, b) => b.used - a.used);
    const pids: Record<string, unknown>[] = [];
    for (const { process } of used) {
      if (pids.length >= num_processes) break;
      const { pid } = process;
      const usage = await attributes(pid, ["cpu_times", "memory_info", "create_time", "status"], context).catch(
        nothingIfGone,
      );
      if (usage === undefined) continue;
      const words = ifKnown(() => process.commandLine(), []);
      pids.push({
        cmd: words.length > 0 ? words : ifKnown<unknown>(() => process.name(), []),
        user: ifKnown<string | null>(() => process.user(), null),
        status: usage.get("status"),
        pid,
        create_time: usage.get("create_time"),
        cpu: namedValues(CPU, usage.get("cpu_times")),
        mem: namedValues(MEMORY, usage.get("memory_info")),
      });
    }
    return pids;
  },
});

function nothingIfGone(error: unknown): undefined {
  if (!(error instanceof NoProcessError)) throw error;
}

/** The class and the priority that `ionice` tells: `best-effort: prio 4`. */
const IO_CLASSES = ["none", "realtime", "best-effort", "idle"];

async function attributes(
  pid: number,
  wanted: readonly string[] | undefined,
  context: JobContext,
): Promise<Map<string, Value>> {
  return await processAttributes(pid, wanted, async (processId) => {
    if (which("ionice") === undefined) return undefined;
    const { stdout } = await runProgram(["ionice", "-p", String(processId)], context);
    const [, name = "", priority = "0"] = /^([\w-]+)(?:: prio (\d+))?$/.exec(stdout.trim()) ?? [];
    const ioclass = IO_CLASSES.indexOf(name);
    return ioclass < 0 ? undefined : [ioclass, Number(priority)];
  });
}

export const get_pid_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the ids of all processes.", "ps.get_pid_list"),
  permissions: "all",
  params: {},
  run: () => processIds(),
});

export const proc_info: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return information about a process, or the attributes of a list, under psutil's names; an unreadable attribute is None.",
    "ps.proc_info 2322",
    `ps.proc_info 2322 attrs='["pid", "name"]'`,
  ),
  permissions: "all",
  params: { pid: p.int(), attrs: p.any(null) },
  run: ({ pid, attrs }, context) => attributes(pid, attrs === null ? undefined : asList(attrs).map(str), context),
});

/** @throws {CommandError} If the system refuses. */
function signalProcess(pid: number, signal: number): boolean {
  if (pid < 1) throw new InvocationError(`${pid} is no process`);
  if (sendSignal(pid, signal)) return true;
  if (ifKnown(() => (new ProcessFiles(pid).stat(), true), false)) {
    throw new CommandError(`[Errno 1] Operation not permitted (pid=${pid})`);
  }
  return false;
}

export const kill_pid: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send a signal, by its number, to a process. Return whether the process existed.",
    "ps.kill_pid 2000 signal=9",
  ),
  permissions: "all",
  params: { pid: p.int(), signal: p.int(15) },
  run: ({ pid, signal }) => signalProcess(pid, signal),
});

interface Pattern {
  readonly matches: (line: string) => boolean;
  readonly user: string | null;
  readonly full: boolean;
}

function matching({ matches, user, full }: Pattern): number[] {
  return processes().filter((process) => {
    const line = ifKnown<string | undefined>(() => full ? process.commandLine().join(" ") : process.name(), undefined);
    if (line === undefined || !matches(line)) return false;
    return user === null || ifKnown<string | null>(() => process.user(), null) === user;
  }).map(({ pid }) => pid);
}

export const pgrep: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the ids of the processes whose name (with full=True: command line) contains a text; None if there is none.\n" +
      "With pattern_is_regex=True it is a regular expression.",
    "ps.pgrep httpd",
    "ps.pgrep bash user=tom",
  ),
  permissions: "all",
  params: { pattern: p.str(), user: p.str(null), full: p.bool(false), pattern_is_regex: p.bool(false) },
  run({ pattern, user, full, pattern_is_regex }) {
    const regex = pattern_is_regex ? pythonRegex(pattern, { search: true }) : undefined;
    const matches = (line: string) => regex?.test(line) ?? line.includes(pattern);
    const pids = matching({ matches, user, full });
    return pids.length === 0 ? null : pids;
  },
});

export const pkill: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send a signal to the processes whose name (with full=True: command line) contains a text; to this one only if its\n" +
      "name does. Return `killed`, their ids, or None if there is none.",
    "ps.pkill httpd signal=1",
    "ps.pkill bash signal=9 user=tom",
  ),
  permissions: "all",
  params: { pattern: p.str(), user: p.str(null), signal: p.int(15), full: p.bool(false) },
  run({ pattern, user, signal, full }) {
    const matches = (line: string) => line.includes(pattern);
    // The pattern is an argument of salt-call, which is not what it looks for.
    const isOther = (pid: number) => pid !== Deno.pid || matches(new ProcessFiles(pid).name());
    const pids = matching({ matches, user, full }).filter(isOther);
    const killed = pids.filter((pid) => signalProcess(pid, signal));
    return killed.length === 0 ? null : { killed };
  },
});

function cpuNow(): { readonly all: CpuTimes; readonly each: CpuTimes[] } {
  return parseCpuTimes(Deno.readTextFileSync("/proc/stat"));
}

export const cpu_percent: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the CPU usage within `interval` seconds, in percent; with per_cpu=True, of each CPU.",
    "ps.cpu_percent",
  ),
  permissions: "all",
  params: { interval: p.float(0.1), per_cpu: p.bool(false) },
  async run({ interval, per_cpu }, { signal }) {
    const before = cpuNow();
    await sleep(interval * 1000, signal);
    const after = cpuNow();
    if (!per_cpu) return float(busyPercent(before.all, after.all));
    return after.each.map((times, i) => float(busyPercent(before.each[i] ?? times, times)));
  },
});

function asFloats(times: CpuTimes): Map<string, Value> {
  return new Map(Object.entries(times).map(([name, value]) => [name, float(value)]));
}

export const cpu_times: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the CPU times in seconds, by kind (user, system, idle, …); with per_cpu=True, of each CPU.",
    "ps.cpu_times",
  ),
  permissions: "all",
  params: { per_cpu: p.bool(false) },
  run({ per_cpu }) {
    const { all, each } = cpuNow();
    return per_cpu ? each.map(asFloats) : asFloats(all);
  },
});

export const virtual_memory: ModuleFunction<JobContext> = fn({
  doc: describe("Return the memory usage, in bytes.", "ps.virtual_memory"),
  permissions: "all",
  params: {},
  run: () => virtualMemory(Deno.readTextFileSync("/proc/meminfo")),
});

export const swap_memory: ModuleFunction<JobContext> = fn({
  doc: describe("Return the swap usage, in bytes.", "ps.swap_memory"),
  permissions: "all",
  params: {},
  run: () => swapMemory(Deno.readTextFileSync("/proc/meminfo"), Deno.readTextFileSync("/proc/vmstat")),
});

function partitions(all: boolean): Partition[] {
  const types = all ? undefined : deviceTypes(Deno.readTextFileSync("/proc/filesystems"));
  return parsePartitions(Deno.readTextFileSync("/proc/self/mounts"), types);
}

function usageOf(path: string): Record<string, Value> {
  return diskUsage(nodeBuiltin("node:fs").statfsSync(path));
}

export const disk_partitions: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the mounted devices, or, with all=True, all mounts: a list of maps.",
    "ps.disk_partitions",
  ),
  permissions: "all",
  params: { all: p.bool(false) },
  run: ({ all }) => partitions(all),
});

export const disk_usage: ModuleFunction<JobContext> = fn({
  doc: describe("Return the usage of the file system of a path, in bytes.", "ps.disk_usage /home"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => usageOf(path),
});

export const disk_partition_usage: ModuleFunction<JobContext> = fn({
  doc: describe("Return the mounted devices with their usage: a list of maps.", "ps.disk_partition_usage"),
  permissions: "all",
  params: { all: p.bool(false) },
  run: ({ all }) => partitions(all).map((one) => ({ ...one, ...usageOf(one.mountpoint) })),
});

export const total_physical_memory: ModuleFunction<JobContext> = fn({
  doc: describe("Return the size of the memory in bytes.", "ps.total_physical_memory"),
  permissions: "all",
  params: {},
  run: () => totalMemory(),
});

export const num_cpus: ModuleFunction<JobContext> = fn({
  doc: describe("Return the number of processors.", "ps.num_cpus"),
  permissions: "all",
  params: {},
  run: () => cpuNow().each.length,
});

export const boot_time: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the boot time of the host, in seconds since 1970, or in a format of strftime.",
    "ps.boot_time",
    "ps.boot_time time_format='%c'",
  ),
  permissions: "all",
  params: { time_format: p.str(null) },
  run: ({ time_format }) => time_format ? strftime(new Date(bootTime() * 1000), time_format) : bootTime(),
});

export const network_io_counters: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the traffic of all network interfaces, or of one; False if it does not exist.",
    "ps.network_io_counters",
    "ps.network_io_counters interface=eth0",
  ),
  permissions: "all",
  params: { interface: p.str(null) },
  run({ interface: name }) {
    const all = parseNetworkCounters(Deno.readTextFileSync("/proc/net/dev"));
    if (!name) return counters("network", [...all.values()]);
    const one = all.get(name);
    return one === undefined ? false : counters("network", [one]);
  },
});

export const disk_io_counters: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the reads and writes of all disks, or of one device; False if it does not exist.",
    "ps.disk_io_counters",
    "ps.disk_io_counters device=sda1",
  ),
  permissions: "all",
  params: { device: p.str(null) },
  run({ device }) {
    const all = parseDiskCounters(Deno.readTextFileSync("/proc/diskstats"));
    if (!device) return counters("disk", [...all].filter(([name]) => isWholeDisk(name)).map(([, row]) => row));
    const one = all.get(device);
    return one === undefined ? false : counters("disk", [one]);
  },
});

export const get_users: ModuleFunction<JobContext> = fn({
  doc: describe("Return who is logged in: a list of maps.", "ps.get_users"),
  permissions: "all",
  params: {},
  run: () => logins(),
});

export const lsof: ModuleFunction<JobContext> = fn({
  doc: describe("Return the output of `lsof` for the processes with a name.", "ps.lsof apache2"),
  permissions: "all",
  params: { name: p.str() },
  run: async ({ name }, context) => [
    name,
    (await runTool(context, ["lsof", "-c", checkedWord(name, "name")], { joined: true })).stdout,
  ],
});

/** A function that shows the lines of a program's output that have a text in them. */
function filteringFunction(program: string, options: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return the lines of \`${program} ${options}\` that name a process.`, `ps.${program} apache2`),
    permissions: "all",
    params: { name: p.str() },
    async run({ name }, context) {
      needPrograms(program);
      const { stdout } = await runTool(context, [program, options], { joined: true });
      return [name, splitLines(stdout).filter((line) => line.includes(name))];
    },
  });
}

export const netstat: ModuleFunction<JobContext> = filteringFunction("netstat", "-nap");
export const ss: ModuleFunction<JobContext> = filteringFunction("ss", "-neap");

export const psaux: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the lines of `ps aux` that a regular expression finds, and their number.",
    "ps.psaux www-data.+apache2",
  ),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    const regex = pythonRegex(name, { search: true });
    const { stdout } = await runTool(context, ["ps", "aux"], { joined: true });
    // The command that asks finds itself.
    const lines = splitLines(stdout).filter((line) => regex.test(line) && !/salt.+ps.psaux.+/.test(line));
    return [name, lines, `${lines.length} occurrence(s).`];
  },
});

export const status: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the processes in a state: running, sleeping, disk-sleep, stopped, tracing-stop, zombie, dead, wake-kill, waking,\n" +
      "parked, idle.",
    "ps.status zombie",
  ),
  permissions: "all",
  params: { status: p.any() },
  run({ status }) {
    if (status === null || status === "" || status === false) {
      throw new InvocationError("Filter is required for ps.status");
    }
    return processes().flatMap((process) =>
      ifKnown(() => process.stat().state === status ? [{ pid: process.pid, name: process.name() }] : [], [])
    );
  },
});
