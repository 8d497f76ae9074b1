/**
 * The errors of a MongoDB server, with the numbers, names and words of mongod 6.0.
 * Source: MongoDB, `src/mongo/base/error_codes.yml` and the manual's "Error Codes".
 * @module
 */

import type { MongoDocument } from "./mongo_wire.ts";

const NAMES: Readonly<Record<number, string>> = {
  2: "BadValue",
  11: "UserNotFound",
  13: "Unauthorized",
  18: "AuthenticationFailed",
  20: "IllegalOperation",
  26: "NamespaceNotFound",
  31: "RoleNotFound",
  43: "CursorNotFound",
  48: "NamespaceExists",
  59: "CommandNotFound",
  73: "InvalidNamespace",
  51003: "Location51003",
};

/** An error that a command's answer tells. */
export class MongoCommandError extends Error {
  override name = "MongoCommandError";
  constructor(readonly code: number, message: string) {
    super(message);
  }

  /** The answer. */
  get answer(): MongoDocument {
    return { ok: 0, errmsg: this.message, code: this.code, codeName: NAMES[this.code] };
  }
}
