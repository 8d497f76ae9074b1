import { FileUpdates } from "../../lib/master/file_updates.ts";
import type { ValueMap } from "../../lib/values/value.ts";
import { isMap, map, type Value } from "../../lib/values/value.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";
import { git, makeFileServer } from "../support/file_server.ts";

Deno.test("backends are updated at once and then at their intervals, each remote for itself, until the master ends", async () => {
  // A server that takes connections and says nothing.
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using server = await makeFileServer(map({
    fileserver_backend: ["roots", "gitfs"],
    fileserver_events: true,
    roots_update_interval: 1,
    gitfs_update_interval: 1,
    gitfs_remotes: ["file://{root}/repo"],
  }));
  const remotes: Value[] = [`http://127.0.0.1:${silent.addr.port}/repo`, `file://${server.root}/repo`];
  const opts = { ...server.services.opts, gitfs_remotes: remotes };
  const told: [tag: string, data: ValueMap][] = [];
  const updates = new FileUpdates({
    opts,
    log: server.services.log,
    fire: (tag, data) => Promise.resolve(void told.push([tag, data])),
  });
  const news = (what: string, found: (data: ValueMap) => boolean) =>
    eventually(() => told.splice(0).some(([, data]) => found(data)), { what });
  try {
    await news("the first update of roots", (data) => data.get("backend") === "roots" && data.get("changed") === true);
    Deno.writeTextFileSync(`${server.root}/salt/new.txt`, "new");
    await news("an update that tells of a new file", (data) => {
      const files = data.get("files");
      const added = isMap(files) ? files.get("added") : undefined;
      return Array.isArray(added) && added.includes(`${server.root}/salt/new.txt`);
    });
    const commit =
      `commit refs/heads/later\ncommitter T <t@example.com> 1700000001 +0000\ndata 1\nm\nM 100644 inline n\ndata 1\nn\n`;
    await git(["-C", `${server.root}/repo`, "fast-import", "--quiet"], commit);
    await news("the new branch", (data) => data.get("backend") === "gitfs" && data.get("changed") === true);
    assertEquals(await server.services.files.envs().then((envs) => envs.includes("later")), true);
  } finally {
    await updates.close();
  }
  const after = told.length;
  await updates.close();
  assertEquals(told.length, after);
  assert(server.services.logged.every((line) => !line.startsWith("ERROR")), server.services.logged.join("\n"));
});

Deno.test("a master whose backends need no updates makes none", async () => {
  using server = await makeFileServer();
  const updates = new FileUpdates({
    opts: server.services.opts,
    log: server.services.log,
    fire: () => Promise.reject(new Error("an event")),
  });
  await updates.close();
  assertEquals(server.services.logged, []);
  assertEquals([...Deno.readDirSync(server.services.opts.cachedir)].map(({ name }) => name).includes("roots"), false);
});
