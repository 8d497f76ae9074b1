import { minionCommand } from "../../lib/master/minion_commands.ts";
import { gunzip } from "../../lib/values/gzip.ts";
import { decode, encode } from "../../lib/values/msgpack.ts";
import { isMap, map, repr, type Value } from "../../lib/values/value.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { makeFileServer, placed, SALT_FILES } from "../support/file_server.ts";
import { fromTyped } from "../support/typed_values.ts";

for (const { name, opts, loads } of SALT_FILES.worlds) {
  Deno.test(`the file server answers as Salt's: ${name}`, async () => {
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
    assertEquals(server.services.logged.filter((line) => line.startsWith("ERROR")), []);
  });
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
