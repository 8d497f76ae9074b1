/**
 * What a command reads of the master's files, if its user may.
 * @module
 */

import { StoreError } from "#lib/errors.ts";

/**
 * The result of `read`; `undefined` for a user who may not read the master's files, such as users in `publisher_acl`.
 */
export async function ifReadable<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    // The database of jobs may be away: the events have what is shown.
    if (error instanceof Deno.errors.PermissionDenied || error instanceof StoreError) return undefined;
    throw error;
  }
}
