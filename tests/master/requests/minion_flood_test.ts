/**
 * One accepted minion that returns and fires without end, beyond the bounds of a minion, keeps no operator waiting: a
 * real master and an honest minion as processes, and the other one here. Counts, no times.
 * @module
 */

import { LoggedSubscriber } from "#lib/bus/logged_subscriber.ts";
import { subscribedBus } from "#lib/client/subscribed_bus.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { KeyStore } from "#lib/keys/store.ts";
import type { MasterLink } from "#lib/minion/masters/link.ts";
import { map } from "#lib/values/value.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { applicantOf, linkOf } from "#tests/support/fleet/applicant.ts";
import { TEST_KEY_BITS } from "#tests/support/fleet/scripted_master.ts";

const FLOODER = "flooder", TAG = "flood/of/events";
/**
 * Connections that return, and those that fire; events of one request. On a slow machine requests wait for seconds, and
 * smaller ones would stay below the 500 events a second that docs/security.md allows.
 */
const RETURNING = 6, FIRING = 2, EVENTS = 2_000;
/** What a minion may fire at once, as docs/security.md says. */
const BURST = 20_000;
/** Time until the flood is beyond a bound, in milliseconds: it needs 20,000 events, or 1,000 returns. */
const BEYOND_MS = 150_000;
/** Pings of the operator during the flood. */
const PINGS = 5;

Deno.test("while one minion floods the master with returns and events, every ping of another one is answered", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1, master: { worker_threads: 2 } });
  const { masterOpts } = fleet;
  const key = await PrivateKey.generate(TEST_KEY_BITS);
  new KeyStore(masterOpts.pki_dir).put(FLOODER, "accepted", key.publicKey.pem);
  const links = Array.from({ length: RETURNING + FIRING }, (_, i) => {
    const pkiDir = `${fleet.root}/flooder${i}`;
    Deno.mkdirSync(pkiDir);
    return linkOf(applicantOf(FLOODER, key, pkiDir), { port: masterOpts.ret_port, timeoutMs: 60_000 });
  });
  const ending = new AbortController(), { signal } = ending;
  const sent = { returns: 0, events: 0 };
  let heard = 0;
  const events = await LoggedSubscriber.connect(subscribedBus(masterOpts), [TAG]);
  const listen = async () => {
    while (!signal.aborted) if (await events.next(200, (tag) => tag === TAG) !== undefined) heard++;
  };
  const flood = async (link: MasterLink, send: (link: MasterLink) => Promise<void>) => {
    try {
      await link.signIn(signal);
      while (!signal.aborted) await send(link);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  const sendReturn = async (link: MasterLink) => {
    await link.request(map({ cmd: "_return", id: FLOODER, jid: "req", fun: "test.ping", return: true }), signal);
    sent.returns++;
  };
  const fire = async (link: MasterLink) => {
    const list = Array.from({ length: EVENTS }, () => map({ tag: TAG, data: { a: 1 } }));
    await link.request(map({ cmd: "_minion_event", id: FLOODER, events: list }), signal);
    sent.events += EVENTS;
  };
  const flooding = [listen(), ...links.slice(RETURNING).map((link) => flood(link, fire))];
  try {
    await eventually(() => /flooder sends too much: [1-9]\d* events were dropped/.test(fleet.log("master")), {
      what: "dropped events",
      withinMs: BEYOND_MS,
    });
    // Only now: returns that take the processors would keep its events waiting.
    flooding.push(...links.slice(0, RETURNING).map((link) => flood(link, sendReturn)));
    await eventually(() => /and [1-9]\d* requests are answered late/.test(fleet.log("master")), {
      what: "late answers",
      withinMs: BEYOND_MS,
    });
    await eventually(() => sent.events > 2 * BURST, { what: "events beyond" });
    for (let ping = 0; ping < PINGS; ping++) {
      const before = { ...sent };
      const { code, out, err } = await fleet.salt("salt", "--static", "--out=json", "m00", "test.ping");
      assertEquals([code, JSON.parse(out)], [0, { m00: true }], err);
      await eventually(() => sent.events > before.events && sent.returns > before.returns, {
        what: "the flood to go on",
      });
    }
  } finally {
    ending.abort();
    for (const link of links) link.close();
    await Promise.all(flooding);
    events.close();
  }
  assert(heard > 0 && heard < sent.events, `${heard} of ${sent.events} events`);
  assertEquals(fleet.master.exitCode, undefined);
});
