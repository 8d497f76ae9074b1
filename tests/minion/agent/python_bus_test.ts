/**
 * A minion's bus for Python programs, read and written as Salt's transport does. For the test with Python itself see
 * tests/interop/minion_bus_test.ts.
 * @module
 */

import { MsgpackError } from "#lib/errors.ts";
import { packEvent, stamp, unpackMatching } from "#lib/bus/event.ts";
import { pythonMinionBus } from "#lib/bus/paths.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { Reader } from "#lib/values/msgpack_reader.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

/** Salt's message of an event, behind its length. */
function sent(tag: string, data: Readonly<Record<string, unknown>>): Uint8Array {
  const body = packEvent(tag, stamp(map(data)));
  const content = encode(new Map<string, Value>([["head", new Map()], ["body", body]]), "disk");
  const bytes = new Uint8Array(4 + content.length);
  new DataView(bytes.buffer).setUint32(0, content.length);
  bytes.set(content, 4);
  return bytes;
}

/** The tags of the events that come, up to `tag`. */
async function tagsUntil(connection: Deno.Conn, tag: string): Promise<string[]> {
  const tags: string[] = [];
  let rest = new Uint8Array();
  const part = new Uint8Array(64 * 1024);
  while (!tags.includes(tag)) {
    const count = await connection.read(part);
    assert(count !== null, `the bus ended before ${tag}`);
    rest = Uint8Array.from([...rest, ...part.subarray(0, count)]);
    for (let end = endOfMessage(rest); end > 0; end = endOfMessage(rest)) {
      tags.push(tagOf(decode(rest.subarray(0, end), "disk")));
      rest = rest.slice(end);
    }
  }
  return tags;
}

/** Where the first message ends; 0 if it is not whole. */
function endOfMessage(bytes: Uint8Array): number {
  const reader = new Reader(bytes, { binAsText: false });
  try {
    reader.readValue();
    return reader.position;
  } catch (error) {
    if (error instanceof MsgpackError) return 0;
    throw error;
  }
}

function tagOf(framed: Value): string {
  const body = isMap(framed) ? framed.get("body") : undefined;
  assert(body instanceof Uint8Array);
  return unpackMatching(body, () => true)?.tag ?? "";
}

fleetTest(
  "a Python program hears a minion's events, and the minion acts on its own",
  { minions: ["web1"] },
  async (fleet) => {
    const sock_dir = `${fleet.minionConfigDir("web1")}/var/run/salt/minion`;
    const { pub, pull } = pythonMinionBus({ sock_dir, id: "web1", hash_type: "sha256" });
    // SHA-256 of web1: the name that Salt looks for.
    assertEquals(pub, `${sock_dir}/minion_event_659a7fb2af_pub.ipc`);
    for (const path of [pub, pull]) assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
    using subscriber = await Deno.connect({ transport: "unix", path: pub });
    using sender = await Deno.connect({ transport: "unix", path: pull });
    for (const bytes of [sent("my/tag", { a: 1 }), sent("pillar_refresh", {})]) {
      for (let at = 0; at < bytes.length;) at += await sender.write(bytes.subarray(at));
    }
    const done = "/salt/minion/minion_pillar_refresh_complete";
    const tags = await tagsUntil(subscriber, done);
    assertEquals(tags.filter((tag) => ["my/tag", "pillar_refresh", done].includes(tag)), [
      "my/tag",
      "pillar_refresh",
      done,
    ]);
  },
);
