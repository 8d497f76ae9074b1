/**
 * A command in another root directory: what `cmd.run_chroot` mounts, starts and ends.
 * Source: Salt 3008.3, `salt/modules/cmdmod.py`; chroot(1).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { absolutePath } from "#lib/os/paths.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { sendSignal } from "#lib/libc/libc.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { processIds } from "#lib/procfs/process_attributes.ts";
import { map, str, type Value } from "#lib/values/value.ts";

/** A command and its root directory. */
export interface ChrootCommand {
  readonly root: string;
  readonly cmd: Value;
  readonly binds: Value;
  readonly runas: string | null;
  readonly group: string | null;
}

/** What the kernel mounts below the directory. */
const KERNEL = [["dev", "devtmpfs", "devtmpfs"], ["proc", "proc", "proc"], ["sys", "sysfs", "sysfs"]] as const;
/** Number of signals to the remaining processes; from the fourth on they are killed. */
const TRIES = 6, POLITE_TRIES = 3;
const SIGTERM = 15, SIGKILL = 9;
/** Time between two of them, in milliseconds. */
const PAUSE_MS = 100;

/** Mounts, runs the command line, ends remaining processes, and unmounts. */
export async function runInChroot<T>(
  { root, cmd, binds, runas, group }: ChrootCommand,
  context: JobContext,
  run: (words: Value[]) => Promise<T>,
): Promise<T> {
  const directory = realPath(absolutePath(root));
  if (directory === "/" || !isDirectory(directory)) throw new CommandError(`${root} is no other root directory`);
  const bound = (Array.isArray(binds) ? binds : binds === null ? [] : [binds]).map((bind) => str(bind));
  const mounted: string[] = [];
  const mount = async (place: string, device: string, kwargs: Record<string, Value>) => {
    const answer = await context.call("mount.mount", [place, device], map(kwargs));
    if (answer === true) mounted.unshift(place);
    else context.log("warning", `${device} is not mounted at ${place}: ${str(answer)}`);
  };
  try {
    for (const [name, device, fstype] of KERNEL) await mount(`${directory}/${name}`, device, { fstype });
    for (const bind of bound) await mount(`${directory}/${bind.replace(/^\/+/, "")}`, bind, { opts: "defaults,bind" });
    const shell = isFile(`${directory}/bin/bash`) ? "/bin/bash" : "/bin/sh";
    const line = Array.isArray(cmd) ? cmd.map((word) => str(word)).join(" ") : str(cmd);
    const user = runas === null ? [] : ["--userspec", `${checkedWord(runas, "user")}:${group ?? ""}`];
    return await run(["chroot", ...user, directory, shell, "-c", line]);
  } finally {
    await endProcessesIn(directory, context);
    for (const place of mounted) await context.call("mount.umount", [place]);
  }
}

function processesIn(directory: string): number[] {
  return processIds().filter((pid) => {
    try {
      const root = Deno.readLinkSync(`/proc/${pid}/root`);
      return root === directory || root.startsWith(`${directory}/`);
    } catch {
      return false; // it has ended
    }
  });
}

async function endProcessesIn(directory: string, context: JobContext): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    const left = processesIn(directory);
    if (left.length === 0) return;
    for (const pid of left) sendSignal(pid, i < POLITE_TRIES ? SIGTERM : SIGKILL);
    await sleep(PAUSE_MS, new AbortController().signal);
  }
  if (processesIn(directory).length === 0) return;
  context.log("error", "Processes running in chroot could not be killed, filesystem will remain mounted");
}
