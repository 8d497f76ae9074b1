/**
 * Target: the topics by which subscribers of port 4505 announce their presence.
 * @module
 */

import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { PresenceBook, presenceTopic } from "#lib/fleet/presence.ts";
import { mutateBytes, mutateText, NASTY_TEXTS } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";

export const presence: FuzzTarget = {
  name: "presence",
  share: 5,
  refusals: [],
  open() {
    const keys = { sessionKey: generateKeyString(), sharedKey: generateKeyString() };
    const book = new PresenceBook({
      sessionKeys: (id) => id === "web1" ? [keys.sessionKey] : [],
      sharedKey: () => keys.sharedKey,
    });
    const frame = (first: number, topic: string) => Uint8Array.from([first, ...new TextEncoder().encode(topic)]);
    return {
      feed(random, note) {
        const valid = presenceTopic("web1", keys);
        const topic = random.chance(0.5)
          ? mutateText(random, valid, ["/", "salt/present/", ...NASTY_TEXTS])
          : presenceTopic(random.pick(NASTY_TEXTS), keys);
        const whole = frame(random.pick([0, 1, 1, 2]), topic);
        const sent = random.chance(0.05)
          ? frame(random.int(2), valid)
          : random.chance(0.5)
          ? mutateBytes(random, whole)
          : whole;
        note(sent);
        const change = book.receive(sent, 0);
        hold(
          change === undefined || new TextDecoder().decode(sent.subarray(1)) === valid,
          "somebody is taken for web1",
        );
        if (change === undefined) return "nobody";
        book.receive(frame(0, valid), 0);
        hold(book.receive(frame(1, valid), 0) === undefined, "a topic that was used is good again");
        return "web1";
      },
      checkService() {
        const valid = presenceTopic("web1", keys);
        book.receive(frame(1, valid), 0);
        hold([...book.since.keys()].join() === "web1", `present: ${[...book.since.keys()]}`);
        book.receive(frame(0, valid), 0);
        hold(![...book.since].length, "nobody leaves");
      },
      close() {},
    };
  },
};
