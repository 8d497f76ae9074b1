/**
 * A link whose master does not answer: its tries, waits, log lines and end.
 * @module
 */

import { SignInError } from "#lib/errors.ts";
import type { SignInTimeouts } from "#lib/minion/masters/link.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import {
  FULL,
  type LinkFixtureOptions,
  masterKey,
  NOWHERE,
  PENDING,
  REJECTED,
  signInsWith,
  start,
  WRONG,
} from "#tests/support/fleet/minion_link.ts";
import { sleep } from "#lib/os/sleep.ts";
import { MasterAddresses } from "#lib/minion/masters/master_addresses.ts";
import { reachOf } from "#lib/minion/masters/master_diagnosis.ts";
import { MasterKeys, ScriptedMaster } from "#tests/support/fleet/scripted_master.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

/**
 * The time limit of one try in tests that count the tries, in milliseconds. An unanswered try takes this long; an
 * answered one must be faster, also on a busy machine.
 */
const TRY_MS = 1_000;

Deno.test("a silent master gets auth_tries requests in each of master_tries rounds, then the sign-in fails", async () => {
  await using fixture = await start({
    script: () => () => undefined,
    timeouts: { authTimeoutMs: TRY_MS, authTries: 3, masterTries: 2 },
  });
  const error = await assertRejects(
    () => fixture.link.signIn(fixture.never),
    SignInError,
    "Unable to sign_in to master",
  );
  assertEquals(error.exitCode, 1);
  const frames = fixture.master.requests.map(({ frame }) => frame.toHex());
  // The tries of a round repeat the same bytes, each on its own connection.
  assertEquals([frames.length, new Set(frames).size], [6, 2]);
});

Deno.test("a minion waits for a master that does not run yet", async () => {
  const port = freePort();
  await using fixture = await start({
    address: `tcp://127.0.0.1:${port}`,
    timeouts: { authTimeoutMs: 50, authTries: 1 },
  });
  const signingIn = fixture.link.signIn(fixture.never);
  await eventually(() => fixture.lines.some((line) => line.includes("No master answers at tcp://127.0.0.1:")), {
    what: "the log line that no master answers",
  });
  await using _master = await ScriptedMaster.start(new MasterKeys(masterKey), { ports: { request: port, publish: 0 } });
  await signingIn;
});

Deno.test("a new sign-in over an open connection waits for the full time-out: the master may be busy with many minions", async () => {
  let silent = 0;
  await using fixture = await start({
    script: (honest) => (request) => silent-- > 0 ? undefined : honest(request),
    timeouts: { authTries: 1, authTimeoutMs: TRY_MS },
  });
  await fixture.link.signIn(fixture.never);
  silent = 1;
  await fixture.link.signIn(fixture.never);
  // A quick round is not logged as an error.
  assertEquals(fixture.lines.filter((line) => line.startsWith("ERROR No master answers")).length, 1);
});

Deno.test("a link that lost its connection retries soon, and does not give up, independent of master_tries", async () => {
  let silent = 0;
  await using fixture = await start({
    script: (honest) => (request) => silent-- > 0 ? undefined : honest(request),
    timeouts: { masterTries: 1, authTries: 2, authTimeoutMs: TRY_MS },
  });
  await fixture.link.signIn(fixture.never);
  silent = 5;
  fixture.link.reconnect();
  await fixture.link.signIn(fixture.never);
  assertEquals(fixture.master.count("_auth"), 7);
  // The first two tries are logged at level debug, then every second try as an error.
  const levels = fixture.lines.filter((line) => line.includes("No master answers")).map((line) =>
    /^\w+/.exec(line)?.[0]
  );
  assertEquals(levels, ["DEBUG", "DEBUG", "ERROR", "DEBUG", "ERROR"]);
});

Deno.test("each try after a lost connection waits for the backoff; a sign-in for another reason does not", async () => {
  let silent = 0;
  const paused: number[] = [];
  await using fixture = await start({
    script: (honest) => (request) => silent-- > 0 ? undefined : honest(request),
    timeouts: { authTimeoutMs: TRY_MS },
    backoff: { pause: (attempt) => (paused.push(attempt), 20), reconnect: () => 10 },
  });
  await fixture.link.signIn(fixture.never);
  await fixture.link.signIn(fixture.never);
  assertEquals(paused, []);
  for (const misses of [3, 1]) {
    silent = misses;
    fixture.link.reconnect();
    await fixture.link.signIn(fixture.never);
    await fixture.link.signIn(fixture.never);
  }
  assertEquals(paused, [0, 1, 2, 3, 0, 1]);
});

