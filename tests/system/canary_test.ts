/**
 * Searches for the secrets of a running fleet in everything that it writes: logs of level all, events, caches, and the
 * output of its programs.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { packEvent } from "#lib/bus/event.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { filesBelow, ifThere } from "#tests/support/tree.ts";

const LOG_ALL = { log_level_logfile: "all" };

/** A part of a PEM's base64 that no other key contains. */
function middleLine(pem: string): string {
  const lines = pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
  return lines[Math.floor(lines.length / 2)];
}

/** The bytes as text, one character for each, so that any text can be searched in them. */
const latin = new TextDecoder("latin1");

Deno.test("no key of a fleet is in a log, an event, a cache, or the output of a program", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1, master: LOG_ALL, minion: LOG_ALL });
  const { masterOpts, root } = fleet;
  using events = await EventSubscriber.connect(masterBus(masterOpts.sock_dir).pub, [""]);

  // A minion of the test that exposes the AES key it receives: this shared key is in no file.
  const spyKey = await testKey("spy");
  new KeyStore(masterOpts.pki_dir).put("spy", "accepted", spyKey.publicKey.pem);
  using channel = new RequestChannel(`tcp://127.0.0.1:${masterOpts.ret_port}`);
  const spy = new ScriptedMinion("spy", spyKey, (frame) => channel.request(frame, { timeoutMs: 10_000, tries: 1 }));
  const { inner } = await spy.signIn();
  const open = (field: string) =>
    new TextDecoder().decode(spyKey.decrypt("OAEP-SHA1", asBytes(inner.get(field)) ?? new Uint8Array()));

  let printed = "";
  for (
    const words of [
      ["salt", "-l", "all", "m00", "test.ping"],
      ["salt", "-l", "all", "m00", "test.exception", "boom"],
      ["salt", "-l", "all", "m00", "nonesuch.function"],
      ["salt", "-l", "all", "m00", "config.items"],
      ["salt", "-l", "all", "m00", "grains.items"],
      ["salt-run", "-l", "all", "jobs.list_jobs"],
      ["salt-key", "-L"],
    ] as const
  ) {
    const [program, ...rest] = words;
    const ran = await fleet.salt(program, ...rest);
    printed += ran.out + ran.err;
  }
  // Requests that fail: the messages about them must not contain their content.
  await spy.send(spy.seal({ cmd: "_return", jid: "x" }, { inner: { tok: new Uint8Array(256) } }));
  await spy.send(spy.seal({}, {}));

  const read = (path: string) => Deno.readTextFileSync(path);
  const pki = {
    master: `${root}/master/etc/salt/pki/master/master.pem`,
    minion: `${root}/m00/etc/salt/pki/minion/minion.pem`,
  };
  const own = [
    accessKeyPath(masterOpts.cachedir, "root"),
    `${masterOpts.cachedir}/sessions/m00`,
    `${masterOpts.cachedir}/sessions/spy`,
  ];
  const secrets = new Map([
    ["the master's private key", middleLine(read(pki.master))],
    ["the minion's private key", middleLine(read(pki.minion))],
    ["the operator's key", read(own[0])],
    ["a session key", read(own[1])],
    ["another session key", open("session")],
    ["the shared key", open("aes")],
  ]);
  assertEquals(secrets.get("another session key"), read(own[2]));
  let received = "";
  for (let event = await events.next(500); event !== undefined; event = await events.next(500)) {
    received += latin.decode(packEvent(event.tag, event.data));
  }
  const written: [string, string][] = [["what the programs print", printed], ["events", received]];
  for (const path of filesBelow(root)) {
    if (path === pki.master || path === pki.minion || own.includes(path)) continue;
    const bytes = ifThere(() => Deno.readFileSync(path));
    if (bytes !== undefined) written.push([path, latin.decode(bytes)]);
  }
  assert(received.includes("salt/job/") && printed.includes("m00"));
  assert(fleet.log("master").length > 1_000 && fleet.log("m00").length > 500);
  const leaks = written.flatMap(([where, text]) =>
    [...secrets].filter(([, secret]) => secret.length >= 40 && text.includes(secret)).map(([what]) =>
      `${what} in ${where}`
    )
  );
  assertEquals(leaks, []);
  assertEquals([...secrets.values()].filter((secret) => secret.length < 40), []);
});
