/**
 * The attributes of one process, in the form of psutil's `Process.as_dict`: its tuples are lists.
 * Source: psutil 7.2 (documentation and results); proc(5).
 * @module
 */

import { isFile } from "#lib/os/file_kind.ts";
import { escapeRegex } from "#lib/regex/escape.ts";
import { CommandError } from "#lib/errors.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { findUser } from "#lib/os/users.ts";
import { float, type Value } from "#lib/values/value.ts";
import { memoryMaps, uniqueMemory } from "./memory_maps.ts";
import { socketsOf } from "./process_sockets.ts";

/** Clock ticks in a second, in which the kernel counts: 100 on every system that this runs on. */
export const TICKS = 100;

/** The states of processes, by their letters. */
const STATES: Readonly<Record<string, string>> = {
  R: "running",
  S: "sleeping",
  D: "disk-sleep",
  T: "stopped",
  t: "tracing-stop",
  Z: "zombie",
  X: "dead",
  x: "dead",
  K: "wake-kill",
  W: "waking",
  I: "idle",
  P: "parked",
};

/** Some of the fields of `/proc/<pid>/stat`. */
export interface ProcessStat {
  readonly name: string;
  readonly state: string;
  readonly parent: number;
  readonly terminal: number;
  /** Seconds of the processor in user mode, and in the kernel. */
  readonly user: number;
  readonly system: number;
  /** The same of the children that have ended. */
  readonly childrenUser: number;
  readonly childrenSystem: number;
  /** Seconds of waiting for block devices. */
  readonly wait: number;
  readonly nice: number;
  /** Seconds after the host's start. */
  readonly started: number;
  /** The processor that ran it last. */
  readonly processor: number;
}

/** The text of `/proc/<pid>/stat`. */
export function parseStat(text: string): ProcessStat {
  // The name is in brackets, and may contain brackets.
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).trim().split(" ");
  const seconds = (i: number) => Number(fields[i] ?? 0) / TICKS;
  return {
    name: text.slice(text.indexOf("(") + 1, end),
    state: STATES[fields[0]] ?? "?",
    parent: Number(fields[1]),
    terminal: Number(fields[4]),
    user: seconds(11),
    system: seconds(12),
    childrenUser: seconds(13),
    childrenSystem: seconds(14),
    nice: Number(fields[16]),
    started: seconds(19),
    processor: Number(fields[36]),
    wait: seconds(39),
  };
}

/** The words of a command line; of one that the process has overwritten, the words between blanks. */
export function splitProcessCommand(text: string): string[] {
  if (text === "") return [];
  const separator = text.endsWith("\0") ? "\0" : " ";
  const line = text.endsWith(separator) ? text.slice(0, -1) : text;
  const words = line.split(separator);
  return separator === "\0" && words.length === 1 && line.includes(" ") ? line.split(" ") : words;
}

/** Whether the kernel has cut a name, to 15 characters; the command line may have the rest. */
export function isCutName(name: string): boolean {
  return name.length >= 15;
}

/** The name of a process whose name in `comm` may be cut. */
export function wholeName(name: string, command: readonly string[]): string {
  const program = command[0]?.replace(/^.*\//s, "") ?? "";
  return isCutName(name) && program.startsWith(name) ? program : name;
}

/** One process. Each method reads what it needs; a process that has ended is a {@linkcode NoProcessError}. */
export class ProcessFiles {
  readonly #directory: string;

  /** @param root The root of the host: below it are `proc` and `dev`. */
  constructor(readonly pid: number, readonly root = "") {
    this.#directory = `${root}/proc/${pid}`;
    if (!Number.isInteger(pid) || pid < 0) throw new NoProcessError(pid);
  }

  /**
   * The text of a file.
   * @throws {NoProcessError}
   */
  text(name: string): string {
    return this.#guarded(() => Deno.readTextFileSync(`${this.#directory}/${name}`));
  }

  /**
   * Names in a directory.
   * @throws {NoProcessError}
   */
  names(name: string): string[] {
    return this.#guarded(() => Array.from(Deno.readDirSync(`${this.#directory}/${name}`), (entry) => entry.name));
  }

  /** The target of a link; empty text if there is none, as for kernel threads. */
  link(name: string): string {
    try {
      return Deno.readLinkSync(`${this.#directory}/${name}`);
    } catch (error) {
      if (isGone(error)) return "";
      throw error;
    }
  }

  /** @throws {NoProcessError} */
  stat(): ProcessStat {
    return parseStat(this.text("stat"));
  }

  /** @throws {NoProcessError} */
  commandLine(): string[] {
    return splitProcessCommand(this.text("cmdline"));
  }

  /** @throws {NoProcessError} */
  name(): string {
    const { name } = this.stat();
    return isCutName(name) ? wholeName(name, this.commandLine()) : name;
  }

  /**
   * The name of the real user; its number as text if it has none.
   * @throws {NoProcessError}
   */
  user(): string {
    const uid = this.ids("Uid")[0];
    return findUser(uid)?.name ?? String(uid);
  }

  /**
   * Real, effective and saved id.
   * @throws {NoProcessError}
   */
  ids(kind: "Uid" | "Gid"): number[] {
    return (new RegExp(`^${escapeRegex(kind)}:\\s+(\\d+)\\s+(\\d+)\\s+(\\d+)`, "m").exec(this.text("status")) ?? [])
      .slice(1).map(
        Number,
      );
  }

  #guarded<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (isGone(error)) throw new NoProcessError(this.pid);
      throw error;
    }
  }
}