const LONG: Partial<SignInTimeouts> = {
  authTimeoutMs: 60_000,
  acceptanceWaitMs: 60_000,
  rejectedWaitMs: [60_000, 60_000],
};
const WAITS: readonly (readonly [during: string, options: LinkFixtureOptions, requestCount: number])[] = [
  ["the wait for an answer", { script: () => () => undefined }, 1],
  ["the wait for acceptance", { script: signInsWith(PENDING) }, 1],
  ["the wait of a full master", { script: signInsWith(FULL) }, 1],
  ["the wait of a rejected minion", { script: signInsWith(REJECTED) }, 1],
  ["the wait after an impostor's answer", { script: signInsWith(WRONG) }, 1],
  ["the wait for a master that does not run", { address: NOWHERE }, 0],
];
for (const [during, options, requestCount] of WAITS) {
  for (const how of ["abort", "close"] as const) {
    Deno.test(`${how} ends a sign-in at once, without an error message, in ${during}`, async () => {
      await using fixture = await start({ ...options, timeouts: LONG });
      const controller = new AbortController();
      const reason = new Error("it is over");
      const ended = assertRejects(() => fixture.link.signIn(controller.signal));
      await eventually(() => fixture.master.requests.length >= requestCount, { what: "a sign-in" });
      // The master's answer has been logged, or will be logged soon.
      await eventually(() => requestCount === 0 || options.script === WAITS[0][1].script || fixture.lines.length > 0, {
        what: "a log line about the answer",
      });
      const lineCount = fixture.lines.length;
      const started = performance.now();
      if (how === "abort") controller.abort(reason);
      else fixture.link.close();
      const error = await ended;
      assert(performance.now() - started < AT_ONCE_MS, `took ${performance.now() - started} ms`);
      if (how === "abort") assertEquals<unknown>(error, reason);
      assertEquals(fixture.lines.slice(lineCount), []);
    });
  }
}

/** Reports the problem early, and resolves names again at once. */
const TALKATIVE = { afterMs: 20, retryDnsMs: 1, retryDnsCount: 2 };

Deno.test("a first sign-in without an answer reports the reason long before it fails", async () => {
  using mute = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const cases = [
    [NOWHERE, "cannot connect to tcp://127.0.0.1:1: Connection refused"],
    [`tcp://127.0.0.1:${mute.addr.port}`, "has not answered yet: is it a master's ret_port?"],
  ];
  for (const [address, says] of cases) {
    await using fixture = await start({ address, timeouts: { authTimeoutMs: 20_000, silence: TALKATIVE } });
    const signingIn = assertRejects(() => fixture.link.signIn(fixture.never));
    await eventually(() => fixture.lines.some((line) => line.startsWith("ERROR No answer") && line.includes(says)), {
      what: `a line with ${says} among ${fixture.lines}`,
    });
    fixture.link.close();
    await signingIn;
  }
});

Deno.test("a first sign-in without an answer goes on at another address of the master's name", async () => {
  await using master = await ScriptedMaster.start(new MasterKeys(masterKey));
  const port = Number(master.address.split(":").at(-1));
  // The name itself stands for the first, where nothing listens.
  const lookUp = () => Promise.resolve(["127.0.0.9", "127.0.0.1"]);
  const address = new MasterAddresses({ host: "master.invalid", port }, lookUp);
  await using fixture = await start({ address, timeouts: { silence: { ...TALKATIVE, retryDnsMs: 0 } } });
  await fixture.link.signIn(fixture.never);
  assertEquals(fixture.link.address, `tcp://127.0.0.1:${port}`);
  assertEquals(fixture.lines, [
    `INFO No answer from the master: trying another address of its name: tcp://127.0.0.1:${port}`,
    `INFO Signed in to the master at tcp://127.0.0.1:${port} as web1`,
  ]);
});

