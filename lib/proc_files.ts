/**
 * The files `<cachedir>/proc/<jid>` that say which jobs a minion is running, as Salt's tools read them.
 * Source: salt-protocol.md section 6, "Minion".
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError } from "./errors.ts";
import { decode, encode } from "./msgpack.ts";
import { isMap, type ValueMap } from "./value.ts";

/** The files of one minion. */
export class ProcFiles {
  readonly #directory: string;

  /** The jobs that an earlier minion was at when it died. */
  readonly left: readonly ValueMap[];

  /** Takes up what a minion that died has left, and removes it: none of its jobs runs any more. */
  constructor(cachedir: string) {
    this.#directory = `${cachedir}/proc`;
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.left = [...Deno.readDirSync(this.#directory)].flatMap(({ name }) => {
      const path = `${this.#directory}/${name}`;
      const load = readLoad(path);
      removeIfExists(path);
      // Only what was published has a serial: salt-call notes its own jobs here as well.
      return load?.has("serial") ? [load] : [];
    });
  }

  /** Says that job `jid` is being run. */
  add(jid: string, load: ValueMap): void {
    const noted = new Map([...load, ["pid", Deno.pid]]) as ValueMap;
    writeFileAtomic(`${this.#directory}/${jid}`, encode(noted, "disk"), { mode: 0o600 });
  }

  /** Says that it no longer is. */
  remove(jid: string): void {
    removeIfExists(`${this.#directory}/${jid}`);
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