/** There is no such process, or not any more. */
export class NoProcessError extends CommandError {
  constructor(pid: number) {
    super(`process PID not found (pid=${pid})`);
  }
}

/** All process ids, in order. */
export function processIds(): number[] {
  const names = Array.from(Deno.readDirSync("/proc"), ({ name }) => name).filter((name) => /^\d+$/.test(name));
  return names.map(Number).sort((a, b) => a - b);
}

/** When the host was started, in seconds since 1970: whole ones. */
export function bootTime(): number {
  return Number(/^btime (\d+)$/m.exec(Deno.readTextFileSync("/proc/stat"))?.[1]);
}

/** Bytes of all memory. */
export function totalMemory(): number {
  return Number(/^MemTotal:\s+(\d+)/m.exec(Deno.readTextFileSync("/proc/meminfo"))?.[1]) * 1024;
}

/** Bytes of a page, the unit of the sizes of processes. */
function pageSize(): number {
  const [virtual] = Deno.readTextFileSync("/proc/self/statm").split(" ").map(Number);
  const kilobytes = Number(/^VmSize:\s+(\d+)/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1]);
  // The two are read one after the other, so the nearest power of two.
  return 2 ** Math.round(Math.log2(kilobytes * 1024 / virtual));
}

function memoryInfo(process: ProcessFiles): number[] {
  const page = pageSize();
  const [virtual, resident, ...rest] = process.text("statm").trim().split(/\s+/).map((pages) => Number(pages) * page);
  return [resident, virtual, ...rest.slice(0, 5)];
}

function cpuTimes({ user, system, childrenUser, childrenSystem, wait }: ProcessStat): Value[] {
  return [user, system, childrenUser, childrenSystem, wait].map(float);
}

