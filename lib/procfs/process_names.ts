/**
 * The names of the processes that run, for who asks every second: one small file of each process is read.
 * Source: proc(5), `/proc/<pid>/comm` and `/proc/<pid>/cmdline`.
 * @module
 */

import { SmallFiles } from "#lib/os/small_files.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { processIds, splitProcessCommand, wholeName } from "./process_attributes.ts";

/** The kernel cuts names at so many characters; the command line may have the rest. */
const CUT_AT = 15;

const files = new SmallFiles();
const decoder = new TextDecoder();

/** The names of the processes that run now. One that ends meanwhile, or that is hidden, is none of them. */
export function processNames(): Set<string> {
  return new Set(processIds().flatMap((pid) => nameOf(pid) ?? []));
}

function nameOf(pid: number): string | undefined {
  const name = read(pid, "comm")?.trimEnd();
  if (name === undefined || name.length < CUT_AT) return name;
  const line = read(pid, "cmdline");
  return line === undefined ? undefined : wholeName(name, splitProcessCommand(line));
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
