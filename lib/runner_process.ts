/**
 * The `proc` files of runners: while a runner runs, `<cachedir>/proc/<jid>` says what it is and which process runs it.
 * Source: Salt 3008.3 `salt/utils/master.py` (msgpack of the `new` event and `pid`).
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError } from "./errors.ts";
import { isJid } from "./jid.ts";
import { decode, encode } from "./msgpack.ts";
import { compareStrings, isMap, type ValueMap } from "./value.ts";

/**
 * Notes that this process runs a runner.
 * @param data What the event `new` says: `fun`, `jid`, `user`, `fun_args`.
 * @returns What takes the note away. The note is a convenience: where it cannot be written there is none.
 */
export function noteRunner(cachedir: string, data: ValueMap): () => void {
  const directory = `${cachedir}/proc`;
  const path = `${directory}/${data.get("jid")}`;
  try {
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileAtomic(path, encode(new Map(data).set("pid", Deno.pid), "disk"));
  } catch {
    return () => {};
  }
  return () => {
    try {
      removeIfExists(path);
    } catch {
      // As above.
    }
  };
}

/** The runners that are running, the oldest first. Notes of processes that are gone are taken away. */
export function runningRunners(cachedir: string): ValueMap[] {
  const running: ValueMap[] = [];
  let names: string[];
  try {
    names = [...Deno.readDirSync(`${cachedir}/proc`)].map(({ name }) => name).filter(isJid).sort(compareStrings);
  } catch {
    return running;
  }
  for (const name of names) {
    const path = `${cachedir}/proc/${name}`;
    const note = readNote(path);
    const pid = note?.get("pid");
    if (note !== undefined && typeof pid === "number" && isAlive(pid)) running.push(note);
    else removeIfExists(path);
  }
  return running;
}

function readNote(path: string): ValueMap | undefined {
  try {
    const bytes = readFileIfExists(path);
    const note = bytes === undefined ? undefined : decode(bytes, "disk");
    return isMap(note) ? note : undefined;
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return false;
  }
}
