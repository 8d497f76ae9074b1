/**
 * Decides about the key in an `_auth` request: all rules of acceptance in one table. Pure: other code gathers the
 * facts and carries out the decision. The first row whose conditions all hold decides.
 * Source: docs/protocol.md "Keys and their states"; Salt's `_auth` of 3006 and 3008.
 * @module
 */

/** The facts for the decision. */
export interface KeyFacts {
  /** Whether the id is valid. */
  readonly validId: boolean;
  /** Whether more than `max_minions` are connected, and this id is not one of them. */
  readonly full: boolean;
  /** The option `open_mode`: every key is accepted. */
  readonly openMode: boolean;
  /** Whether `autoreject_file` names the id. */
  readonly autoReject: boolean;
  /** Whether `auto_accept`, `autosign_file`, a stub or a grain accepts the id. */
  readonly autoSign: boolean;
  /** The state of the stored key of this id. Denied keys are ignored. */
  readonly stored: "accepted" | "pending" | "rejected" | "none";
  /** Whether the presented key is the stored one, apart from line ends. */
  readonly sameKey: boolean;
  /** Whether the presented key is an RSA key that a reply can be encrypted with. */
  readonly usable: boolean;
}

/** The `act` of `salt/auth` events. */
export type AuthAct = "accept" | "pend" | "reject" | "denied" | "full";

/** The actions that follow. */
export interface Decision {
  /** The `ret` of the reply; `"accepted"`: a reply with the keys. */
  readonly ret: boolean | "full" | "accepted";
  /** The change of the store: put the presented key into a state, or move the stored key there. */
  readonly store?: {
    readonly key: "presented" | "stored";
    readonly to: "accepted" | "pending" | "rejected" | "denied";
  };
  /**
   * The `act` of the `salt/auth` event; without it no event is fired. The event's `result` is false if `ret` is false
   * or `"full"`, else true.
   */
  readonly act?: AuthAct;
  /** The reason, for the log. */
  readonly because: string;
}

/** A row of the table: conditions and decision. */
export interface KeyRule {
  /** Facts that must hold; others are not checked. */
  readonly when: Partial<KeyFacts>;
  readonly then: Decision;
}

const present = (to: "accepted" | "pending" | "rejected" | "denied") => ({ key: "presented", to }) as const;
const store = (to: "accepted" | "rejected") => ({ key: "stored", to }) as const;

/**
 * The table. One difference to Salt: Salt stores an empty or corrupt key and fails when it uses it; here it is refused
 * at once, so every pending key can be accepted.
 */
export const KEY_RULES: readonly KeyRule[] = [
  { when: { validId: false }, then: { ret: false, because: "invalid id" } },
  { when: { full: true }, then: { ret: "full", act: "full", because: "max_minions are connected" } },

  {
    when: { openMode: true, usable: false },
    then: { ret: false, because: "the key is empty or corrupt" },
  },
  {
    when: { openMode: true, stored: "accepted", sameKey: true },
    then: { ret: "accepted", act: "accept", because: "open mode, known key" },
  },
  {
    when: { openMode: true },
    then: { ret: "accepted", store: present("accepted"), act: "accept", because: "open mode, new key" },
  },

  { when: { stored: "rejected" }, then: { ret: false, act: "reject", because: "the key of this id is rejected" } },

  {
    when: { stored: "accepted", sameKey: false },
    then: {
      ret: false,
      store: present("denied"),
      act: "denied",
      because: "not the accepted key of this id: a minion that was set up again, or another host",
    },
  },
  {
    when: { stored: "accepted", usable: false },
    then: { ret: false, because: "the accepted key is empty or corrupt" },
  },
  { when: { stored: "accepted" }, then: { ret: "accepted", act: "accept", because: "accepted key" } },

  {
    when: { stored: "none", usable: false },
    then: { ret: false, because: "the key is empty or corrupt" },
  },
  {
    when: { stored: "none", autoReject: true },
    then: { ret: false, store: present("rejected"), act: "reject", because: "new key, named by autoreject_file" },
  },
  {
    when: { stored: "none", autoSign: false },
    then: { ret: true, store: present("pending"), act: "pend", because: "new key" },
  },
  {
    when: { stored: "none" },
    then: { ret: "accepted", store: present("accepted"), act: "accept", because: "new key, signed automatically" },
  },

  {
    when: { stored: "pending", autoReject: true },
    then: { ret: false, store: store("rejected"), act: "reject", because: "pending key, named by autoreject_file" },
  },
  {
    when: { stored: "pending", sameKey: false },
    then: {
      ret: false,
      store: present("denied"),
      act: "denied",
      because: "not the pending key of this id: a minion that was set up again, or another host",
    },
  },
  {
    when: { stored: "pending", usable: false },
    then: { ret: false, because: "the pending key is empty or corrupt" },
  },
  {
    when: { stored: "pending", autoSign: false },
    then: { ret: true, act: "pend", because: "the key waits to be accepted" },
  },
  {
    when: { stored: "pending" },
    then: { ret: "accepted", store: store("accepted"), act: "accept", because: "pending key, signed automatically" },
  },
];

const FACTS: readonly (keyof KeyFacts)[] = [
  "validId",
  "full",
  "openMode",
  "autoReject",
  "autoSign",
  "stored",
  "sameKey",
  "usable",
];

/** The decision for these facts: the first row of {@linkcode KEY_RULES} that fits. */
export function decideKey(facts: KeyFacts): Decision {
  const rule = KEY_RULES.find(({ when }) => fits(when, facts));
  // For each `stored`, the last row has no other condition.
  if (rule === undefined) throw new Error(`No rule for ${JSON.stringify(facts)}`);
  return rule.then;
}

function fits(when: Partial<KeyFacts>, facts: KeyFacts): boolean {
  return FACTS.every((fact) => when[fact] === undefined || when[fact] === facts[fact]);
}
