/**
 * Which names databases and collections of MongoDB can have.
 * Source: pymongo 3.13, `database.py` (`_check_name`) and `collection.py`; MongoDB, "Naming Restrictions".
 * @module
 */

import { repr } from "#lib/values/value.ts";

const NO_DATABASE = [" ", ".", "$", "/", "\\", "\x00", '"'];

/** Why no database can have the name, in the words of Salt's library; `undefined`: one can. */
export function databaseNameProblem(name: string): string | undefined {
  if (name === "") return "database name cannot be the empty string";
  const wrong = NO_DATABASE.find((character) => name.includes(character));
  return wrong === undefined ? undefined : `database names cannot contain the character ${repr(wrong)}`;
}

/** Why no collection can have the name, likewise. */
export function collectionNameProblem(name: string): string | undefined {
  if (name === "" || name.includes("..")) return "collection names cannot be empty";
  if (name.includes("$") && !name.startsWith("oplog.$main") && !name.startsWith("$cmd")) {
    return `collection names must not contain '$': ${repr(name)}`;
  }
  if (name.startsWith(".") || name.endsWith(".")) {
    return `collection names must not start or end with '.': ${repr(name)}`;
  }
  return name.includes("\x00") ? "collection names must not contain the null character" : undefined;
}
