/**
 * `kill -9` of the database of jobs, and of the process that writes it, while returns are stored. The writer is a
 * process that does what the thread of a master with the database does.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { sleep } from "#lib/os/sleep.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { openMasterRows } from "#lib/stores/open_rows.ts";
import { rowJobStore } from "#lib/stores/row_store.ts";
import type { Random } from "#tests/fuzz/mutate.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Service } from "#tests/support/processes.ts";
import type { Fault, FaultRun, Figure } from "#tests/chaos/harness/fault.ts";

const LONG = { kills: 20 };
const SHORT = { kills: 4 };
const JID = "20260101000000000001";
/** Returns that are acknowledged between two kills. */
const BETWEEN = 200;
/** A database is down for up to this time, in milliseconds; the master waits for the shorter part of it. */
const DOWN_MS = 1_500, WAIT_S = 0.5;
const READY_MS = 120_000;

/** A writer and its successors, which note what was acknowledged in one file. */
class Writers implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "kill_store_" });
  #writer: Service | undefined;
  #started = 0;

  constructor(options: Readonly<Record<string, string>>) {
    const all = { root_dir: this.root, job_store_wait: WAIT_S, ...options };
    const text = Object.entries(all).map(([key, value]) => `${key}: ${value}\n`).join("");
    Deno.writeTextFileSync(`${this.root}/master`, text);
  }

  get #notes(): string {
    return `${this.root}/notes`;
  }

  start(): void {
    const path = new URL("../harness/return_writer.ts", import.meta.url).pathname;
    const words = [Deno.execPath(), ...DENO_RUN, decodeURIComponent(path)];
    words.push(this.root, this.#notes, `w${++this.#started}`, JID);
    this.#writer = Service.start("the writer", words, `${this.root}/writer.out`);
  }

  /** Waits until so many more returns are acknowledged. */
  async acknowledge(count: number): Promise<void> {
    const before = this.#lines().length;
    await eventually(() => {
      if (this.#writer?.exitCode !== undefined) throw new Error(`the writer has ended: ${this.#writer.written}`);
      return this.#lines().length >= before + count;
    }, { what: `${count} acknowledged returns`, withinMs: READY_MS });
  }

  async kill(): Promise<void> {
    await this.#writer?.kill();
  }

  #lines(): string[] {
    return (readTextFileIfExists(this.#notes) ?? "").trimEnd().split("\n");
  }

  /** Ends the writer, and compares what was acknowledged with what is stored in the end. */
  async judge(what: string, { tellsOnce }: { readonly tellsOnce: boolean }): Promise<Figure[]> {
    await this.#writer?.stop(READY_MS);
    const { opts } = loadMasterConfig({ configDir: this.root });
    const rows = await openMasterRows(opts, { log: SILENT_LOGGER, onChange: () => {} });
    const store = rowJobStore(rows, { uniqueJid: false, maxOutputBytes: 0, log: () => {} });
    try {
      const emptied = async () => (await rows.status()).outbox === 0;
      await eventually(emptied, { what: "an empty outbox", withinMs: READY_MS, everyMs: 200 });
      const ids = (await rows.returns(JID, null)).map(({ id }) => id);
      const returns = await store.getReturns(JID);
      const told = new Map<string, number>();
      const notes = this.#lines().map((line) => line.split(" "));
      for (const [id, answer] of notes) told.set(id, (told.get(id) ?? 0) + Number(answer === "stored"));
      const lost = [...told.keys()].filter((id) => returns.get(id)?.return !== id);
      return [
        { name: `${what}: returns acknowledged`, value: told.size, atLeast: BETWEEN },
        { name: `${what}: of these lost`, value: lost.length, atMost: 0 },
        { name: `${what}: returns stored twice`, value: ids.length - new Set(ids).size, atMost: 0 },
        {
          name: `${what}: returns that were told twice to be new`,
          value: [...told.values()].filter((times) => times > 1).length,
          ...tellsOnce && { atMost: 0 },
        },
      ];
    } finally {
      await store.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    Deno.removeSync(this.root, { recursive: true });
  }
}

async function killPostgres(kills: number, random: Random): Promise<Figure[]> {
  await using server = await startPostgres();
  const postgresql = `{host: 127.0.0.1, port: ${server.port}}`;
  await using writers = new Writers({ master_job_cache: "postgresql", postgresql });
  writers.start();
  for (let kill = 1; kill <= kills; kill++) {
    await writers.acknowledge(BETWEEN);
    await server.crash();
    await sleep(random.int(DOWN_MS));
    // What the outbox has then is its successor's to bring.
    if (kill % 4 === 0) {
      await writers.kill();
      writers.start();
    }
    await server.restart();
  }
  await writers.acknowledge(BETWEEN);
  return await writers.judge("PostgreSQL", { tellsOnce: false });
}

async function killSqlite(kills: number, random: Random): Promise<Figure[]> {
  await using writers = new Writers({ master_job_cache: "sqlite" });
  for (let kill = 1; kill <= kills; kill++) {
    writers.start();
    await writers.acknowledge(BETWEEN);
    await sleep(random.int(50));
    await writers.kill();
  }
  writers.start();
  await writers.acknowledge(BETWEEN);
  return await writers.judge("SQLite", { tellsOnce: true });
}

/** See {@linkcode Fault}. */
export const killStore: Fault = {
  name: "kill-store",
  what:
    "kill -9 of the database of jobs while returns are stored: of PostgreSQL, and of the process that writes SQLite",
  promise: "every return that was acknowledged is stored in the end, once, with its value",
  missing: () => serverProgram("postgres") === undefined ? "there is no postgres on this host" : undefined,
  async run({ long, random, say }: FaultRun): Promise<Figure[]> {
    const { kills } = long ? LONG : SHORT;
    const sqlite = await killSqlite(kills, random);
    say("SQLite is done");
    return [{ name: "kills of each", value: kills }, ...sqlite, ...await killPostgres(kills, random)];
  },
};
