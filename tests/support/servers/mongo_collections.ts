/**
 * Databases, collections and documents of a MongoDB server in memory: equality and a few operators, `$set`, cursors.
 * Source: MongoDB's manual, "Query and Write Operation Commands" and "Administration Commands".
 * @module
 */

import { BSON } from "mongodb";
import { MongoCommandError } from "./mongo_errors.ts";
import type { MongoDocument } from "./mongo_wire.ts";

/** As many documents as a cursor's first answer has. */
const FIRST_BATCH = 101;
/** As many bytes as the documents of one answer have. */
const BATCH_BYTES = 16_000_000;
/** The databases that every server has. */
const OWN = ["admin", "config", "local"];

/** All documents of a server. */
export class MongoCollections {
  readonly #databases = new Map<string, Map<string, MongoDocument[]>>();
  readonly #cursors = new Map<bigint, MongoDocument[]>();
  #lastCursor = 0n;

  /** `listDatabases`. */
  listDatabases(): MongoDocument {
    const names = [...new Set([...OWN, ...this.#databases.keys()])].sort();
    return { databases: names.map((name) => ({ name })), ok: 1 };
  }

  /** `dropDatabase`. */
  dropDatabase(db: string): MongoDocument {
    if (db === "admin" || db === "config") {
      throw new MongoCommandError(20, `Dropping the '${db}' database is prohibited.`);
    }
    return this.#databases.delete(db) ? { dropped: db, ok: 1 } : { ok: 1 };
  }

  /** `create`. */
  create(db: string, command: MongoDocument): MongoDocument {
    const name = String(command.create);
    if (this.#in(db).has(name)) throw new MongoCommandError(48, `Collection ${db}.${name} already exists.`);
    this.#collection(db, name);
    return { ok: 1 };
  }

  /** `drop`. */
  drop(db: string, command: MongoDocument): MongoDocument {
    const name = String(command.drop);
    const collections = this.#in(db);
    if (!collections.delete(name)) throw new MongoCommandError(26, "ns not found");
    if (collections.size === 0) this.#databases.delete(db);
    return { nIndexesWas: 1, ns: `${db}.${name}`, ok: 1 };
  }

  /** `listCollections`. */
  listCollections(db: string, command: MongoDocument): MongoDocument {
    const filter = typeof command.filter === "object" && command.filter !== null ? command.filter : {};
    const wanted: unknown = Reflect.get(filter, "name");
    const names = [...this.#in(db).keys()].filter((name) => wanted === undefined || wanted === name);
    const firstBatch = names.map((name) => ({ name, type: "collection" }));
    return { cursor: { id: BSON.Long.ZERO, ns: `${db}.$cmd.listCollections`, firstBatch }, ok: 1 };
  }

  /** `insert`. */
  insert(db: string, command: MongoDocument): MongoDocument {
    const name = String(command.insert);
    const collection = this.#collection(db, name);
    const writeErrors: MongoDocument[] = [];
    let n = 0;
    for (const [index, document] of documentsOf(command.documents).entries()) {
      const { _id = new BSON.ObjectId(), ...rest } = document;
      if (collection.some((one) => sameValue(one._id, _id))) {
        writeErrors.push({
          index,
          code: 11000,
          keyPattern: { _id: 1 },
          keyValue: { _id },
          errmsg: `E11000 duplicate key error collection: ${db}.${name} index: _id_ dup key: { _id: ${shown(_id)} }`,
        });
        break;
      }
      collection.push({ _id, ...rest });
      n++;
    }
    return { n, ...writeErrors.length > 0 && { writeErrors }, ok: 1 };
  }

  /** `find`. */
  find(db: string, command: MongoDocument): MongoDocument {
    const name = String(command.find);
    const found = (this.#in(db).get(name) ?? []).filter(matcherOf(command.filter));
    const { batch, id } = this.#batch(found, FIRST_BATCH);
    return { cursor: { firstBatch: batch, id, ns: `${db}.${name}` }, ok: 1 };
  }

  /** `getMore`. */
  getMore(db: string, command: MongoDocument): MongoDocument {
    const asked = BigInt(String(command.getMore));
    const rest = this.#cursors.get(asked);
    if (rest === undefined) throw new MongoCommandError(43, `cursor id ${asked} not found`);
    this.#cursors.delete(asked);
    const { batch, id } = this.#batch(rest, Infinity);
    return { cursor: { nextBatch: batch, id, ns: `${db}.${String(command.collection)}` }, ok: 1 };
  }

  /** The documents of one answer, and the cursor of the others. */
  #batch(found: readonly MongoDocument[], most: number): { readonly batch: MongoDocument[]; readonly id: BSON.Long } {
    let bytes = 0;
    const end = found.findIndex((document, i) =>
      i >= most || (bytes += BSON.calculateObjectSize(document)) > BATCH_BYTES
    );
    if (end < 0) return { batch: [...found], id: BSON.Long.ZERO };
    const id = ++this.#lastCursor;
    this.#cursors.set(id, found.slice(end));
    return { batch: found.slice(0, end), id: BSON.Long.fromBigInt(id) };
  }

  /** `update` with `$set`. */
  update(db: string, command: MongoDocument): MongoDocument {
    const collection = this.#in(db).get(String(command.update)) ?? [];
    const [{ q, u }] = documentsOf(command.updates);
    const found = collection.find(matcherOf(q));
    const set: unknown = typeof u === "object" && u !== null ? Reflect.get(u, "$set") : undefined;
    if (typeof set !== "object" || set === null) throw new MongoCommandError(2, "Only $set is known");
    if (found === undefined) return { n: 0, nModified: 0, ok: 1 };
    const changed = Object.entries(set).filter(([key, value]) => !sameValue(found[key], value));
    if (changed.some(([key]) => key === "_id")) {
      const errmsg = "Performing an update on the path '_id' would modify the immutable field '_id'";
      return { n: 0, nModified: 0, writeErrors: [{ index: 0, code: 66, errmsg }], ok: 1 };
    }
    for (const [key, value] of changed) found[key] = value;
    return { n: 1, nModified: changed.length > 0 ? 1 : 0, ok: 1 };
  }

  /** `delete` of one document. */
  delete(db: string, command: MongoDocument): MongoDocument {
    const collection = this.#in(db).get(String(command.delete)) ?? [];
    const [{ q }] = documentsOf(command.deletes);
    const at = collection.findIndex(matcherOf(q));
    if (at >= 0) collection.splice(at, 1);
    return { n: at >= 0 ? 1 : 0, ok: 1 };
  }

  #in(db: string): Map<string, MongoDocument[]> {
    return this.#databases.get(db) ?? new Map<string, MongoDocument[]>();
  }

  #collection(db: string, name: string): MongoDocument[] {
    const collections = this.#databases.getOrInsertComputed(db, () => new Map<string, MongoDocument[]>());
    return collections.getOrInsertComputed(name, () => []);
  }
}

function documentsOf(given: unknown): MongoDocument[] {
  return Array.isArray(given) ? given : [];
}

/** Whether a document matches a filter. */
function matcherOf(filter: unknown): (document: MongoDocument) => boolean {
  const conditions = typeof filter === "object" && filter !== null ? Object.entries(filter) : [];
  for (const [key] of conditions) {
    if (key.startsWith("$")) {
      throw new MongoCommandError(
        2,
        `unknown top level operator: ${key}. If you have a field name that starts with a '$' symbol, consider using ` +
          "$getField or $setField.",
      );
    }
  }
  return (document) => conditions.every(([key, wanted]) => fits(document[key], wanted));
}

function fits(value: unknown, wanted: unknown): boolean {
  const operators = typeof wanted === "object" && wanted !== null ? Object.entries(wanted) : [];
  if (!operators.some(([key]) => key.startsWith("$"))) return sameValue(value, wanted);
  return operators.every(([operator, operand]) => {
    if (operator === "$gt") return numberOf(value) > numberOf(operand);
    if (operator === "$in") return Array.isArray(operand) && operand.some((one) => sameValue(value, one));
    throw new MongoCommandError(2, `unknown operator: ${operator}`);
  });
}

function numberOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Number(value.valueOf()) : Number(value);
}

/** Whether two values of BSON are one; numbers are compared as numbers. */
function sameValue(a: unknown, b: unknown): boolean {
  const isNumber = (one: unknown) =>
    one instanceof BSON.Int32 || one instanceof BSON.Double || one instanceof BSON.Long;
  if (isNumber(a) && isNumber(b)) return numberOf(a) === numberOf(b);
  return a !== undefined && BSON.serialize({ a }).toString() === BSON.serialize({ a: b }).toString();
}

/** A value as mongod's messages show it. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return value instanceof BSON.ObjectId ? `ObjectId('${value.toHexString()}')` : String(value);
}
