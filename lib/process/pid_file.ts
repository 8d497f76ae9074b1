/**
 * Pid files: who runs, and that it runs once.
 * @module
 */

import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { PreflightError } from "../errors.ts";

/** A pid file that holds this process's id. */
export interface PidFile {
  /** Where it is. */
  readonly path: string;
  /** Removes it, if it still holds this process's id. Twice is fine. */
  release(): void;
}

/** A user by numbers. */
export interface PidFileOwner {
  /** User id. */
  readonly uid: number;
  /** Group id. */
  readonly gid: number;
}

/**
 * Writes this process's id into `path`, mode 0644.
 * @param kind The name of the service: `salt-master`. Another living process of that name keeps the file.
 * @param owner Who shall be able to empty it, where root is about to become another user. Root is then to claim it only where
 * root alone decides what `path` leads to (lib/os/trusted_path.ts).
 * @throws {PreflightError} If such a process holds it, or it cannot be written.
 */
export function claimPidFile(path: string, kind: string, owner?: PidFileOwner): PidFile {
  const holder = readPid(path);
  if (holder !== undefined && holder !== Deno.pid && isRunning(holder, kind)) {
    throw new PreflightError(`${kind} is running already: process ${holder} holds ${path}`);
  }
  try {
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")) || "/", { recursive: true, mode: 0o755 });
    writeFileAtomic(path, `${Deno.pid}`, { mode: 0o644 });
    if (owner !== undefined) Deno.chownSync(path, owner.uid, owner.gid);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PreflightError(`The pid file ${path} cannot be written: ${reason}`);
  }
  return {
    path,
    release() {
      if (readPid(path) !== Deno.pid) return;
      try {
        removeIfExists(path);
      } catch {
        empty(path); // a process that has become another user may not change the directory
      }
    },
  };
}

function empty(path: string): void {
  try {
    Deno.truncateSync(path);
  } catch {
    // It stays, and the next start finds it stale.
  }
}

/** The process id that the file holds; `undefined` if it holds none, or cannot be read. */
export function readPid(path: string): number | undefined {
  try {
    const text = readTextFileIfExists(path)?.trim() ?? "";
    return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether process `pid` lives and is a `kind`, by its command line: ours (`master.ts`) or Python Salt's (`salt-master`). */
export function isRunning(pid: number, kind: string): boolean {
  const names = [kind, `${kind.replace(/^salt-/, "")}.ts`];
  return commandLine(pid).split(/[\0 ]/).some((word) => names.includes(word.slice(word.lastIndexOf("/") + 1)));
}

/** The words of a living process; empty for a dead one, and for one that has ended and waits for its parent. */
function commandLine(pid: number): string {
  if (Deno.build.os === "linux") {
    try {
      return Deno.readTextFileSync(`/proc/${pid}/cmdline`);
    } catch {
      return "";
    }
  }
  const { stdout } = new Deno.Command("ps", { args: ["-o", "command=", "-p", `${pid}`], stderr: "null" }).outputSync();
  return new TextDecoder().decode(stdout);
}
