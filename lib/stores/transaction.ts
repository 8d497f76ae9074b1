/**
 * Transactions of a connection to PostgreSQL.
 * @module
 */

import type { Client } from "pg";

/** Runs `run` in a transaction, which is taken back if it throws. */
export async function inTransaction<T>(client: Client, run: () => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    const result = await run();
    await client.query("commit");
    return result;
  } catch (error) {
    // A connection that broke has no transaction any more: its own error is the one to tell.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** Waits until no other connection has the lock of that name, and has it until the transaction ends. */
export async function lockUntilEnd(client: Client, name: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtext($1))", [name]);
}
