/**
 * The program of an accepted minion that sends large returns as fast as the master answers, over many connections: a
 * process of its own, because sealing them would keep whoever measures waiting. It prints a line for each answer, and
 * ends when its standard input ends. Its first argument is a {@linkcode ReturnFlood} as JSON.
 * @module
 */

import { PrivateKey } from "#lib/crypto/rsa.ts";
import { backoff } from "#lib/minion/masters/backoff.ts";
import { MasterLink } from "#lib/minion/masters/link.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";
import { map } from "#lib/values/value.ts";
import { SIGN_IN_TIMEOUTS } from "./simulated_minion.ts";
import { applicantOf } from "#tests/support/fleet/applicant.ts";

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
  return new MasterLink({
    address: tcpAddress("127.0.0.1", port),
    applicant: applicantOf(id, key, pkiDir),
    timeouts: SIGN_IN_TIMEOUTS,
    backoff: backoff({ leastMs: 100, mostMs: 1_000, randomize: true }),
    requestTimeouts: { timeoutMs: 120_000, tries: 1 },
    signMessages: false,
    log: SILENT_LOGGER,
  });
});
const returned = (bytes: number) => map({ cmd: "_return", id, jid, fun: "test.ping", return: "x".repeat(bytes) });
const [first] = links, times: number[] = [];
await first.signIn(signal);
for (let n = 0; n < TRIES; n++) {
  const begunMs = performance.now();
  await first.request(returned(TRIED_BYTES), signal);
  times.push(performance.now() - begunMs);
}
const triedMs = times.toSorted((a, b) => a - b)[Math.floor(TRIES / 2)];
const bytes = Math.min(MOST_BYTES, Math.round(TRIED_BYTES * costMs / triedMs)), load = returned(bytes);
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
