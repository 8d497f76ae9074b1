import { FileUpdates } from "#lib/master/daemon/file_updates.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { configuredPillarRepositories } from "#lib/files/git/pillar_updates.ts";
import type { ValueMap } from "#lib/values/value.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { git, makeFileServer, makeRepository } from "#tests/support/files/file_server.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

Deno.test("backends are updated at once and then at their intervals, each remote separately, until the master ends", async () => {
  // A server that accepts connections and sends nothing.
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
  const events: [tag: string, data: ValueMap][] = [];
  const updates = new FileUpdates({
    backends: BACKENDS,
    opts,
    log: server.services.log,
    fire: (tag, data) => Promise.resolve(void events.push([tag, data])),
  });
  const news = (what: string, matches: (data: ValueMap) => boolean) =>
    eventually(() => events.splice(0).some(([, data]) => matches(data)), { what });
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
  const after = events.length;
  await updates.close();
  assertEquals(events.length, after);
  assert(server.services.logged.every((line) => !line.startsWith("ERROR")), server.services.logged.join("\n"));
});

Deno.test("git pillar repositories are fetched at once and then at their interval; a failing one is named in the log", async () => {
  using server = await makeFileServer();
  await makeRepository(`${server.root}/repo`);
  const { opts, log, logged } = server.services;
  const branch = (name: string) => git(["-C", `${server.root}/repo`, "branch", name]);
  await branch("pillar");
  const remotes = [`pillar file://${server.root}/repo`, `pillar file://${server.root}/nowhere`];
  const ext_pillar: Value[] = [map({ git: remotes })];
  const updates = new FileUpdates({
    backends: BACKENDS,
    opts: { ...opts, ext_pillar, git_pillar_update_interval: 1, fileserver_interval: 1 },
    log,
    fire: () => Promise.reject(new Error("an event")),
  });
  const [remote] = configuredPillarRepositories(optsValues({ ...opts, ext_pillar }));
  const isKnown = (name: string) =>
    eventually(async () => (await remote.refs()).has(`refs/remotes/origin/${name}`), { what: `the branch ${name}` });
  try {
    await isKnown("pillar");
    await branch("later");
    await isKnown("later");
    const message = `The git_pillar remote '${remotes[1]}' cannot be updated`;
    await eventually(() => logged.some((line) => line.includes(message)), {
      what: "a word on the one that is not there",
    });
  } finally {
    await updates.close();
  }
});

Deno.test("a master whose backends need no updates starts none", async () => {
  using server = await makeFileServer();
  const updates = new FileUpdates({
    backends: BACKENDS,
    opts: server.services.opts,
    log: server.services.log,
    fire: () => Promise.reject(new Error("an event")),
  });
  await updates.close();
  assertEquals(server.services.logged, []);
  assertEquals([...Deno.readDirSync(server.services.opts.cachedir)].map(({ name }) => name).includes("roots"), false);
});
