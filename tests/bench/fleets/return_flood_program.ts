/**
 * The program of an accepted minion that sends large returns as fast as the master answers, over many connections: a
 * process of its own, because sealing them would keep whoever measures waiting. It prints a line for each answer, and
 * ends when its standard input ends. Its first argument is a {@linkcode ReturnFlood} as JSON.
 * @module
 */

import { PrivateKey } from "#lib/crypto/rsa.ts";
import { map } from "#lib/values/value.ts";
import { median } from "#tests/bench/harness/statistics.ts";
import { applicantOf, linkOf } from "#tests/support/fleet/applicant.ts";

/** What is sent, by whom, and where. */
export interface ReturnFlood {
  readonly id: string;
  /** The accepted key. */
  readonly keyPem: string;
  /** A directory that exists: each connection gets one below it. */
  readonly directory: string;
  /** The master's port on 127.0.0.1. */
  readonly port: number;
  readonly connections: number;
  /** The job that is returned. */
  readonly jid: string;
  /** How long a return is to take, in milliseconds: as large as that makes it on this machine. */
  readonly costMs: number;
}

/** Returns that are tried for that, and the bytes of each; and the most bytes of a return. */
const TRIES = 5, TRIED_BYTES = 1_000_000, MOST_BYTES = 8_000_000;

const ANSWERED = new TextEncoder().encode("answered\n");

const { id, keyPem, directory, port, connections, jid, costMs }: ReturnFlood = JSON.parse(Deno.args[0]);
const key = PrivateKey.fromPem(keyPem), over = new AbortController(), { signal } = over;
const links = Array.from({ length: connections }, (_, i) => {
  const pkiDir = `${directory}/${id}${i}`;
  Deno.mkdirSync(pkiDir);
  return linkOf(applicantOf(id, key, pkiDir), { port, timeoutMs: 120_000 });
});
const returned = (bytes: number) => map({ cmd: "_return", id, jid, fun: "test.ping", return: "x".repeat(bytes) });
const [first] = links, times: number[] = [];
await first.signIn(signal);
for (let n = 0; n < TRIES; n++) {
  const begunMs = performance.now();
  await first.request(returned(TRIED_BYTES), signal);
  times.push(performance.now() - begunMs);
}
const bytes = Math.min(MOST_BYTES, Math.round(TRIED_BYTES * costMs / median(times))), load = returned(bytes);
const flooding = links.map(async (link) => {
  await link.signIn(signal);
  while (!signal.aborted) {
    await link.request(load, signal);
    Deno.stdout.writeSync(ANSWERED);
  }
}).map((run) =>
  run.catch((error) => {
    if (!signal.aborted) throw error;
  })
);
await Deno.stdin.readable.pipeTo(new WritableStream());
over.abort();
for (const link of links) link.close();
await Promise.all(flooding);
