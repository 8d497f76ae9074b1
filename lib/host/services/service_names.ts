/**
 * Names of services, and queries about several at once.
 * Source: Salt 3008.3, `status` of `salt/modules/systemd_service.py` and its like.
 * @module
 */

import { checkedWord } from "#lib/programs/run_program.ts";
import { compileGlob } from "#lib/text/glob.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * A service's name as an argument or as a part of a path.
 * @throws {InvocationError} If it could be something else.
 */
export function serviceName(name: string): string {
  return checkedWord(name.includes("/") ? "" : name, "service name");
}

/**
 * Whether a service runs; for a glob a map of the matching services.
 * @param all Lists all services.
 */
export async function statusOf(
  name: string,
  { all, isRunning }: {
    readonly all: () => readonly string[] | Promise<readonly string[]>;
    readonly isRunning: (name: string) => Promise<boolean>;
  },
): Promise<Value> {
  if (!/\*|\?|\[.+\]/.test(name)) return await isRunning(name);
  const matches = compileGlob(name);
  const statuses = new Map<Value, Value>();
  for (const one of (await all()).filter(matches)) statuses.set(one, await isRunning(one));
  return statuses;
}
