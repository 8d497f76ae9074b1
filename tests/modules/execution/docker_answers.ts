/**
 * An engine of Docker whose answers a test writes, and jobs that ask it.
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import type { Value } from "#lib/values/value.ts";
import { type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Answers by method and path; a text is the body, others are made anew for each request. */
export type Answers = Readonly<Record<string, string | ((query: URLSearchParams) => Response)>>;

/** What a program in a container comes to. */
export interface ProgramEnd {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly retcode?: number;
  /** The engine's words if it does not start the program. */
  readonly refusal?: string;
}

/** A program in a container: its words, and its whole input, which it may read. */
export type Programs = (words: readonly string[], input: () => Promise<string>) => ProgramEnd | Promise<ProgramEnd>;

interface Started {
  readonly words: readonly string[];
  end: ProgramEnd;
}

/** The programs that were made; the id of each is its place. */
class Execs {
  readonly #all: Started[] = [];

  constructor(readonly programs: Programs) {}

  /** The answer to a request about one; `undefined`: it is about none. */
  answer(route: string, body: string): Response | undefined {
    if (/^POST \/containers\/\w+\/exec$/.test(route)) {
      this.#all.push({ words: onlyStrings(mapOrEmpty(parseJson(body)).get("Cmd")), end: {} });
      return Response.json({ Id: String(this.#all.length - 1) });
    }
    const id = /^GET \/exec\/(\d+)\/json$/.exec(route)?.[1];
    if (id === undefined) return undefined;
    return Response.json({ Running: false, Pid: 7, ExitCode: this.#all[Number(id)].end.retcode ?? 0 });
  }

  /** Runs one on a connection. */
  async run(id: string, connection: Deno.Conn): Promise<void> {
    const started = this.#all[Number(id)];
    const write = (text: string) => writeAll(connection, new TextEncoder().encode(text));
    let isAttached = false;
    const attach = async () => {
      if (!isAttached) await write("HTTP/1.1 101 UPGRADED\r\n\r\n");
      isAttached = true;
    };
    const end = await this.programs(started.words, async () => {
      await attach();
      return await readAll(connection);
    });
    started.end = end;
    if (end.refusal === undefined) {
      await attach();
      await writeAll(connection, joinBytes([frame(1, end.stdout ?? ""), frame(2, end.stderr ?? "")]));
    } else {
      const body = JSON.stringify({ message: end.refusal });
      await write(`HTTP/1.1 400 Bad Request\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    }
    connection.close();
  }
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** What comes until the other side has ended its part; a stream would close the connection then. */
async function readAll(connection: Deno.Conn): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const buffer = new Uint8Array(64 << 10);
    const count = await connection.read(buffer);
    if (count === null) return new TextDecoder().decode(joinBytes(pieces));
    pieces.push(buffer.subarray(0, count));
  }
}

function frame(kind: number, text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const head = new DataView(new ArrayBuffer(8));
  head.setUint8(0, kind);
  head.setUint32(4, bytes.length);
  return joinBytes([new Uint8Array(head.buffer), bytes]);
}

/** Lets programs run on the connections that start one, and gives the others to the server of `port`. */
async function serve(connection: Deno.Conn, port: number, execs: Execs): Promise<void> {
  const buffer = new Uint8Array(64 << 10);
  const count = await connection.read(buffer);
  if (count === null) return connection.close();
  const first = buffer.subarray(0, count);
  const id = /^POST \/exec\/(\d+)\/start /.exec(new TextDecoder("latin1").decode(first))?.[1];
  if (id !== undefined) return await execs.run(id, connection);
  const server = await Deno.connect({ hostname: "127.0.0.1", port });
  const there = (async () => {
    const writer = server.writable.getWriter();
    await writer.write(first);
    writer.releaseLock();
    await connection.readable.pipeTo(server.writable);
  })();
  await Promise.allSettled([there, server.readable.pipeTo(connection.writable)]);
}

/** An engine for one test. */
export interface AnsweringEngine extends AsyncDisposable {
  /** For the option `docker.url`. */
  readonly url: string;
}

/** Starts one. What it does not know it answers with 404. */
export function startAnswering(answers: Answers, programs: Programs = () => ({})): AnsweringEngine {
  const execs = new Execs(programs);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = await request.text();
    const { pathname, searchParams } = new URL(request.url);
    const route = `${request.method} ${decodeURIComponent(pathname)}`;
    const answer = answers[route];
    if (typeof answer === "string") return new Response(answer);
    if (answer !== undefined) return answer(searchParams);
    return execs.answer(route, body) ?? Response.json({ message: `No such thing: ${request.url}` }, { status: 404 });
  });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = (async () => {
    const open: Promise<void>[] = [];
    for await (const connection of listener) open.push(serve(connection, server.addr.port, execs));
    await Promise.all(open);
  })();
  return {
    url: `tcp://127.0.0.1:${listener.addr.port}`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await server.shutdown();
      await accepting;
    },
  };
}

/** Runs `act` with a job that asks such an engine; logins are kept in the job's directory. */
export async function withAnswers(
  answers: Answers,
  act: (context: TestContext, root: string) => Promise<void>,
  { programs, opts = {}, signal = new AbortController().signal }: {
    readonly programs?: Programs;
    readonly opts?: Readonly<Record<string, Value>>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    await using engine = startAnswering(answers, programs);
    const before = Deno.env.get("DOCKER_CONFIG");
    Deno.env.set("DOCKER_CONFIG", root);
    const own = { root_dir: root, "docker.url": engine.url, "docker.update_mine": false, file_client: "local" };
    const files = { "file_roots": new Map([["base", [root]]]) };
    try {
      await act(testContext({ opts: testOpts({ ...own, ...files, ...opts }), signal }), root);
    } finally {
      if (before === undefined) Deno.env.delete("DOCKER_CONFIG");
      else Deno.env.set("DOCKER_CONFIG", before);
    }
  });
}
