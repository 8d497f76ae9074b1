/**
 * What must be true at the end: the promises of docs/reliability.md, written down as they are made, and compared with
 * what is on the master's disk.
 * @module
 */

import type { SyncJobStore } from "#lib/jobs/store.ts";
import { world } from "./world.ts";

/** The record of one run. */
export class Ledger {
  readonly #confirmed = new Map<string, readonly string[]>();
  readonly #runs = new Map<string, number>();
  readonly #acknowledged = new Set<string>();
  readonly #broken: string[] = [];

  /** Number of jobs that the master has confirmed, and of runs. */
  get counts(): { readonly jobs: number; readonly runs: number } {
    return { jobs: this.#confirmed.size, runs: [...this.#runs.values()].reduce((sum, count) => sum + count, 0) };
  }

  /** The master has given an operator the id of a job, and has named its minions. */
  confirm(jid: string, ids: readonly string[]): void {
    this.#confirmed.set(jid, ids);
    world().note(`confirmed ${jid} for ${ids.join(",")}`);
  }

  /** A minion begins to run a job. */
  begin(jid: string, id: string, store: SyncJobStore): void {
    const key = `${jid} on ${id}`;
    const count = (this.#runs.get(key) ?? 0) + 1;
    this.#runs.set(key, count);
    world().note(`runs ${key}`);
    if (count > 1) this.#breaks(`${key} ran ${count} times`);
    if (store.has(jid, id)) this.#breaks(`${key} began after its return was stored`);
  }

  /** The master has acknowledged a return. */
  acknowledge(jid: string, id: string): void {
    this.#acknowledged.add(`${jid} ${id}`);
    world().note(`acknowledged ${jid} of ${id}`);
  }

  /** Something that was promised is not true. */
  #breaks(text: string): void {
    world().note(`BROKEN ${text}`);
    this.#broken.push(text);
  }

  /** Whether every confirmed job has a return of each of its minions. */
  isComplete(store: SyncJobStore): boolean {
    return this.#missing(store).length === 0;
  }

  #missing(store: SyncJobStore): string[] {
    return [...this.#confirmed].flatMap(([jid, ids]) =>
      ids.filter((id) => !store.has(jid, id)).map((id) => `${jid} on ${id}`)
    );
  }

  /** The promises that were broken, each in a line. */
  violations(store: SyncJobStore): string[] {
    const lost = [...this.#acknowledged].filter((key) => {
      const [jid, id] = key.split(" ");
      return !store.has(jid, id);
    });
    return [
      ...this.#broken,
      ...lost.map((key) => `the return ${key} was acknowledged, and is not stored`),
      ...this.#missing(store).map((key) => `${key}: confirmed, and there is no return`),
    ];
  }
}
