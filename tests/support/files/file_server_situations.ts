/**
 * Sends our file server the requests that Python Salt's was sent, for each configuration of
 * tests/corpus/file_server.json and file_server_options.json. Each topic has its own test file, and each configuration
 * belongs to one topic.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { type FileServerCase, makeFileServer, placed, SALT_FILES, SALT_OPTIONS } from "./file_server.ts";
import { fromTyped } from "#tests/support/typed_values.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { gunzip } from "#lib/values/gzip.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, repr, type Value } from "#lib/values/value.ts";

/** The pattern of configuration names by topic. The first match counts; `gitfs: refs` gets the rest. */
const IDEAS = {
  "roots and minionfs": /^(?!gitfs|pushed)|^gitfs behind roots/,
  "gitfs": /^(gitfs,|pushed)/,
  "gitfs: places": /directory|mount point|slash/,
  "gitfs: choices": /fallback|list\b|without mapping|no mapping|all environments/,
  "gitfs: base": /base\b/,
  "gitfs: refs": /^gitfs options, /,
} as const satisfies Readonly<Record<string, RegExp>>;

/** The topic of a test file. */
export type Idea = keyof typeof IDEAS;

function ideaOf({ name }: FileServerCase): string | undefined {
  return Object.entries(IDEAS).find(([, names]) => names.test(name))?.[0];
}

/**
 * Registers a test for each configuration of a topic.
 * @throws {Error} If a configuration belongs to no topic.
 */
export function testFileServerCases(idea: Idea): void {
  for (const testCase of [...SALT_FILES.worlds, ...SALT_OPTIONS.worlds]) {
    const own = ideaOf(testCase);
    if (own === undefined) throw new Error(`No topic matches the configuration "${testCase.name}"`);
    if (own === idea) Deno.test(`the file server answers as Salt's: ${testCase.name}`, () => assertAnswers(testCase));
  }
}

async function assertAnswers({ opts, loads }: FileServerCase): Promise<void> {
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
  // A missing remote is logged as an error.
  const errors = server.services.logged.filter((line) => line.startsWith("ERROR") && !line.includes("/none"));
  assertEquals(errors, []);
}

/** A reply as a minion decodes it, without the fields that differ from host to host. */
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
