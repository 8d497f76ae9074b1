/**
 * Updates the backends of the file server and the git repositories of pillar at their intervals, and removes cached
 * data of files that no longer exist. It runs in the master's main thread, and only waits there: git is a process, and
 * the disk is read without holding up the thread. Each remote of a backend has its own timer, so that a remote that
 * does not answer never delays the others.
 *
 * Nothing of this is loaded if the backends need no updates and no events about them are configured. Source: Salt
 * 3008.3 `salt/master.py` FileserverUpdate.
 * @module
 */

import { describeError, messageOf } from "#lib/errors.ts";
import { type BackendName, backendNames } from "#lib/config/backend_names.ts";
import type { BackendTable } from "#lib/plugins/file_backend.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { pillarRemoteLists } from "#lib/files/git/pillar_remotes.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** What the updates need from the master. */
export interface FileUpdatesParts {
  readonly opts: MasterOpts;
  /** The backends of the file server. */
  readonly backends: BackendTable;
  readonly log: Logger;
  /** Stamps an event and fires it. */
  fire(tag: string, data: ValueMap): Promise<void>;
}

/** The option with the interval of a backend, in seconds. */
const INTERVALS = {
  gitfs: "gitfs_update_interval",
  minionfs: "minionfs_update_interval",
  roots: "roots_update_interval",
} as const satisfies Record<BackendName, keyof MasterOpts>;

/** Repeats updates until closed. */
export class FileUpdates {
  readonly #parts: FileUpdatesParts;
  readonly #timers: Timer[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  #loaded: ReturnType<typeof loadServer> | undefined;

  constructor(parts: FileUpdatesParts) {
    this.#parts = parts;
    const { opts } = parts;
    this.#every(opts.fileserver_interval, "what is kept of files", () => this.#reap());
    if (needsUpdates(opts)) this.#begin("start", () => this.#start());
    if (pillarRemoteLists(opts.ext_pillar).length > 0) this.#begin("start of pillar", () => this.#startPillar());
  }

  /** Starts a timer for each target, and updates all of them now. */
  async #start(): Promise<void> {
    const { server, updateBackends, host } = await this.#load();
    const { opts } = this.#parts;
    for (const { name, backend } of await server.backends()) {
      for (const { id, intervalS } of backend.intervals()) {
        const choice = {
          backend: [name],
          targets: id === undefined ? [] : [id],
          changes: opts.fileserver_events,
          signal: this.#ending.signal,
        };
        const update = () => updateBackends(server, choice, host);
        const what = id === undefined ? name : `${name} ${id}`;
        this.#every(intervalS ?? opts[INTERVALS[name]], what, update);
        this.#begin(what, update);
      }
    }
  }

  /** Starts a timer for each repository of pillar, and fetches all of them now. */
  async #startPillar(): Promise<void> {
    const { opts, log } = this.#parts;
    const { configuredPillarRepositories, fetchPillarRepository } = await import("#lib/files/git/pillar_updates.ts");
    for (const remote of configuredPillarRepositories(optsValues(opts), (message) => log.warning(message))) {
      const { id } = remote.options;
      const fetch = async () => {
        try {
          await fetchPillarRepository(remote, this.#ending.signal);
        } catch (error) {
          if (!this.#ending.signal.aborted) {
            log.error(`The git_pillar remote '${id}' cannot be updated: ${messageOf(error)}`);
          }
        }
      };
      this.#every(opts.git_pillar_update_interval, id, fetch);
      this.#begin(id, fetch);
    }
  }

  async #reap(): Promise<void> {
    const { server, reapBackends, host } = await this.#load();
    await reapBackends(server, host);
  }

  #load(): ReturnType<typeof loadServer> {
    return this.#loaded ??= loadServer(this.#parts);
  }

  #every(seconds: number, what: string, work: () => Promise<void>): void {
    if (this.#ending.signal.aborted) return;
    this.#timers.push(setInterval(() => this.#begin(what, work), seconds * 1000));
  }

  /** Begins work, unless the last of its name is still under way. */
  #begin(what: string, work: () => Promise<void>): void {
    if (this.#ending.signal.aborted || this.#running.has(what)) return;
    const begun = work().catch((error) => {
      this.#parts.log.error(`The file server cannot be updated (${what}): ${describeError(error)}`);
    }).finally(() => this.#running.delete(what));
    this.#running.set(what, begun);
  }

  /** Ends the timers and running updates. May be called twice. */
  async close(): Promise<void> {
    this.#ending.abort();
    while (this.#running.size > 0) await Promise.all(this.#running.values());
    for (const timer of this.#timers) clearInterval(timer);
  }
}

/** The file server of this thread, and its updates. */
async function loadServer({ opts, backends, log, fire }: FileUpdatesParts) {
  const [{ FileServer }, { reapBackends, updateBackends }] = await Promise.all([
    import("#lib/files/server/file_server.ts"),
    import("#lib/files/server/upkeep.ts"),
  ]);
  const write = (level: "error" | "warning" | "info" | "debug", message: string) => log[level](message);
  return {
    reapBackends,
    updateBackends,
    host: { log: write, fire },
    server: new FileServer(opts, { backends, log: write }),
  };
}

/** Whether there is something to fetch, or events about changes are configured. */
function needsUpdates({ fileserver_events, fileserver_backend }: MasterOpts): boolean {
  return fileserver_events || backendNames(fileserver_backend).includes("gitfs");
}
