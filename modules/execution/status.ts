/**
 * Execution module `status`: activity of the minion's host, read from `/proc`; and whether the master is reachable.
 *
 * On a host without `/proc` the functions say that they are not supported. Only `status.w` and the number of users in
 * `status.uptime` start a program.
 * Source: the functions of Salt 3008.3 `salt/modules/status.py` for Linux.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { type CommandResult, runCommand } from "#lib/programs/command.ts";
import { describe } from "#lib/plugins/docs.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { type HostPort, parseHostPort } from "#lib/text/host_port.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import * as proc from "#lib/procfs/proc_stats.ts";
import { listProcesses } from "#lib/procfs/processes.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { strftime } from "#lib/text/strftime.ts";
import { addressesConnectedTo } from "#lib/procfs/tcp_table.ts";
import { float, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { which } from "#lib/programs/which.ts";

const UNSUPPORTED = "This method is unsupported on the current operating system!";

/** A function that shows one file of `/proc`. */
function fileReader(
  name: string,
  file: string,
  { shows, read }: { shows: string; read: (text: string) => Value },
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return ${shows}.`, `status.${name}`),
    permissions: "all", // of /proc, which Deno lets nobody else read
    params: {},
    run: () => readProc(file, read),
  });
}

/** What `read` makes of a file under `/proc`; as Salt, an empty map if the file is not there on Linux. */
function readProc(file: string, read: (text: string) => Value): Value {
  if (Deno.build.os !== "linux") return UNSUPPORTED;
  try {
    return read(Deno.readTextFileSync(`/proc/${file}`));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return new Map();
    throw error;
  }
}

export const meminfo: ModuleFunction<JobContext> = fileReader("meminfo", "meminfo", {
  shows: "the memory's statistics: for each a `value`, as text, and its `unit`",
  read: proc.parseMeminfo,
});

export const cpuinfo: ModuleFunction<JobContext> = fileReader("cpuinfo", "cpuinfo", {
  shows: "information about the last processor",
  read: proc.parseCpuinfo,
});

export const cpustats: ModuleFunction<JobContext> = fileReader("cpustats", "stat", {
  shows: "the processors' times, interrupts and counts since the host started",
  read: proc.parseCpuStats,
});

export const diskstats: ModuleFunction<JobContext> = fileReader("diskstats", "diskstats", {
  shows: "what each block device has read and written",
  read: proc.parseDiskstats,
});

export const vmstats: ModuleFunction<JobContext> = fileReader("vmstats", "vmstat", {
  shows: "the virtual memory's statistics",
  read: proc.parseVmstats,
});

export const netstats: ModuleFunction<JobContext> = fileReader("netstats", "net/netstat", {
  shows: "the network protocols' counts",
  read: proc.parseNetstats,
});

export const netdev: ModuleFunction<JobContext> = fileReader("netdev", "net/dev", {
  shows: "what each network interface has received and sent",
  read: proc.parseNetdev,
});

export const version: ModuleFunction<JobContext> = fileReader("version", "version", {
  shows: "the version of the host's kernel",
  read: (line) => line.trim(),
});

export const nproc: ModuleFunction<JobContext> = fileReader("nproc", "self/status", {
  shows: "the number of processors that the minion may use",
  read: proc.parseAllowedCpus,
});

export const loadavg: ModuleFunction<JobContext> = fn({
  doc: describe("Return the load of the last 1, 5 and 15 minutes.", "status.loadavg"),
  permissions: { sys: ["loadavg"] },
  params: {},
  run: loads,
});

function loads(): ValueMap {
  const [one, five, fifteen] = Deno.loadavg();
  return map({ "1-min": float(one), "5-min": float(five), "15-min": float(fifteen) });
}

export const uptime: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return how long the host has been up: `seconds`, whole `days`, the hours and minutes beyond them (`time`), the moment\n" +
      "of its start (`since_iso`, `since_t`) and, if `who` is there, the number of `users`.",
    "status.uptime",
  ),
  permissions: "all",
  params: {},
  run: (_bound, context) => upSince(context),
});

async function upSince(context: JobContext): Promise<Value> {
  if (Deno.build.os !== "linux") return UNSUPPORTED;
  const seconds = proc.parseUptime(Deno.readTextFileSync("/proc/uptime"));
  const since = Date.now() / 1000 - seconds;
  const microseconds = String(Math.floor(since % 1 * 1e6)).padStart(6, "0");
  const rest = seconds % 86_400;
  return map({
    seconds,
    since_iso: `${new Date(since * 1000).toISOString().slice(0, 19)}.${microseconds}`,
    since_t: Math.floor(since),
    days: Math.floor(seconds / 86_400),
    time: `${Math.floor(rest / 3600)}:${Math.floor(rest % 3600 / 60)}`,
    ...which("who") === undefined ? {} : { users: (await lines("who -s", context)).length },
  });
}

async function lines(cmd: string, context: JobContext): Promise<string[]> {
  const result: CommandResult = await runCommand({ cmd, python_shell: false, ignore_retcode: true }, context);
  return result.stdout.split("\n").filter((line) => line !== "");
}

export const w: ModuleFunction<JobContext> = fn({
  doc: describe("Return who is logged in and what they are doing: a list of maps.", "status.w"),
  permissions: "all",
  params: {},
  run: (_bound, context) => loggedIn(context),
});

async function loggedIn(context: JobContext): Promise<Value> {
  return (await lines("w -fh", context)).map((line) => {
    const [user, tty, login, idle, jcpu, pcpu, ...what] = line.trim().split(/\s+/);
    return map({ idle, jcpu, login, pcpu, tty, user, what: what.join(" ") });
  });
}

export const diskusage: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the `total` and `available` bytes of file systems: of those named by a path or by a glob of their types, or of\n" +
      "all.",
    "status.diskusage",
    "status.diskusage / /tmp",
    "status.diskusage ext?",
    "status.diskusage / ext?",
  ),
  permissions: "all",
  params: {},
  varArgs: "args",
  run: (_bound, context, rest) => usage(rest.args.map((arg) => str(arg)), context),
});

function usage(args: string[], context: JobContext): Value {
  const types = args.length === 0 ? ["*"] : args.filter((arg) => !arg.startsWith("/"));
  const mounts = types.length === 0 ? [] : proc.parseMounts(Deno.readTextFileSync("/proc/mounts"));
  const mounted = mounts.filter(({ type }) => types.some((glob) => matchesGlob(glob, type))).map(({ path }) => path);
  const paths = new Set([...args.filter((arg) => arg.startsWith("/")), ...mounted]);
  return new Map([...paths].flatMap((path): [Value, Value][] => {
    try {
      const { bsize, bavail, blocks } = nodeBuiltin("node:fs").statfsSync(path);
      return [[path, map({ available: bavail * bsize, total: blocks * bsize })]];
    } catch (error) {
      if (isMissing(error)) return [];
      context.log("warning", `Cannot get stats from '${path}': ${messageOf(error)}`);
      return [[path, map({ available: null, total: null })]];
    }
  }));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

export const procs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the processes: for each pid, as text, its `user` and its command line (`cmd`).",
    "status.procs",
  ),
  permissions: "all",
  params: {},
  run: () => new Map(listProcesses().map(({ pid, user, command }) => [String(pid), map({ user, cmd: command })])),
});

export const pid: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the pids of the processes whose user, pid or command line a regular expression finds, one a line. The minion\n" +
      "itself is never among them.",
    "status.pid <sig>",
  ),
  permissions: "all",
  params: { sig: p.str() },
  run({ sig }) {
    const regex = pythonRegex(sig, { search: true });
    const processes = listProcesses().filter(({ pid, user, command }) =>
      pid !== Deno.pid && regex.test(`${user} ${pid} ${command}`)
    );
    return processes.map(({ pid }) => pid).join("\n");
  },
});

export const all_status: ModuleFunction<JobContext> = fn({
  doc: describe("Return what the other functions of this module return, in one map.", "status.all_status"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => ({
    cpuinfo: readProc("cpuinfo", proc.parseCpuinfo),
    cpustats: readProc("stat", proc.parseCpuStats),
    diskstats: readProc("diskstats", proc.parseDiskstats),
    diskusage: usage([], context),
    loadavg: loads(),
    meminfo: readProc("meminfo", proc.parseMeminfo),
    netdev: readProc("net/dev", proc.parseNetdev),
    netstats: readProc("net/netstat", proc.parseNetstats),
    uptime: await upSince(context),
    vmstats: readProc("vmstat", proc.parseVmstats),
    // A host without `w` has all the rest to show.
    w: which("w") === undefined ? [] : await loggedIn(context),
  }),
});

export const time: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the host's local time, in the given format of strftime.",
    "status.time",
    "status.time '%s'",
  ),
  params: { format: p.str("%A, %d. %B %Y %I:%M%p") },
  run: ({ format }) => strftime(new Date(), format),
});

export const custom: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what the configuration asks for: of the results of functions of this module, only the fields listed, as in\n" +
      "`status.cpustats.custom: ['cpu', 'ctxt']`.",
    "status.custom",
  ),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const status: ValueMap = new Map();
    for (const [key, fields] of context.opts.extra) {
      const name = /^(status\.\w+)\.\w+$/.exec(str(key))?.[1];
      if (name === undefined || name === "status.custom" || !Array.isArray(fields)) continue;
      const result = await context.call(name);
      for (const field of fields) {
        const value = isMap(result) ? result.get(field) : undefined;
        if (value === undefined) context.log("warning", `val ${str(field)} not in return of ${name}`);
        status.set(field, value ?? "UNKNOWN");
      }
    }
    return status;
  },
});

/** The publisher's port where neither the configuration nor the master says another. */
const PUBLISH_PORT = 4505;

export const master: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether this host is connected to the publish port of a master; None if the name is not known. If that is not\n" +
      "what `connected` says, the event `__master_connected` or `__master_disconnected` goes onto the minion's bus.",
    "status.master",
    "status.master salt.example.com connected=False",
  ),
  permissions: "all",
  params: { master: p.str(null), connected: p.bool(true) },
  async run({ master, connected }, { opts, outside }) {
    const addresses = master === null || master === "" ? [] : await addressesOf(hostPortOf(master).host);
    if (addresses.length === 0) return null;
    const peers = addressesConnectedTo(opts.publish_port ?? PUBLISH_PORT);
    const isConnected = addresses.some((address) => peers.has(address));
    if (isConnected !== connected) {
      await outside.fire(map({ master }), isConnected ? "__master_connected" : "__master_disconnected");
    }
    return isConnected;
  },
});

/** `host:port`; a text that is none is a host, which nobody knows. */
function hostPortOf(master: string): HostPort {
  try {
    return parseHostPort(master);
  } catch {
    return { host: master };
  }
}

async function addressesOf(host: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

export const ping_master: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a master answers on the request port, asked without keys. If it does, the event `__master_failback`\n" +
      "goes onto the minion's bus.",
    "status.ping_master localhost",
    "status.ping_master 'salt.example.com:5506'",
  ),
  permissions: "all",
  params: { master: p.any() },
  async run({ master }, { opts, outside }) {
    if (master === null || master === "") return false;
    const { host: name, port = opts.master_port } = hostPortOf(str(master));
    const [host] = await addressesOf(name);
    if (host === undefined) return false;
    // Imported here: ZeroMQ need not be loaded for the rest of the module.
    const { RequestChannel, tcpAddress } = await import("#lib/sockets/request_channel.ts");
    const { clearRequest } = await import("#lib/protocol/payload.ts");
    using channel = new RequestChannel(tcpAddress(host, port));
    try {
      await channel.request(clearRequest(map({ cmd: "ping" })), { timeoutMs: opts.auth_timeout * 1000, tries: 1 });
    } catch {
      return false;
    }
    await outside.fire(map({ master }), "__master_failback");
    return true;
  },
});

export const proxy_reconnect: ModuleFunction<JobContext> = fn({
  doc: describe("Return False: there are no proxy minions here.", "status.proxy_reconnect rest_sample"),
  params: { proxy_name: p.str(), opts: p.any(null) },
  run: () => false,
});
