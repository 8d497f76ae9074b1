/**
 * Acknowledgements of a job, in its directory: a file for each minion in `.acks`, which Salt's tools ignore.
 * @module
 */

import type { JobDirectories, JobDirectory } from "./directory.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { acknowledgedState } from "#lib/protocol/outcome.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { storing } from "#lib/os/store_files.ts";
import type { Ack, AckStore } from "./store.ts";
import { encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber } from "#lib/values/value.ts";

const FOLDER = ".acks";

/** The acknowledgements of one master, in files. */
export class JobAcks implements AckStore {
  readonly #directories: JobDirectories;

  /** Reads and writes in the directories of jobs. */
  constructor(directories: JobDirectories) {
    this.#directories = directories;
  }

  /** As {@linkcode AckStore} says. */
  save(jid: string, id: string, ack: Ack): void {
    const directory = isValidId(id) ? this.#directories.find(jid) : undefined;
    if (directory === undefined) return;
    const path = `${directory.path}/${FOLDER}`;
    storing("keep an acknowledgement", path, () => {
      try {
        directory.makeFolder(FOLDER);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return; // no such job
        throw error;
      }
      writeFileAtomic(`${path}/${id}`, encode(map({ state: ack.state, since: ack.sinceMs }), "disk"));
    });
  }

  /**
   * As {@linkcode AckStore} says.
   * @throws {Deno.errors.PermissionDenied} If the user may not read the directory.
   */
  all(jid: string): Map<string, Ack> {
    const acks = new Map<string, Ack>();
    const directory = this.#directories.find(jid);
    if (directory === undefined) return acks;
    for (const id of directory.namesIn(FOLDER).filter(isValidId)) {
      const ack = read(directory, id);
      if (ack !== undefined) acks.set(id, ack);
    }
    return acks;
  }
}

function read(directory: JobDirectory, id: string): Ack | undefined {
  const stored = directory.read(`${FOLDER}/${id}`);
  const state = isMap(stored) ? acknowledgedState(stored.get("state")) : undefined;
  if (!isMap(stored) || state === undefined) return undefined;
  return { state, sinceMs: toNumber(stored.get("since")) ?? 0 };
}
