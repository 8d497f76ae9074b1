/**
 * The tables of minions' keys of a simulated cluster, and the statements on them. Nobody has data of minions there.
 * @module
 */

import { type Answer, given, type KeyTableRow, type ModelTables, type Parameters_, type Statement } from "./tables.ts";
import { world } from "#tests/simulation/world/world.ts";

/** Statements by what only they contain. */
export const KEY_STATEMENTS: readonly Statement[] = [
  [/^select n from salt\.key_generation/, ({ keyGeneration }) => given({ n: String(keyGeneration) })],
  [/^update salt\.key_generation set n/, setGeneration],
  [/^select minion, state, pem.* where minion = any/s, keysOfMinions],
  [/^select minion, state, pem.* where generation > \$1/s, keysAfter],
  [/^select distinct minion from salt\.minion_keys/, knownMinions],
  [/^insert into salt\.minion_keys/, writeKeys],
  [/^update salt\.masters set keys_seen/, noteSeen],
  [/^select name from salt\.masters where until > now\(\) and coalesce\(keys_seen, 0\) </, mastersBehind],
  [/^delete from salt\.bank /, () => given()],
  [/^with recursive o\(origin\)/, () => given()],
  [/^select last_value as last from salt\.bank_seq/, () => given({ last: "0" })],
];

function setGeneration(tables: ModelTables, [n]: Parameters_): Answer {
  tables.keyGeneration = Number(n);
  return given();
}

function asGiven(rows: readonly KeyTableRow[]): Answer {
  const sorted = rows.toSorted((a, b) =>
    a.generation - b.generation || (`${a.minion} ${a.state}` < `${b.minion} ${b.state}` ? -1 : 1)
  );
  return given(...sorted.map((row) => ({ ...row, generation: String(row.generation), at: String(row.at) })));
}

function keysOfMinions({ keys }: ModelTables, [minions]: Parameters_): Answer {
  return asGiven([...keys.values()].filter(({ minion }) => (minions as string[]).includes(minion)));
}

function keysAfter({ keys }: ModelTables, [above, upTo]: Parameters_): Answer {
  return asGiven(
    [...keys.values()].filter(({ generation }) => generation > Number(above) && generation <= Number(upTo)),
  );
}

function knownMinions({ keys }: ModelTables, [minions]: Parameters_): Answer {
  const known = new Set([...keys.values()].map(({ minion }) => minion));
  return given(...(minions as string[]).filter((id) => known.has(id)).map((minion) => ({ minion })));
}

function writeKeys({ keys }: ModelTables, parameters: Parameters_): Answer {
  const [minions, states, pems, prints, generations, times, bys, macs] = parameters as [
    string[],
    string[],
    (string | null)[],
    (string | null)[],
    number[],
    number[],
    string[],
    string[],
  ];
  minions.forEach((minion, i) =>
    keys.set(`${minion} ${states[i]}`, {
      minion,
      state: states[i],
      pem: pems[i],
      fingerprint: prints[i],
      generation: generations[i],
      at: times[i],
      by: bys[i],
      mac: Uint8Array.fromBase64(macs[i]),
    })
  );
  return given();
}

function noteSeen({ members }: ModelTables, [seen, origin, incarnation]: Parameters_): Answer {
  const row = members.get(Number(origin));
  if (row?.incarnation === incarnation) row!.keysSeen = Number(seen);
  return given();
}

function mastersBehind({ members }: ModelTables, [generation]: Parameters_): Answer {
  const behind = [...members.values()].filter(({ untilMs, keysSeen = 0 }) =>
    untilMs > world().nowMs && keysSeen < Number(generation)
  );
  return given(...behind.map(({ name }) => ({ name })));
}
