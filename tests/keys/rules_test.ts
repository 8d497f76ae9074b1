/** @module */
import { decideKey, type Decision, KEY_RULES, type KeyFacts } from "#lib/keys/rules.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

function* everything(): Generator<KeyFacts> {
  const both = [false, true];
  const states = ["none", "accepted", "pending", "rejected"] as const;
  for (const validId of both) {
    for (const full of both) {
      for (const openMode of both) {
        for (const autoReject of both) {
          for (const autoSign of both) {
            for (const stored of states) {
              for (const sameKey of both) {
                for (const usable of both) {
                  yield { validId, full, openMode, autoReject, autoSign, stored, sameKey, usable };
                }
              }
            }
          }
        }
      }
    }
  }
}

/** The rules in Salt's order, as steps (`salt/channel/server.py`, `_auth`): `ret`, the stored key, `act`. */
function bySteps(facts: KeyFacts): [Decision["ret"], string, Decision["act"]] {
  const { stored } = facts;
  const deny = [false, "presented to denied", "denied"] as const;
  if (!facts.validId) return [false, "", undefined];
  if (facts.full) return ["full", "", "full"];
  let accepted = "";
  if (facts.openMode) {
    if (!facts.usable) return [false, "", undefined];
    accepted = stored === "accepted" && facts.sameKey ? "" : "presented to accepted";
  } else if (stored === "rejected") {
    return [false, "", "reject"];
  } else if (stored === "accepted") {
    if (!facts.sameKey) return [...deny];
    if (!facts.usable) return [false, "", undefined];
  } else if (stored === "none") {
    if (!facts.usable) return [false, "", undefined];
    if (facts.autoReject) return [false, "presented to rejected", "reject"];
    if (!facts.autoSign) return [true, "presented to pending", "pend"];
    accepted = "presented to accepted";
  } else {
    if (facts.autoReject) return [false, "stored to rejected", "reject"];
    if (!facts.sameKey) return [...deny];
    if (!facts.usable) return [false, "", undefined];
    if (!facts.autoSign) return [true, "", "pend"];
    accepted = "stored to accepted";
  }
  return ["accepted", accepted, "accept"];
}

Deno.test("decideKey() follows the protocol's steps for every combination of facts", () => {
  let combinations = 0;
  for (const facts of everything()) {
    const { ret, store, act } = decideKey(facts);
    assertEquals([ret, store ? `${store.key} to ${store.to}` : "", act], bySteps(facts), JSON.stringify(facts));
    combinations++;
  }
  assertEquals(combinations, 512);
});

Deno.test("every row of the table decides a case that no row above it decides", () => {
  const reached = new Set([...everything()].map(decideKey));
  for (const { when, then } of KEY_RULES) assert(reached.has(then), JSON.stringify(when));
  assertEquals(reached.size, KEY_RULES.length);
});

const NEW: KeyFacts = {
  validId: true,
  full: false,
  openMode: false,
  autoReject: false,
  autoSign: false,
  stored: "none",
  sameKey: false,
  usable: true,
};

const CASES: [string, Partial<KeyFacts>, Omit<Decision, "because">][] = [
  ["a new key waits", {}, { ret: true, act: "pend", store: { key: "presented", to: "pending" } }],
  ["a waiting key goes on waiting", { stored: "pending", sameKey: true }, { ret: true, act: "pend" }],
  ["an accepted key gets in", { stored: "accepted", sameKey: true }, { ret: "accepted", act: "accept" }],
  [
    "another key under an accepted id is denied, auto_accept or not",
    { stored: "accepted", autoSign: true },
    { ret: false, act: "denied", store: { key: "presented", to: "denied" } },
  ],
  [
    "another key under a pending id is denied, auto_accept or not",
    { stored: "pending", autoSign: true },
    { ret: false, act: "denied", store: { key: "presented", to: "denied" } },
  ],
  ["a rejected id stays out, auto_accept or not", { stored: "rejected", autoSign: true }, {
    ret: false,
    act: "reject",
  }],
  [
    "autoreject_file wins over auto_accept",
    { autoReject: true, autoSign: true },
    { ret: false, act: "reject", store: { key: "presented", to: "rejected" } },
  ],
  ["autoreject_file does not touch an accepted key", { autoReject: true, stored: "accepted", sameKey: true }, {
    ret: "accepted",
    act: "accept",
  }],
  [
    "auto_accept lets a waiting key in",
    { stored: "pending", sameKey: true, autoSign: true },
    { ret: "accepted", act: "accept", store: { key: "stored", to: "accepted" } },
  ],
  [
    "open mode lets a rejected id in",
    { openMode: true, stored: "rejected" },
    { ret: "accepted", act: "accept", store: { key: "presented", to: "accepted" } },
  ],
  ["open mode still counts connections", { openMode: true, full: true }, { ret: "full", act: "full" }],
  ["an invalid id is refused before all else, and silently", { validId: false, full: true }, { ret: false }],
];
for (const [name, facts, expected] of CASES) {
  Deno.test(name, () => {
    const { because, ...decision } = decideKey({ ...NEW, ...facts });
    assertEquals(decision, expected);
    assert(because);
  });
}
