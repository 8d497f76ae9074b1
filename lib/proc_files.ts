/**
 * The files `<cachedir>/proc/<jid>` that say which jobs a minion is running, as Salt's tools read them.
 * Source: salt-protocol.md section 6, "Minion".
 * @module
 */

import { removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { encode } from "./msgpack.ts";
import type { ValueMap } from "./value.ts";

/** The files of one minion. */
export class ProcFiles {
  readonly #directory: string;

  /** Removes what a minion that died has left: none of its jobs runs any more. */
  constructor(cachedir: string) {
    this.#directory = `${cachedir}/proc`;
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    for (const { name } of Deno.readDirSync(this.#directory)) removeIfExists(`${this.#directory}/${name}`);
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
