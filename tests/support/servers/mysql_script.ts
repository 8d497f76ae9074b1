/**
 * A server of MySQL that has no data: a test says what each statement gives. It shows how old, new and broken servers
 * are dealt with.
 * Source: dev.mysql.com, "MySQL Source Code Documentation", "Client/Server Protocol".
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";

/**
 * What a statement gives: rows by the names of their columns, the number of rows that it changes, an error, or nothing,
 * because the server ends the connection.
 */
export type MysqlAnswer = readonly Readonly<Record<string, string | null>>[] | number | Error | undefined;

/** A running server. */
export interface MysqlScript extends AsyncDisposable {
  readonly port: number;
  /** The statements that it has got, without those of every connection. */
  readonly statements: string[];
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The lower bytes of a number, the lowest first. */
function littleEndian(value: number, count: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: count }, (_, i) => (value >>> (8 * i)) & 0xff);
}

/** A text with its length before it. */
function counted(text: string): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(text);
  const length = bytes.length < 251
    ? Uint8Array.of(bytes.length)
    : joinBytes([Uint8Array.of(0xfc), littleEndian(bytes.length, 2)]);
  return joinBytes([length, bytes]);
}

/** PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, CONNECT_WITH_DB, TRANSACTIONS and LONG_PASSWORD. */
const CAPABILITIES = 0x200 | 0x8000 | 0x80000 | 0x8 | 0x2000 | 0x1;
const UTF8 = 45;
const VAR_STRING = 253;

function greeting(version: string): Uint8Array {
  return joinBytes([
    Uint8Array.of(10),
    bytesOf(`${version}\0`),
    littleEndian(1, 4),
    bytesOf("abcdefgh\0"),
    littleEndian(CAPABILITIES, 2),
    Uint8Array.of(UTF8, 2, 0),
    littleEndian(CAPABILITIES >>> 16, 2),
    Uint8Array.of(21),
    new Uint8Array(10),
    bytesOf("abcdefghijkl\0"),
    bytesOf("mysql_native_password\0"),
  ]);
}

const END_OF_ROWS = Uint8Array.of(0xfe, 0, 0, 2, 0);

function changed(count: number): Uint8Array {
  return Uint8Array.of(0, count, 0, 2, 0, 0, 0);
}

function column(name: string): Uint8Array {
  const ends = [
    Uint8Array.of(12),
    littleEndian(UTF8, 2),
    littleEndian(1024, 4),
    Uint8Array.of(VAR_STRING, 0, 0, 0, 0, 0),
  ];
  return joinBytes([...["def", "", "", "", name, name].map(counted), ...ends]);
}

/** The packets of an answer. */
function packets(answer: Exclude<MysqlAnswer, undefined>): Uint8Array[] {
  if (typeof answer === "number") return [changed(answer)];
  if (answer instanceof Error) {
    return [joinBytes([Uint8Array.of(0xff, 0x57, 0x04), bytesOf(`#HY000${answer.message}`)])];
  }
  const names = Object.keys(answer[0] ?? { none: null });
  const rows = answer.map((row) =>
    joinBytes(names.map((name) => row[name] === null ? Uint8Array.of(0xfb) : counted(row[name])))
  );
  return [Uint8Array.of(names.length), ...names.map(column), END_OF_ROWS, ...rows, END_OF_ROWS];
}

/** The packets of a client, without their heads. */
async function* received(connection: Deno.Conn): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = new Uint8Array();
  for await (const piece of connection.readable) {
    held = joinBytes([held, piece]);
    for (;;) {
      const size = held.length < 4 ? Infinity : held[0] | (held[1] << 8) | (held[2] << 16);
      if (held.length < 4 + size) break;
      yield held.subarray(4, 4 + size);
      held = held.subarray(4 + size);
    }
  }
}

async function converse(
  connection: Deno.Conn,
  version: string,
  answer: (statement: string) => MysqlAnswer,
): Promise<void> {
  const send = async (from: number, payloads: readonly Uint8Array[]) => {
    const all = joinBytes(payloads.flatMap((one, i) => [littleEndian(one.length, 3), Uint8Array.of(from + i), one]));
    for (let at = 0; at < all.length;) at += await connection.write(all.subarray(at));
  };
  await send(0, [greeting(version)]);
  let isIn = false;
  for await (const packet of received(connection)) {
    // A client that leaves says so by one byte.
    if (isIn && packet[0] === 1) break;
    if (!isIn) await send(2, [changed(0)]);
    else {
      const given = answer(new TextDecoder().decode(packet.subarray(1)));
      if (given === undefined) break;
      await send(1, packets(given));
    }
    isIn = true;
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch (error) {
    // The client has gone before.
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** Starts one that anybody may use. */
export function startMysqlScript(version: string, answer: (statement: string) => MysqlAnswer): MysqlScript {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const statements: string[] = [];
  const answered = (statement: string): MysqlAnswer => {
    if (statement === "SELECT @@sql_mode") return [{ mode: "" }];
    if (statement === "SELECT VERSION()") return [{ version }];
    statements.push(statement);
    return answer(statement);
  };
  const serve = async (connection: Deno.Conn) => {
    try {
      await converse(connection, version, answered);
    } finally {
      close(connection);
    }
  };
  const serving = (async () => {
    const open: Promise<void>[] = [];
    for await (const connection of listener) open.push(serve(connection));
    await Promise.all(open);
  })();
  return {
    port: listener.addr.port,
    statements,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}
