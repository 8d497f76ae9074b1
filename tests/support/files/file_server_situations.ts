/**
 * Asks our file server what Salt's was asked in the worlds of tests/corpus/file_server.json and file_server_options.json. Each idea
 * has a test file of its own, and each world belongs to one idea.
 * @module
 */

import { assert, assertEquals } from "../assert.ts";
import { makeFileServer, placed, SALT_FILES, SALT_OPTIONS, type World } from "./file_server.ts";
import { fromTyped } from "../typed_values.ts";
import { minionCommand } from "../../../lib/master/minion_commands.ts";
import { gunzip } from "../../../lib/values/gzip.ts";
import { decode, encode } from "../../../lib/values/msgpack.ts";
import { isMap, map, repr, type Value } from "../../../lib/values/value.ts";

/** By idea what the names of its worlds have in common; the first that fits counts, and `gitfs: refs` takes what is left. */
const IDEAS = {
  "roots and minionfs": /^(?!gitfs|pushed)|^gitfs behind roots/,
  "gitfs": /^(gitfs,|pushed)/,
  "gitfs: places": /directory|mount point|slash/,
  "gitfs: choices": /fallback|list\b|without mapping|no mapping|all environments/,
  "gitfs: base": /base\b/,
  "gitfs: refs": /^gitfs options, /,
} as const satisfies Readonly<Record<string, RegExp>>;

/** What a file of tests is about. */
export type Idea = keyof typeof IDEAS;

function ideaOf({ name }: World): string | undefined {
  return Object.entries(IDEAS).find(([, names]) => names.test(name))?.[0];
}

/** Registers a test for each world of an idea. @throws {Error} If a world belongs to none. */
export function testWorlds(idea: Idea): void {
  for (const world of [...SALT_FILES.worlds, ...SALT_OPTIONS.worlds]) {
    const own = ideaOf(world);
    if (own === undefined) throw new Error(`No idea takes the world "${world.name}"`);
    if (own === idea) Deno.test(`the file server answers as Salt's: ${world.name}`, () => assertAnswers(world));
  }
}

async function assertAnswers({ opts, loads }: World): Promise<void> {
  using server = await makeFileServer(fromTyped(opts));
  for (const [load, reply] of loads) {
    const sent = placed(fromTyped(load), "{root}", server.root);
    assert(isMap(sent));
    const { value } = await minionCommand(new Map([...sent, ["id", "m1"]]), "m1", server.services);
    assertEquals(
      repr(placed(await shown(value), server.root, "{root}")),
      repr(fromTyped(reply)),
      repr(fromTyped(load)),
    );
  }
  // A remote that is not there is told of.
  const errors = server.services.logged.filter((line) => line.startsWith("ERROR") && !line.includes("/none"));
  assertEquals(errors, []);
}

/** A reply as a minion reads it, without what differs from host to host. */
async function shown(reply: Value): Promise<Value> {
  const data = isMap(reply) ? reply.get("data") : undefined;
  const plain = isMap(reply) && reply.has("gzip") && data instanceof Uint8Array
    ? map({ ...Object.fromEntries(reply), data: await gunzip(new Uint8Array(data)) })
    : reply;
  const read = decode(encode(plain, "wire"), "wire");
  const stat = isMap(read) ? read.get("stat") : Array.isArray(read) && read.length === 2 ? read[1] : undefined;
  if (isMap(read) && read.get("back") === "gitfs") read.set("path", "in the cache");
  if (Array.isArray(stat) && stat.length === 10) {
    for (const i of [1, 2, 3, 4, 5, 7, 9]) stat[i] = 0;
  }
  return read;
}
