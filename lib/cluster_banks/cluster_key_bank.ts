/**
 * Changes of keys in a cluster: one transaction for all that were asked for meanwhile, which raises the generation and
 * signs the rows; then this master's files follow, and, if the caller wants it, every other master's.
 * @module
 */

import type { Client } from "pg";
import { KeyError, StoreError, TemporaryError } from "#lib/errors.ts";
import type { KeyBank, KeyStep } from "#lib/keys/key_bank.ts";
import { sleep } from "#lib/os/sleep.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import type { ClusterDatabase } from "#lib/cluster/cluster_database.ts";
import type { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { makePublishKey, publishKeys } from "#lib/cluster/secret_rows.ts";
import type { KeyMirror } from "./key_mirror.ts";
import { removeBankRows } from "./bank_rows.ts";
import { keyGeneration, type KeyRow, readKeyRows, writeKeyRows } from "./key_rows.ts";
import { KeyTable, type KeyTableOptions } from "./key_table.ts";

/** What changes are made with. */
export interface ClusterKeyBankOptions extends KeyTableOptions {
  readonly db: Pick<ClusterDatabase, "schema" | "write" | "read" | "wake">;
  readonly keys: RootKeys;
  /** Whether a key that is accepted no more makes a new publish key, which its minion does not have. */
  readonly rotates: boolean;
  /** The files of this master. */
  readonly mirror: KeyMirror;
  /** Who makes them, for the rows. */
  readonly by: string;
  /** How long every live master is waited for, in milliseconds: longer than a lease. 0: not at all. */
  readonly waitMs: number;
}

/** Time between two looks at what the masters have seen, in milliseconds. */
const LOOK_MS = 40;

/** Changes that somebody waits for. */
interface WaitingSteps {
  readonly steps: readonly KeyStep[];
  resolve(done: boolean[]): void;
  reject(error: unknown): void;
}

/** What a transaction did. */
interface Committed {
  /** For each step. */
  readonly done: readonly boolean[];
  /** What the masters are to see. */
  readonly generation: number;
}

/** See {@linkcode KeyBank}: what changes keys where several masters have them. */
export class ClusterKeyBank implements KeyBank {
  readonly #options: ClusterKeyBankOptions;
  #waiting: WaitingSteps[] = [];
  #isRunning = false;

  constructor(options: ClusterKeyBankOptions) {
    this.#options = options;
  }

  /** As {@linkcode KeyBank} says. */
  refresh(): Promise<void> {
    return whileThere("no key can be changed", () => this.#options.mirror.look());
  }

  /** As {@linkcode KeyBank} says. */
  change(steps: readonly KeyStep[]): Promise<boolean[]> {
    const wrong = steps.find(({ id }) => !isValidId(id));
    if (wrong !== undefined) {
      return Promise.reject(new KeyError(`${JSON.stringify(wrong.id.slice(0, 64))} cannot be the id of a minion`));
    }
    if (steps.length === 0) return Promise.resolve([]);
    const { promise, resolve, reject } = Promise.withResolvers<boolean[]>();
    this.#waiting.push({ steps, resolve, reject });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Never rejects: each change gets its result or its error. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const taken = this.#waiting;
      this.#waiting = [];
      try {
        const done = await this.#changeAll(taken.flatMap(({ steps }) => steps));
        for (const { steps, resolve } of taken) resolve(done.splice(0, steps.length));
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #changeAll(steps: readonly KeyStep[]): Promise<boolean[]> {
    const { db, mirror, waitMs } = this.#options;
    let isFirst = true;
    const { done, generation } = await whileThere("no key can be changed", () =>
      db.write(async (client) => {
        const first = isFirst;
        isFirst = false;
        return await this.#transaction(client, steps, first);
      }));
    await whileThere("the keys are changed, but not yet here", () => mirror.look());
    if (waitMs > 0) {
      await whileThere("the keys are changed, but perhaps not on every master", () => this.#waitForMasters(generation));
    }
    return [...done];
  }

  /** @param isFirst Whether no earlier try may have been committed. */
  async #transaction(client: Client, steps: readonly KeyStep[], isFirst: boolean): Promise<Committed> {
    const { db, mirror, keys, hashType, keepsData, by } = this.#options, { schema } = db;
    const last = await keyGeneration(client, schema, { locks: true });
    mirror.checkGeneration(last);
    const minions = [...new Set(steps.map(({ id }) => id))];
    const { rows } = await readKeyRows(client, { minions }, { schema, keys });
    const table = new KeyTable(rows, { hashType, keepsData });
    // What only this master's files have is the cluster's with the first change of it.
    for (const id of minions.filter((id) => !table.knows(id))) {
      for (const [state, pem] of mirror.localKeys(id)) table.adopt(id, state, pem);
    }
    const done = steps.map((step) => table.apply(step) || (!isFirst && isDone(step, rows)));
    const changed = table.changed({ generation: last + 1, atMs: Date.now(), by });
    // What an earlier command has changed may not be on every master yet: whoever repeats it waits for that.
    if (changed.length === 0) return { done, generation: last };
    await writeKeyRows(client, changed, { schema, keys });
    await client.query(`update ${schema}.key_generation set n = $1`, [last + 1]);
    await removeBankRows(client, schema, table.forgotten());
    await db.wake(client, "k");
    if (this.#options.rotates && table.refuses) await this.#rotate(client);
    return { done, generation: last + 1 };
  }

  async #rotate(client: Client): Promise<void> {
    const { db, keys } = this.#options;
    const [newest] = await publishKeys(client, db.schema);
    await makePublishKey(client, db.schema, keys, newest?.generation ?? 0);
    await db.wake(client, "s");
  }

  /** @throws {StoreError} If a master that is alive does not follow. */
  async #waitForMasters(generation: number): Promise<void> {
    const { db, waitMs } = this.#options;
    for (const untilMs = performance.now() + waitMs;;) {
      const behind = await db.read(async (client) => {
        const { rows } = await client.query<{ readonly name: string }>(
          `select name from ${db.schema}.masters where until > now() and coalesce(keys_seen, 0) < $1 order by name`,
          [generation],
        );
        return rows.map(({ name }) => name);
      });
      if (behind.length === 0) return;
      if (performance.now() > untilMs) {
        const names = behind.join(", ");
        throw new StoreError(
          `The keys are changed, but ${names} did not follow in ${waitMs / 1000} s: see its log`,
          "",
        );
      }
      await sleep(LOOK_MS);
    }
  }
}

/** @throws {TemporaryError} With `what`, if the database is away. */
async function whileThere<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DatabaseAwayError)) throw error;
    throw new TemporaryError(`The database of the cluster is away: ${what} (${error.message})`, { cause: error });
  }
}

/** Whether rows show what an earlier try of the same change made. */
function isDone(step: KeyStep, rows: readonly KeyRow[]): boolean {
  return rows.some(({ minion, state, pem }) => {
    if (minion !== step.id) return false;
    if ("put" in step) return state === step.put && pem === step.pem;
    if ("from" in step) return state === step.to && pem !== null && (step.pem ?? pem) === pem;
    return (step.delete === "all" || state === step.delete) && pem === null;
  });
}
