/**
 * One statement of SQLite, of a text that somebody else wrote. Node's module ends the process for a text without a
 * statement, and silently leaves out all behind the first one.
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { CommandError } from "#lib/errors.ts";

/** White space, semicolons and comments at the beginning of a text. */
const IDLE = /^(?:[\s;]+|--[^\n]*(?:\n|$)|\/\*[^]*?(?:\*\/|$))+/;

/**
 * Prepares the statement of a text; `undefined` if it has none.
 * @throws {CommandError} If it has several.
 * @throws {Error} With what SQLite says of a wrong statement.
 */
export function prepareStatement(database: DatabaseSync, sql: string): StatementSync | undefined {
  const text = sql.replaceAll("\0", "").replace(IDLE, "");
  if (text === "") return undefined;
  const statement = database.prepare(text);
  if (text.slice(statement.sourceSQL.length).replace(IDLE, "") === "") return statement;
  throw new CommandError("You can only execute one statement at a time.");
}
