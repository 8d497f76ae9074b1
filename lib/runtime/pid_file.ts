/**
 * Pid files: record the process id of a service, and prevent a second instance.
 * @module
 */

import { baseName, dirName } from "#lib/os/paths.ts";
import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { messageOf, PreflightError } from "#lib/errors.ts";

/** A pid file with this process's id. */
export interface PidFile {
  readonly path: string;
  /** Removes the file if it still has this process's id. May be called twice. */
  release(): void;
}

/** Numeric ids of a user. */
export interface PidFileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Writes this process's id to `path`, mode 0644.
 * @param kind The name of the service: `salt-master`. If another living process of that name holds the file, this
 * throws.
 * @param owner The user that must be able to empty the file, if root is about to become that user. Root then claims the
 * file only if root alone controls `path` (lib/os/trusted_path.ts).
 * @throws {PreflightError} If another process holds it, or it cannot be written.
 */
export function claimPidFile(path: string, kind: string, owner?: PidFileOwner): PidFile {
  const holder = readPid(path);
  if (holder !== undefined && holder !== Deno.pid && isRunning(holder, kind)) {
    throw new PreflightError(`${kind} is running already: process ${holder} holds ${path}`);
  }
  try {
    Deno.mkdirSync(dirName(path), { recursive: true, mode: 0o755 });
    writeFileAtomic(path, `${Deno.pid}`, { mode: 0o644 });
    if (owner !== undefined) Deno.chownSync(path, owner.uid, owner.gid);
  } catch (error) {
    const reason = messageOf(error);
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
    // The file stays; the next start detects that it is stale.
  }
}

/** The process id in the file; `undefined` if there is none, or the file cannot be read. */
export function readPid(path: string): number | undefined {
  try {
    const text = readTextFileIfExists(path)?.trim() ?? "";
    return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether process `pid` is running and is a `kind`, by its command line: ours (`master.ts`) or Python Salt's
 * (`salt-master`).
 */
export function isRunning(pid: number, kind: string): boolean {
  const names = [kind, `${kind.replace(/^salt-/, "")}.ts`];
  return commandLine(pid).split(/[\0 ]/).some((word) => names.includes(baseName(word)));
}

/** The command line of a running process; empty for a dead process or a zombie. */
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
