import { ConfigError } from "../../lib/errors.ts";
import { gitfsRemotes } from "../../lib/git_remotes/remote_options.ts";
import { minionCommand } from "../../lib/master/minion_commands.ts";
import { gunzip } from "../../lib/values/gzip.ts";
import { decode, encode } from "../../lib/values/msgpack.ts";
import { isMap, map, repr, type Value } from "../../lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { makeFileServer, placed, SALT_FILES, SALT_OPTIONS } from "../support/file_server.ts";
import { testServices } from "../support/services.ts";
import { fromTyped } from "../support/typed_values.ts";

for (const { name, opts, loads } of [...SALT_FILES.worlds, ...SALT_OPTIONS.worlds]) {
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
    // A remote that is not there is told of.
    const errors = server.services.logged.filter((line) => line.startsWith("ERROR") && !line.includes("/none"));
    assertEquals(errors, []);
  });
}

Deno.test("remotes with which Salt's gitfs does not start are refused in the same words", async () => {
  using services = await testServices();
  for (const [remotes, told] of SALT_OPTIONS.refused) {
    const gitfs_remotes = placed(fromTyped(remotes), "{root}", "/srv");
    assert(Array.isArray(gitfs_remotes));
    const refused = () => gitfsRemotes({ ...services.opts, gitfs_remotes }, () => {});
    // Which parameters are valid depends on Salt's provider.
    for (const words of told) assertThrows(refused, ConfigError, words.replaceAll("{root}", "/srv").split(" Valid")[0]);
  }
});

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
