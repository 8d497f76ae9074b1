/**
 * The frames of MongoDB's protocol as a server reads and writes them: OP_MSG, and OP_QUERY for the first command of a
 * connection.
 * Source: MongoDB, "MongoDB Wire Protocol"; specifications "OP_MSG" and "MongoDB Handshake".
 * @module
 */

import { BSON } from "mongodb";

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const MOST_BYTES = 48_000_000;
/** The flag of a message whose sender wants no answer. */
const MORE_TO_COME = 2;

/** A document with the library's classes for numbers. */
export type MongoDocument = Record<string, unknown>;

/** A command as a client sent it. */
export interface MongoRequest {
  readonly id: number;
  readonly document: MongoDocument;
  readonly database: string;
  readonly isQuery: boolean;
  readonly wantsAnswer: boolean;
}

const READING = { promoteValues: false } as const;

/** Reads the commands of a connection until it ends. */
export async function* readRequests(connection: Deno.Conn): AsyncGenerator<MongoRequest> {
  while (true) {
    const header = await readExactly(connection, HEADER_BYTES);
    if (header === undefined) return;
    const view = new DataView(header.buffer);
    const [length, id, code] = [view.getInt32(0, true), view.getInt32(4, true), view.getInt32(12, true)];
    if (length < HEADER_BYTES || length > MOST_BYTES) throw new RangeError(`a message of ${length} bytes`);
    const body = await readExactly(connection, length - HEADER_BYTES);
    if (body === undefined) return;
    yield code === OP_MSG ? messageRequest(id, body) : queryRequest(id, code, body);
  }
}

/** @returns `undefined` if the connection ends first. */
async function readExactly(connection: Deno.Conn, length: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = await connection.read(bytes.subarray(at));
    if (count === null) return undefined;
    at += count;
  }
  return bytes;
}

function messageRequest(id: number, body: Uint8Array<ArrayBuffer>): MongoRequest {
  const view = new DataView(body.buffer);
  const flags = view.getUint32(0, true);
  const document: MongoDocument = {};
  for (let at = 4; at < body.length;) {
    const kind = body[at++];
    const length = view.getInt32(at, true);
    const section = body.subarray(at, at + length);
    at += length;
    if (kind === 0) Object.assign(document, BSON.deserialize(section, READING));
    else Object.assign(document, sequence(section));
  }
  const isSilent = (flags & MORE_TO_COME) !== 0;
  return { id, document, database: String(document.$db), isQuery: false, wantsAnswer: !isSilent };
}

/** A section of documents, as the field of the command that it stands for. */
function sequence(section: Uint8Array<ArrayBuffer>): MongoDocument {
  const end = section.indexOf(0, 4);
  const documents: MongoDocument[] = [];
  const view = new DataView(section.buffer, section.byteOffset);
  for (let at = end + 1; at < section.length;) {
    const length = view.getInt32(at, true);
    documents.push(BSON.deserialize(section.subarray(at, at + length), READING));
    at += length;
  }
  return { [new TextDecoder().decode(section.subarray(4, end))]: documents };
}

function queryRequest(id: number, code: number, body: Uint8Array): MongoRequest {
  if (code !== OP_QUERY) throw new RangeError(`a message of the kind ${code}`);
  const end = body.indexOf(0, 4);
  const database = new TextDecoder().decode(body.subarray(4, end)).replace(/\.\$cmd$/, "");
  return {
    id,
    document: BSON.deserialize(body.subarray(end + 9), READING),
    database,
    isQuery: true,
    wantsAnswer: true,
  };
}

/** The bytes of an answer. */
export function answerBytes({ id, isQuery }: MongoRequest, answer: MongoDocument): Uint8Array {
  // mongod's is a double.
  const document = BSON.serialize({ ...answer, ok: new BSON.Double(Number(answer.ok)) });
  const before = isQuery ? 20 : 5;
  const bytes = new Uint8Array(HEADER_BYTES + before + document.length);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, bytes.length, true);
  view.setInt32(8, id, true);
  view.setInt32(12, isQuery ? OP_REPLY : OP_MSG, true);
  if (isQuery) view.setInt32(HEADER_BYTES + 16, 1, true);
  bytes.set(document, HEADER_BYTES + before);
  return bytes;
}
