/**
 * docs/protocol.md says what the code does: its tables of keys, commands and events.
 * @module
 */

import { AUTH_COMMANDS } from "#lib/master/requests/auth_commands.ts";
import { FILE_COMMANDS } from "#lib/master/requests/file_commands.ts";
import { JOB_COMMANDS } from "#lib/master/requests/job_commands.ts";
import { MINION_COMMANDS } from "#lib/master/requests/minion_data.ts";
import { PEER_COMMANDS } from "#lib/master/requests/peer_commands.ts";
import { UNBUILT_COMMANDS } from "#lib/master/requests/unbuilt_commands.ts";
import { decideKey, type Decision, type KeyFacts } from "#lib/keys/rules.ts";
import * as tags from "#lib/protocol/tags.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/protocol.md", import.meta.url));

/** The text under a heading of the second level. */
function section(heading: string): string {
  const [, body] = PAGE.split(`\n## ${heading}\n`);
  assert(body !== undefined, `there is no section "${heading}"`);
  return body.split("\n## ")[0];
}

/** The rows of the first table, each a list of cells, without its head. */
function rowsOf(text: string): string[][] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const end = lines.findIndex((line, i) => i > first && !line.startsWith("|"));
  return lines.slice(first + 2, end).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** The words in code spans of the first cells. */
function named(heading: string): Set<string> {
  const cells = rowsOf(section(heading)).map(([cell]) => cell);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word)));
}

Deno.test("docs/protocol.md names each command of minions that the master answers", () => {
  const tables = [AUTH_COMMANDS, FILE_COMMANDS, JOB_COMMANDS, MINION_COMMANDS, PEER_COMMANDS, UNBUILT_COMMANDS];
  const commands = ["_pillar", ...tables.flatMap((table) => Object.keys(table))];
  const known = new Set(["Commands of minions", "Files", "The mine"].flatMap((heading) => [...named(heading)]));
  assertEquals(commands.filter((command) => !known.has(command)), []);
});

Deno.test("docs/protocol.md names the tag of each event", () => {
  const [jid, id] = ["<jid>", "<id>"];
  const used = [
    ...[tags.jobNew(jid), tags.jobPublish(jid), tags.jobReturn(jid, id), tags.jobStart(jid, id)],
    ...[tags.jobAck(jid, id), tags.jobOutput(jid, id), tags.stateProgress(jid, id, 1).replace(/1$/, "<n>")],
    ...[tags.AUTH_EVENT, tags.KEY_EVENT, tags.ROTATE_EVENT, tags.PRESENCE_CHANGE_EVENT, tags.LEGACY_START_EVENT],
    ...[tags.minionStart(id), tags.minionRefresh(id), tags.batchEvent(jid, "new")],
    ...[tags.functionEvent("runner", jid, "new"), tags.functionEvent("wheel", jid, "new")],
  ];
  const known = named("Events of the master");
  assertEquals(used.filter((tag) => !known.has(tag)), []);
  assert(named("Events on a minion's own bus").has(tags.PILLAR_REFRESHED));
});

/** A key that nothing is known of, and that is usable. */
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

/** What the third column of the table says, as facts. */
const ALSO: Readonly<Record<string, Partial<KeyFacts>>> = {
  "": {},
  "the id is not valid": { validId: false },
  "more than `max_minions`, and not this one": { full: true },
  "`open_mode`": { openMode: true },
  "`autoreject_file` names it": { autoReject: true },
  "nothing signs it": {},
  "signed automatically": { autoSign: true },
};

function storeText(store: Decision["store"]): string {
  return store === undefined ? "" : `${store.key} → ${store.to}`;
}

Deno.test("the table of keys in docs/protocol.md has the decisions of the code", () => {
  const rows = rowsOf(section("Keys and their states"));
  assertEquals(rows.length, 13);
  for (const [stored, presented, also, ret, store, act] of rows) {
    const facts: KeyFacts = {
      ...NEW,
      stored: stored === "any" ? "none" : stored as KeyFacts["stored"],
      sameKey: presented === "the same",
      ...ALSO[also],
    };
    assert(also in ALSO, also);
    const decision = decideKey(facts);
    const word = { true: "`True`", false: "`False`", full: '`"full"`', accepted: "accepted" }[`${decision.ret}`];
    assertEquals(
      [ret, store, act],
      [word, storeText(decision.store), decision.act === undefined ? "" : `\`${decision.act}\``],
      `${stored}, ${presented}, ${also}`,
    );
  }
});
