/**
 * Requests to the master of a fleet, over sockets of the test.
 * @module
 */

import { clearRequest } from "#lib/protocol/payload.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import type { Fleet } from "./fleet.ts";
import { asMap, makeNonce, opened, ScriptedMinion } from "./scripted_minion.ts";

/** Far above the time that these tests need, also on a busy machine. */
export const BOUND_MS = 60_000;

/** The address at which the master takes requests. */
export const requestAddress = ({ masterOpts }: Fleet): string => `tcp://${masterOpts.interface}:${masterOpts.ret_port}`;

/** A channel of requests to the master. */
export function openChannel(fleet: Fleet): RequestChannel {
  return new RequestChannel(requestAddress(fleet));
}

/** A minion whose requests the test writes. */
export function scripted(fleet: Fleet, id: string, key: ScriptedMinion["key"]): ScriptedMinion {
  return new ScriptedMinion(id, key, async (frame) => {
    using channel = openChannel(fleet);
    return await channel.request(frame, { timeoutMs: BOUND_MS, tries: 1 });
  });
}

/** What the master publishes, from now on. */
export function subscribe(fleet: Fleet): Inbox {
  const inbox = Inbox.subscriber({ highWaterMark: 0, reconnectMs: 20 });
  inbox.subscribe("");
  inbox.connect(`tcp://127.0.0.1:${fleet.masterOpts.publish_port}`);
  return inbox;
}

/** Asks the master for an answer, `tries` times. */
export async function ping(fleet: Fleet, tries = 1): Promise<void> {
  using channel = openChannel(fleet);
  const nonce = makeNonce();
  const reply = await channel.request(clearRequest(map({ cmd: "ping", nonce })), {
    timeoutMs: BOUND_MS / tries,
    tries,
  });
  assertEquals(asMap(opened(reply)).get("nonce"), nonce);
}
