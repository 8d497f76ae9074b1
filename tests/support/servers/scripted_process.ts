/**
 * What listens in place of Python: processes of jobs that answer as a test says.
 * @module
 */

import { MAX_PYTHON_MESSAGE, packPython } from "#lib/python_bridge/link/messages.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";
import { assert } from "#tests/support/assert.ts";

type Fields = Readonly<Record<string, unknown>>;

/** How the processes of a socket act. */
export interface ProcessScript {
  /**
   * The fields of the message that ends a request, besides its `id`; `undefined`: the process ends.
   * @param kind What is asked for.
   * @param ask Asks the host: its answer, or the class and the text of its refusal.
   */
  answer?(
    kind: string,
    ask: (what: string, fields?: Fields) => Promise<unknown>,
  ): Promise<Fields | undefined> | Fields | undefined;
  /** The notice with the socket of the process that has the real Salt; `undefined`: it ends without one. */
  readonly real?: Fields;
}

/** A socket at which scripted processes listen. */
export class ScriptedProcess implements Disposable {
  readonly #listener: Deno.UnixListener;
  /** The kinds of the requests so far. */
  readonly requests: string[] = [];

  constructor(path: string, script: ProcessScript) {
    this.#listener = Deno.listen({ transport: "unix", path });
    void this.#serve(script);
  }

  async #serve(script: ProcessScript): Promise<void> {
    for await (const connection of this.#listener) void this.#talk(connection, script);
  }

  async #talk(connection: Deno.UnixConn, { answer, real }: ProcessScript): Promise<void> {
    using _end = connection;
    const first = new Uint8Array(1);
    if (await connection.read(first) === null) return;
    if (first[0] === "r".charCodeAt(0)) {
      if (real !== undefined) await writeAll(connection, frame(0, new TextEncoder().encode(JSON.stringify(real))));
      return;
    }
    const messages = messagesOf(connection);
    for await (const message of messages) {
      const kind = str(message.get("kind") ?? null);
      if (kind === "start") continue;
      this.requests.push(kind);
      const [id, during] = [1, message.get("id")];
      const fields = await answer?.(kind, async (what, given) => {
        await writeAll(connection, packPython({ kind: "ask", id, during, what, ...given }));
        const { value } = await messages.next();
        assert(value instanceof Map && value.get("id") === id);
        return value.get("kind") === "answer" ? value.get("value") : [value.get("class"), value.get("text")];
      });
      if (fields === undefined) return;
      await writeAll(connection, packPython({ kind: "done", id: during, ...fields }));
    }
  }

  [Symbol.dispose](): void {
    this.#listener.close();
  }
}

async function writeAll(connection: Deno.UnixConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

async function* messagesOf(connection: Deno.UnixConn): AsyncGenerator<ValueMap, undefined> {
  const frames = new FrameReader(MAX_PYTHON_MESSAGE), piece = new Uint8Array(1 << 16);
  for (let length = await connection.read(piece); length !== null; length = await connection.read(piece)) {
    for (const { content } of frames.push(piece.slice(0, length))) {
      const message = decode(content, "disk");
      assert(isMap(message));
      yield message;
    }
  }
}
