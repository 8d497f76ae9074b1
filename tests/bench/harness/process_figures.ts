/**
 * Reads memory and processor time of processes from Linux, for one process or a whole tree. Source: proc(5).
 * @module
 */

/** Memory of processes, in KiB. */
export interface Memory {
  /** Resident set size; a shared page counts in every process. */
  readonly rssKb: number;
  /** Proportional set size: a shared page counts in proportion. */
  readonly pssKb: number;
  /**
   * Private memory that is in no file: heaps and stacks. Pages of the executable may be dropped and loaded again by the
   * system; these pages not.
   */
  readonly anonymousKb: number;
  /** Number of processes. */
  readonly processes: number;
}

/** `pid` and every process that descends from it. */
export function processTree(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statFields(`/proc/${name}/stat`)?.[PPID]);
    children.set(parent, [...children.get(parent) ?? [], Number(name)]);
  }
  const tree = [pid];
  for (const member of tree) tree.push(...children.get(member) ?? []);
  return tree;
}

/** The memory of the tree below `pid`. */
export function treeMemory(pid: number): Memory {
  const pids = processTree(pid);
  const rollups = pids.map((member) => readIfThere(`/proc/${member}/smaps_rollup`) ?? "");
  const sum = (name: string) =>
    rollups.reduce((total, text) => total + Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0), 0);
  return { rssKb: sum("Rss"), pssKb: sum("Pss"), anonymousKb: sum("Anonymous"), processes: pids.length };
}

/** Processor time that the tree below `pid` has used so far, in milliseconds; the system counts in steps of 10. */
export function treeCpuMs(pid: number): number {
  const ticks = processTree(pid).map((member) => cpuTicks(statFields(`/proc/${member}/stat`)));
  return ticks.reduce((total, each) => total + each, 0) * TICK_MS;
}

/**
 * How often the existing threads of the process `pid` have gone to sleep so far: each time a thread had finished its
 * work.
 */
export function wakeUps(pid: number): number {
  let sum = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    const status = readIfThere(`/proc/${pid}/task/${name}/status`) ?? "";
    sum += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return sum;
}

/** Processor time that this program's main thread has used so far, in milliseconds; finer than steps of 10. */
export function threadCpuMs(): number {
  // The first field of schedstat is the time on the processor in nanoseconds.
  const text = readIfThere(`/proc/self/task/${Deno.pid}/schedstat`);
  if (text !== undefined) return Number(text.split(" ", 1)[0]) / 1e6;
  return cpuTicks(statFields(`/proc/self/task/${Deno.pid}/stat`)) * TICK_MS;
}

/** USER_HZ, which is 100 on every Linux that Deno runs on. */
const TICK_MS = 10;

/** Indexes of fields in `/proc/<pid>/stat`, counted after the command's name, which may contain spaces. */
const PPID = 1;
const UTIME = 11;
const STIME = 12;
const CUTIME = 13;
const CSTIME = 14;

function statFields(path: string): string[] | undefined {
  const text = readIfThere(path);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function cpuTicks(fields: string[] | undefined): number {
  return fields === undefined ? 0 : Number(fields[UTIME]) + Number(fields[STIME]);
}

/** The text of a file of a process or a thread, which may end meanwhile. */
export function readIfThere(path: string): string | undefined {
  return unlessGone(() => Deno.readTextFileSync(path));
}

/** What is read of a process or a thread; `undefined` if it has ended. */
export function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || /os error 3\b/.test(String(error))) return undefined;
    throw error;
  }
}

/** Processor time of the programs that this program has started and that have ended, in milliseconds. */
export function endedCpuMs(): number {
  const fields = statFields("/proc/self/stat");
  return fields === undefined ? 0 : (Number(fields[CUTIME]) + Number(fields[CSTIME])) * TICK_MS;
}
