/**
 * Which names of processes run, for who asks every second: one small file of each process is read.
 * Source: proc(5), `/proc/<pid>/comm` and `/proc/<pid>/cmdline`.
 * @module
 */

import { SmallFiles } from "#lib/os/small_files.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { isCutName, processIds, splitProcessCommand, wholeName } from "./process_attributes.ts";

const files = new SmallFiles();
const decoder = new TextDecoder();

/**
 * The processes that ran when this was made. A cut name has its rest in the command line, which is read only for a
 * process that may be the one that is asked for: of a host at rest nearly half are threads of the kernel with a cut
 * name. A process that ends meanwhile, or that is hidden, is none of them.
 */
export class ProcessNames {
  readonly #whole = new Set<string>();
  readonly #cut = new Map<number, string>();

  constructor() {
    for (const pid of processIds()) {
      const name = read(pid, "comm")?.trimEnd();
      if (name === undefined) continue;
      if (isCutName(name)) this.#cut.set(pid, name);
      else this.#whole.add(name);
    }
  }

  /** Whether a process with this name runs. */
  has(name: string): boolean {
    return this.#whole.has(name) ||
      [...this.#cut].some(([pid, cut]) => name.startsWith(cut) && isNamed(pid, cut, name));
  }
}

function isNamed(pid: number, cut: string, name: string): boolean {
  const line = read(pid, "cmdline");
  return line !== undefined && wholeName(cut, splitProcessCommand(line)) === name;
}

function read(pid: number, file: string): string | undefined {
  try {
    const bytes = files.read(`/proc/${pid}/${file}`);
    return bytes && decoder.decode(bytes);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied || isGone(error)) return undefined;
    throw error;
  }
}
