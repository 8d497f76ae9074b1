/**
 * The file in which a master or a minion keeps the statements about its own keys.
 * @module
 */

import { KeyError, MsgpackError, WireError } from "#lib/errors.ts";
import { readFileIfExists } from "#lib/os/atomic_file.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { type KeyStatement, packStatements, readStatements } from "./key_statement.ts";

/**
 * The statements in a file, the oldest first; none if there is no file.
 * @throws {KeyError} If they cannot be read.
 */
export function readStatementFile(path: string): KeyStatement[] {
  const bytes = readFileIfExists(path);
  if (bytes === undefined) return [];
  try {
    return readStatements(decode(bytes, "disk"));
  } catch (error) {
    if (!(error instanceof MsgpackError) && !(error instanceof WireError)) throw error;
    throw new KeyError(`${path}: ${error.message}`);
  }
}

/** The contents of the file. */
export function statementFile(statements: readonly KeyStatement[]): Uint8Array {
  return encode(packStatements(statements), "disk");
}