Deno.test("a request that waits when its connection is lost is sent to the address of the next sign-in", async () => {
  let silent = false;
  const lookUp = () => Promise.resolve(["127.0.0.2", "127.0.0.1"]);
  await using master = await ScriptedMaster.start(new MasterKeys(masterKey), {
    script: (request) => silent ? undefined : master.honest(request),
  });
  const port = Number(master.address.split(":").at(-1));
  const address = new MasterAddresses({ host: "master.invalid", port }, lookUp);
  await using fixture = await start({ address, timeouts: { silence: { ...TALKATIVE, retryDnsMs: 0 } } });
  await fixture.link.signIn(fixture.never);
  silent = true;
  const asking = fixture.ask();
  await eventually(() => master.count("_return") === 1, { what: "the request" });
  const listener = Deno.listen({ hostname: "127.0.0.2", port });
  const forwarding = (async () => {
    for await (const near of listener) {
      const far = await Deno.connect({ hostname: "127.0.0.1", port });
      void Promise.allSettled([near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)]);
    }
  })();
  fixture.link.reconnect();
  const signingIn = fixture.link.signIn(fixture.never);
  await eventually(() => fixture.link.address === `tcp://127.0.0.2:${port}`, { what: "the other address" });
  silent = false;
  await signingIn;
  assertEquals(await asking, null);
  listener.close();
  await forwarding;
});

Deno.test("an unknown host name of the master is resolved retry_dns_count times, then the minion ends", async () => {
  const timeouts = { authTimeoutMs: 20_000, silence: TALKATIVE };
  await using fixture = await start({ address: "tcp://no.such.host.invalid:4506", timeouts });
  const error = await assertRejects(
    () => fixture.link.signIn(fixture.never),
    SignInError,
    "no.such.host.invalid cannot be resolved",
  );
  assertEquals(error.exitCode, 1);
  assertEquals(fixture.lines.filter((line) => line.includes("looking again in 0.001 seconds (retry_dns)")).length, 2);
});

Deno.test("with retry_dns 0 an unknown host name ends the minion at once", async () => {
  const timeouts = { authTimeoutMs: 20_000, silence: { ...TALKATIVE, retryDnsMs: 0 } };
  await using fixture = await start({ address: "tcp://no.such.host.invalid:4506", timeouts });
  await assertRejects(() => fixture.link.signIn(fixture.never), SignInError, "no.such.host.invalid cannot be resolved");
  assertEquals(fixture.lines, []);
});

Deno.test("a master is looked for at an address with a zone, and at one without a name", async () => {
  for (
    const [address, kind, text] of [
      ["tcp://[fe80::1%nosuch]:4506", "nameless", "fe80::1%nosuch cannot be resolved: "],
      ["tcp://[::1]:1", "unreachable", "cannot connect to tcp://[::1]:1: "],
      ["tcp://127.0.0.1:1", "unreachable", "cannot connect to tcp://127.0.0.1:1: "],
    ]
  ) {
    const reach = await reachOf(address, 10_000);
    assertEquals([reach.kind, reach.text.slice(0, text.length)], [kind, text]);
  }
});

Deno.test("an address that does not react in time is unreachable, and a connection that comes later is closed", async () => {
  // The system drops connections beyond the listener's queue, and lets the caller try again.
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = listener.addr;
  using queued = new DisposableStack();
  const connections: Promise<void>[] = [];
  let full = false;
  while (!full && connections.length < 20) {
    const connecting = Deno.connect({ hostname: "127.0.0.1", port });
    connections.push(connecting.then((one) => void queued.use(one)));
    full = await Promise.race([connecting.then(() => false), sleep(300).then(() => true)]);
  }
  const { kind, text } = await reachOf(`tcp://127.0.0.1:${port}`, 50);
  const expected = `tcp://127.0.0.1:${port} does not react: is the host up, and the port open in its firewall?`;
  assertEquals([kind, text], ["unreachable", expected]);
  const accepted: Deno.TcpConn[] = [];
  for (let n = 0; n <= connections.length; n++) accepted.push(queued.use(await listener.accept()));
  await Promise.all(connections);
  // Those of this test are open; the other one ends.
  const ends = accepted.map((one) => one.read(new Uint8Array(1)).catch(() => 0));
  assertEquals(await Promise.race(ends), null);
  queued.dispose();
  await Promise.all(ends);
});

Deno.test("answers says whether a master answers at all, until its signal ends the question", async () => {
  await using fixture = await start({ script: () => ({ frame }) => frame });
  assertEquals(await fixture.link.answers(fixture.never), true);
  await using silent = await start({ script: () => () => undefined });
  assertEquals(await silent.link.answers(silent.never, 50), false);
  const control = new AbortController();
  const rejection = assertRejects(() => silent.link.answers(control.signal, 60_000));
  control.abort(new Error("it is over"));
  assertEquals((await rejection).message, "it is over");
});
