/**
 * Clients of the API that only take room: thousands of connections without a request, and bodies without an end.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { raiseOpenFileLimit } from "#lib/libc/libc.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { treeMemory } from "#tests/bench/harness/process_figures.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Service } from "#tests/support/processes.ts";
import { sendRaw } from "#tests/support/raw_http.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const LONG = { connections: 10_000, bodyBytes: 1 << 30, bodies: 8, restMs: 30_000 };
const SHORT = { connections: 10_000, bodyBytes: 1 << 30, bodies: 2, restMs: 12_000 };
/** Connections that are opened at a time. */
const AT_ONCE = 100;
/** Descriptors of this process besides. */
const SPARE = 500;
/** Time between two honest requests, in milliseconds, and after which one counts as not answered. */
const ASK_MS = 100, ANSWER_MS = 10_000;
const CHUNK = new Uint8Array(1 << 20).fill(0x20);
const MEBI = 1024;

/** See {@linkcode Fault}. */
export const apiFlood: Fault = {
  name: "api-flood",
  what: "10,000 connections to salt-api that ask nothing or never end their headers, and bodies of 1 GB",
  promise: "each honest request is answered within a second, and memory is bounded",
  missing: () =>
    raiseOpenFileLimit(SHORT.connections + SPARE).soft < SHORT.connections + SPARE
      ? "this process may not open 10,500 files"
      : undefined,
  async run({ long, say }): Promise<Figure[]> {
    const { connections, bodyBytes, bodies, restMs } = long ? LONG : SHORT;
    const port = freePort();
    await using fleet = await ProcessFleet.start({
      minions: 0,
      master: { rest_cherrypy: { port, host: "127.0.0.1" }, netapi_enable_clients: ["local"] },
    });
    const api = Service.start("salt-api", fleet.saltWords("salt-api"), `${fleet.root}/api.out`);
    const flood: Deno.TcpConn[] = [];
    try {
      const asker = new HonestAsker(port);
      await eventually(() => asker.ask(), { what: `salt-api; it says: ${api.written}` });
      const before = treeMemory(api.pid).rssKb;
      asker.begin();
      const opened = await openAll(port, connections, flood);
      say(`${opened} connections are open`);
      const connecting = asker.taken();
      await new Promise((resolve) => setTimeout(resolve, restMs));
      const resting = asker.taken();
      for (const connection of flood.splice(0)) connection.close();
      const sent = await Promise.all(Array.from({ length: bodies }, (_, i) => sendBody(port, bodyBytes, i % 2 === 0)));
      say(`${bodies} bodies were sent, of which salt-api took ${sent.map(({ bytes }) => bytes >> 20).join(", ")} MiB`);
      const sending = asker.taken();
      await asker.end();
      const peak = Number(/^VmHWM:\s+(\d+)/m.exec(Deno.readTextFileSync(`/proc/${api.pid}/status`))?.[1]);
      return [
        { name: "connections opened", value: opened, atLeast: connections * 0.9 },
        ...figures("while they open", connecting),
        ...figures("while they rest", resting),
        ...figures("while bodies come", sending),
        // Deno reads what is left of a body that was refused, and keeps nothing of it.
        { name: "refused bodies that were read to their end", value: sent.filter(({ isWhole }) => isWhole).length },
        { name: "memory grew by, MiB", value: Math.round((peak - before) / MEBI), atMost: 400 },
      ];
    } finally {
      for (const connection of flood) connection.close();
      await api.stop();
    }
  },
};

/** How long honest requests took, in milliseconds; those without an answer took {@linkcode ANSWER_MS}. */
type Answers = readonly number[];

function figures(when: string, answers: Answers): Figure[] {
  const sorted = [...answers].sort((a, b) => a - b);
  return [
    { name: `honest requests ${when}`, value: answers.length, atLeast: 1 },
    { name: `slowest answer ${when}, ms`, value: Math.round(sorted.at(-1) ?? ANSWER_MS), atMost: 1_000 },
    { name: `median answer ${when}, ms`, value: Math.round(sorted[sorted.length >> 1] ?? ANSWER_MS) },
  ];
}

/** A client that asks again and again, each time over a new connection. */
class HonestAsker {
  readonly #port: number;
  #answers: number[] = [];
  #asking: Promise<void> | undefined;
  #isEnding = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** Asks once; whether the answer was right. */
  async ask(): Promise<boolean> {
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(() => late.resolve(false), ANSWER_MS);
    try {
      const request = { port: this.#port, method: "GET", path: "/", headers: {} };
      return await Promise.race([sendRaw(request).then(({ status }) => status === 200, () => false), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  begin(): void {
    this.#asking = this.#loop();
  }

  /** The answers since the last call. */
  taken(): Answers {
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#asking;
  }

  async #loop(): Promise<void> {
    while (!this.#isEnding) {
      const started = performance.now();
      const isRight = await this.ask();
      this.#answers.push(isRight ? performance.now() - started : ANSWER_MS);
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    }
  }
}

/** Opens connections; every second one begins headers that it never ends. How many could be opened. */
async function openAll(port: number, count: number, flood: Deno.TcpConn[]): Promise<number> {
  const head = new TextEncoder().encode("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ");
  let opened = 0;
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = await Promise.allSettled(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, () => Deno.connect({ hostname: "127.0.0.1", port })),
    );
    for (const one of some) {
      if (one.status === "rejected") continue;
      flood.push(one.value);
      // The other side may have ended it by now.
      if (opened++ % 2 === 0) await one.value.write(head).catch(() => {});
    }
  }
  return opened;
}

interface SentBody {
  readonly bytes: number;
  /** Whether it was taken to its end. */
  readonly isWhole: boolean;
}

/** Sends a body of spaces to `/login`, declared or in chunks, until it ends or the other side ends the connection. */
async function sendBody(port: number, length: number, isDeclared: boolean): Promise<SentBody> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const text = new TextEncoder();
  const how = isDeclared ? `Content-Length: ${length}` : "Transfer-Encoding: chunked";
  let bytes = 0;
  const write = async (part: Uint8Array) => {
    for (let at = 0; at < part.length;) at += await connection.write(part.subarray(at));
  };
  try {
    await write(
      text.encode(`POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${how}\r\n\r\n`),
    );
    for (; bytes < length; bytes += CHUNK.length) {
      if (!isDeclared) await write(text.encode(`${CHUNK.length.toString(16)}\r\n`));
      await write(CHUNK);
      if (!isDeclared) await write(text.encode("\r\n"));
    }
    return { bytes, isWhole: true };
  } catch (error) {
    if (!(error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe)) {
      throw new Error(`a body: ${messageOf(error)}`, { cause: error });
    }
    return { bytes, isWhole: false };
  }
}
