/**
 * Twenty hostile clients of a master, in their own process, without pauses: `deno run
 * tests/support/fleet/hostile_clients.ts <request port> <publish port>`. Prints a line when all have started; runs
 * until it is killed.
 * @module
 */

import { clearRequest } from "#lib/protocol/payload.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { map } from "#lib/values/value.ts";
import { Peer } from "./peer.ts";

const [requestPort, publishPort] = Deno.args.map(Number);
const EACH = 4;
const none = new Uint8Array();
const pem = (await PrivateKey.generate(2048)).publicKey.pem;

/** Sends the requests that `make` builds without waiting for the replies, and reads the replies. */
async function flood(make: (n: number) => Uint8Array): Promise<void> {
  using peer = Peer.dealer({ highWaterMark: 200 });
  peer.connect(`tcp://127.0.0.1:${requestPort}`);
  for (let n = 0;; n++) {
    await peer.send([none, make(n)], 1_000);
    while (await peer.receive(0) !== undefined);
    if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve)); // lets the other clients of this process run
  }
}

const noise = crypto.getRandomValues(new Uint8Array(500));

const GREETING = "ff00000000000000017f0300" + "4e554c4c" + "00".repeat(48);
/**
 * More bytes than the master's greeting: its READY was received. A client that sends frames earlier is disconnected.
 */
const GREETED = 70;
const READY = "04" + "1c" + "055245414459" + "0b536f636b65742d54797065" + "00000006" + "4445414c4552";

/** Connects, sends `words`, sends `more` after the greeting, and waits until it is disconnected; then starts again. */
async function raw(port: number, words: Uint8Array, more?: Uint8Array): Promise<void> {
  for (;;) {
    try {
      using connection = await Deno.connect({ hostname: "127.0.0.1", port });
      await connection.write(words);
      if (more !== undefined) {
        for (let read = 0; read < GREETED;) read += await connection.read(new Uint8Array(200)) ?? GREETED;
        for (let at = 0; at < more.length;) at += await connection.write(more.subarray(at));
      }
      while (await connection.read(new Uint8Array(100)) !== null);
    } catch {
      // Disconnected by the master.
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const HELLO = Uint8Array.fromHex(GREETING + READY);
/** The beginning of a request of 200 MB, which exceeds the limit, or of 50 MB, which does not. */
const giants = ["02000000000c800000", "0100020000000003200000"].map((claim) =>
  new Uint8Array([...Uint8Array.fromHex(claim), ...new Uint8Array(4_000_000)])
);

/** Subscribes to all publishes, and never reads. */
async function slowReader(): Promise<void> {
  const subscriber = Inbox.subscriber({ highWaterMark: 1 });
  subscriber.subscribe("");
  subscriber.connect(`tcp://127.0.0.1:${publishPort}`);
  await new Promise(() => {});
}

const signIn = (n: number) =>
  clearRequest(
    map({ cmd: "_auth", id: `stranger${n % 1000}`, nonce: "n".repeat(32), pub: pem, enc_algo: "OAEP-SHA1" }),
  );

const clients: (() => Promise<void>)[] = [];
for (let i = 0; i < EACH; i++) {
  clients.push(
    () => flood((n) => n % 2 === 0 ? noise : clearRequest(map({ cmd: "nonesuch", n }))),
    () => flood(signIn),
    () => raw(requestPort, HELLO, giants[i % 2]),
    () => raw(i % 2 === 0 ? requestPort : publishPort, Uint8Array.fromHex(GREETING).subarray(0, 5 * i)),
    slowReader,
  );
}
for (const client of clients) void client();
Deno.stdout.writeSync(new TextEncoder().encode(`${clients.length} hostile clients\n`));
