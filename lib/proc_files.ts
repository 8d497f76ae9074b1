/**
 * The files `<cachedir>/proc/<jid>` that say which jobs a minion has, as Salt's tools read them; and what the next minion
 * finds of one that died.
 * Source: salt-protocol.md section 6, "Minion".
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError } from "./errors.ts";
import { decode, encode } from "./msgpack.ts";
import { isMap, type ValueMap } from "./value.ts";

/** Whether a job is being run, or waits for its turn. */
export type ProcState = "queued" | "running";

/** A job that an earlier minion had when it died. */
export interface LeftJob {
  /** Its load, as it was published. */
  readonly load: ValueMap;
  /** How far it was. */
  readonly state: ProcState;
}

/** The field that tells a minion's own notes from those of `salt-call`. */
const STATE = "state";

/** The files of one minion. */
export class ProcFiles {
  readonly #directory: string;

  /** The jobs that an earlier minion had when it died; their files stay until {@linkcode remove}. */
  readonly left: readonly LeftJob[];

  /** Takes up what a minion that died has left. Notes of a `salt-call` whose process is gone are removed. */
  constructor(cachedir: string) {
    this.#directory = `${cachedir}/proc`;
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.left = [...Deno.readDirSync(this.#directory)].flatMap(({ name }) => {
      const path = `${this.#directory}/${name}`;
      const load = readLoad(path);
      const state = load?.get(STATE);
      if (load !== undefined && (state === "queued" || state === "running")) {
        load.delete(STATE);
        load.delete("pid");
        return [{ load, state }];
      }
      if (!isAlive(load?.get("pid"))) removeIfExists(path);
      return [];
    });
  }

  /** Says that this minion has job `jid`. */
  add(jid: string, load: ValueMap, state: ProcState = "running"): void {
    const noted: ValueMap = new Map([...load, ["pid", Deno.pid], [STATE, state]]);
    writeFileAtomic(`${this.#directory}/${jid}`, encode(noted, "disk"), { mode: 0o600 });
  }

  /** Says that it no longer has. */
  remove(jid: string): void {
    removeIfExists(`${this.#directory}/${jid}`);
  }
}

function isAlive(pid: unknown): boolean {
  if (typeof pid !== "number" || pid === Deno.pid) return false;
  try {
    return Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return false;
  }
}

function readLoad(path: string): ValueMap | undefined {
  try {
    const bytes = readFileIfExists(path);
    const load = bytes === undefined ? undefined : decode(bytes, "disk");
    return isMap(load) ? load : undefined;
  } catch (error) {
    if (error instanceof MsgpackError) return undefined; // cut off while it was written
    throw error;
  }
}
