/**
 * A connection to a process in a container: after one request its bytes are the input and the output of the process.
 * Source: docs.docker.com, "Docker Engine API v1.41", "Attach to a container", hijacking.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { type EnginePlace } from "./engine_place.ts";

/** The most bytes that the head of an answer may have. */
const MAX_HEAD = 64 << 10;

/** The input and output of a process. */
export interface AttachedConnection extends Disposable {
  /** The output, in frames unless the process has a terminal. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Writes all of the input, and ends it. */
  input(bytes: Uint8Array | ReadableStream<Uint8Array>): Promise<void>;
}

/** What the engine has answered in place of a connection. */
export interface NotAttached {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends the request that starts it.
 * @throws {CommandError} If the engine does not answer.
 */
export async function openAttached(
  place: EnginePlace,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<AttachedConnection | NotAttached> {
  const conn = await connect(place);
  const abort = () => close(conn);
  signal.addEventListener("abort", abort);
  const dispose = () => {
    signal.removeEventListener("abort", abort);
    close(conn);
  };
  try {
    signal.throwIfAborted();
    const bytes = new TextEncoder().encode(body);
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${new URL(place.origin).host}`,
      "Connection: Upgrade",
      "Upgrade: tcp",
      "Content-Type: application/json",
      `Content-Length: ${bytes.length}`,
    ];
    await write(conn, joinBytes([new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n`), bytes]));
    const reader = conn.readable.getReader();
    const { status, length, rest } = await readHead(reader);
    if (status === 101 || status === 200) {
      return { output: output(rest, reader), input: (given) => writeAllTo(conn, given), [Symbol.dispose]: dispose };
    }
    const text = await textOf(rest, length, reader);
    dispose();
    return { status, text };
  } catch (error) {
    dispose();
    if (error instanceof CommandError || signal.aborted) throw error;
    throw new CommandError(`Docker's engine at ${place.shown} does not answer: ${messageOf(error)}`, { cause: error });
  }
}

async function connect({ socket, origin, shown }: EnginePlace): Promise<Deno.Conn> {
  try {
    if (socket !== undefined) return await Deno.connect({ transport: "unix", path: socket });
    const { protocol, hostname, port } = new URL(origin);
    const address = { hostname, port: Number(port) };
    return protocol === "https:" ? await Deno.connectTls(address) : await Deno.connect(address);
  } catch (error) {
    throw new CommandError(`Docker's engine at ${shown} does not answer: ${messageOf(error)}`, { cause: error });
  }
}

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch (error) {
    // The engine has closed it before.
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

async function write(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}

async function writeAllTo(conn: Deno.Conn, given: Uint8Array | ReadableStream<Uint8Array>): Promise<void> {
  try {
    if (given instanceof Uint8Array) await write(conn, given);
    else for await (const piece of given) await write(conn, piece);
    await conn.closeWrite();
  } catch (error) {
    // The process has ended without reading all of it.
    const isGone = error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset ||
      error instanceof Deno.errors.NotConnected || error instanceof Deno.errors.BadResource;
    if (!isGone) throw error;
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** The head of an answer. */
interface Head {
  readonly status: number;
  /** The bytes of the answer, if the engine says so. */
  readonly length: number;
  /** What has come of them with the head. */
  readonly rest: Uint8Array;
}

async function readHead(reader: Reader): Promise<Head> {
  let read: Uint8Array = new Uint8Array();
  for (;;) {
    const text = new TextDecoder("latin1").decode(read);
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) {
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1];
      if (status === undefined) throw new CommandError("Docker's engine does not answer by HTTP");
      const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(text.slice(0, end + 2))?.[1];
      return { status: Number(status), length: Number(length ?? Infinity), rest: read.subarray(end + 4) };
    }
    if (read.length > MAX_HEAD) throw new CommandError("The head of an answer of Docker's engine is too long");
    const { value, done } = await reader.read();
    if (done) throw new CommandError("Docker's engine has closed the connection");
    read = joinBytes([read, value]);
  }
}

async function* output(first: Uint8Array, reader: Reader): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** The text of a refusal: JSON, whose frame may be that of chunks. The connection may stay open after it. */
async function textOf(first: Uint8Array, length: number, reader: Reader): Promise<string> {
  let [bytes, text] = [new Uint8Array(), ""];
  for await (const piece of output(first, reader)) {
    bytes = joinBytes([bytes, piece]);
    text = new TextDecoder().decode(bytes);
    if (text.trimEnd().endsWith("}") || /\r\n0\r\n\r\n$/.test(text)) break;
    if (bytes.length >= length || bytes.length > MAX_HEAD) break;
  }
  const json = /\{[\s\S]*\}/.exec(text);
  return json === null ? text : json[0];
}
