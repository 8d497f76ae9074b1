/**
 * The minion takes another key pair of its own (`saltutil.rotate_key`): each master that it is connected to agrees,
 * then it signs in with the new one everywhere. A master that it is not connected to learns of it at the next sign-in.
 * Source: docs/protocol.md "A key that follows another".
 * @module
 */

import { fingerprint } from "#lib/crypto/pem.ts";
import { CommandError } from "#lib/errors.ts";
import { packStatements } from "#lib/keys/key_statement.ts";
import type { MinionPair } from "#lib/keys/minion_pair.ts";
import { NEXT_MINION, ROTATE_KEY_COMMAND } from "#lib/protocol/next_key.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";

/**
 * Replaces the pair.
 * @returns The fingerprints of both keys.
 * @throws {CommandError} If a master does not agree; the pair stays.
 */
export async function changeOwnKey(
  pair: MinionPair,
  connections: readonly MasterConnection[],
  hashType: string,
): Promise<ValueMap> {
  const statement = await pair.rotate(async (statement) => {
    const load = map({ cmd: ROTATE_KEY_COMMAND, [NEXT_MINION]: packStatements([statement]) });
    for (const connection of connections) {
      const answer = await connection.request(load);
      if (answer !== true) {
        throw new CommandError(
          `The master ${connection.name} does not take another key, and answered ${truncateValue(answer)}`,
        );
      }
    }
  });
  await Promise.all(connections.map((connection) => connection.signInAnew()));
  return map({ old: fingerprint(statement.old, hashType), new: fingerprint(statement.next, hashType) });
}