/** The numbers in a list such as `0-3,8`. */
export function numbersIn(list: string): number[] {
  return list.trim().split(",").filter((part) => part !== "").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

function affinity(process: ProcessFiles): number[] {
  const allowed = /^Cpus_allowed_list:\s+(\S+)/m.exec(process.text("status"))?.[1] ?? "";
  const online = numbersIn(Deno.readTextFileSync("/sys/devices/system/cpu/online"));
  return numbersIn(allowed).filter((cpu) => online.includes(cpu));
}

/** The device of a process's terminal. */
function terminal(process: ProcessFiles): string | null {
  const { terminal: wanted } = process.stat();
  if (wanted === 0) return null;
  const devices = (directory: string, test: RegExp) => {
    try {
      const names = Array.from(Deno.readDirSync(`${process.root}${directory}`), ({ name }) => name);
      return names.filter((name) => test.test(name)).map((name) => `${directory}/${name}`);
    } catch {
      return []; // a container may have no such directory
    }
  };
  const all = [...devices("/dev", /^tty/), ...devices("/dev/pts", /./)];
  return all.find((path) => statIfExists(`${process.root}${path}`)?.rdev === wanted) ?? null;
}

function environment(text: string): Map<string, string> {
  return new Map(
    text.split("\0").flatMap((entry): [string, string][] => {
      const at = entry.indexOf("=");
      return at <= 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
    }),
  );
}

function ioCounters(text: string): number[] {
  const field = (name: string) => Number(new RegExp(`^${escapeRegex(name)}: (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  return ["syscr", "syscw", "read_bytes", "write_bytes", "rchar", "wchar"].map(field);
}

function threads(process: ProcessFiles): Value[] {
  return process.names("task").sort().flatMap((id): Value[] => {
    try {
      const { user, system } = parseStat(process.text(`task/${id}/stat`));
      return [[Number(id), float(user), float(system)]];
    } catch (error) {
      if (error instanceof NoProcessError) return []; // this thread has ended
      throw error;
    }
  });
}

const O_ACCMODE = 3, O_RDONLY = 0, O_WRONLY = 1, O_APPEND = 0o2000;

function mode(flags: number): string {
  const access = flags & O_ACCMODE;
  const letter = (flags & O_APPEND) !== 0 ? "a" : "w";
  if (access === O_RDONLY) return "r";
  if (access === O_WRONLY) return letter;
  return letter === "w" ? "r+" : "a+";
}

function openFiles(process: ProcessFiles): Value[] {
  return process.names("fd").flatMap((fd): Value[] => {
    const path = process.link(`fd/${fd}`);
    if (!path.startsWith("/") || !isFile(path)) return [];
    try {
      const info = process.text(`fdinfo/${fd}`);
      const flags = parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? "0", 8);
      return [[path, Number(fd), Number(/^pos:\s+(\d+)/m.exec(info)?.[1]), mode(flags), flags]];
    } catch (error) {
      if (error instanceof NoProcessError) return []; // this file has been closed
      throw error;
    }
  });
}

/** Asks `ionice` for the class and the priority of a process; `undefined` where it is not there. */
export type AskIonice = (pid: number) => Promise<readonly [ioclass: number, priority: number] | undefined>;

/** The attributes, by psutil's names. */
const ATTRIBUTES: Readonly<Record<string, (process: ProcessFiles) => Value>> = {
  cmdline: (process) => process.commandLine(),
  cpu_affinity: affinity,
  cpu_num: (process) => process.stat().processor,
  // psutil counts from its previous call; there is none.
  cpu_percent: () => float(0),
  cpu_times: (process) => cpuTimes(process.stat()),
  create_time: (process) => float(bootTime() + process.stat().started),
  cwd: (process) => process.link("cwd"),
  environ: (process) => environment(process.text("environ")),
  exe: (process) => process.link("exe"),
  gids: (process) => process.ids("Gid"),
  io_counters: (process) => ioCounters(process.text("io")),
  memory_full_info: (process) => [...memoryInfo(process), ...uniqueMemory(process.text("smaps"))],
  memory_info: memoryInfo,
  memory_maps: (process) => memoryMaps(process.text("smaps")),
  memory_percent: (process) => float(memoryInfo(process)[0] / totalMemory() * 100),
  name: (process) => process.name(),
  net_connections: (process) => socketsOf(process),
  nice: (process) => process.stat().nice,
  num_ctx_switches: (process) =>
    [...process.text("status").matchAll(/ctxt_switches:\s+(\d+)/g)].map(([, count]) => Number(count)),
  num_fds: (process) => process.names("fd").length,
  num_threads: (process) => Number(/^Threads:\s+(\d+)/m.exec(process.text("status"))?.[1]),
  open_files: openFiles,
  pid: ({ pid }) => pid,
  ppid: (process) => process.stat().parent,
  status: (process) => process.stat().state,
  terminal,
  threads,
  uids: (process) => process.ids("Uid"),
  username: (process) => process.user(),
};

/**
 * The attributes of a process by their names: all, or the requested ones. One that this user may not read is None.
 * @param root The root of the host: below it are `proc` and `dev`.
 * @throws {NoProcessError}
 * @throws {CommandError} For a name that is none.
 */
export async function processAttributes(
  pid: number,
  wanted: readonly string[] | undefined,
  ionice: AskIonice,
  root = "",
): Promise<Map<string, Value>> {
  const all = [...Object.keys(ATTRIBUTES), "ionice"].sort();
  const unknown = (wanted ?? []).filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new CommandError(`invalid attr names ${unknown.join(", ")}`);
  const process = new ProcessFiles(pid, root);
  process.stat(); // it is there
  const attributes = new Map<string, Value>();
  for (const name of wanted ?? all) {
    try {
      const value = name === "ionice" ? [...await ionice(pid) ?? []] : ATTRIBUTES[name](process);
      attributes.set(name, Array.isArray(value) && name === "ionice" && value.length === 0 ? null : value);
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      attributes.set(name, null);
    }
  }
  return attributes;
}
