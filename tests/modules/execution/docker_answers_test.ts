/**
 * The module `docker` with an engine of this test, whose answers a real one gives seldom: it breaks off, says nothing,
 * or says what cannot be read.
 * @module
 */

import { throughProgram } from "#modules/execution/docker/archives.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { run } from "#tests/support/processes.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { withAnswers } from "./docker_answers.ts";

/** An answer of the engine that it could not do it. */
const failed = () => Response.json({ message: "no space left" }, { status: 500 });
/** An answer that differs from the second time on. */
function bodiesInTurn(...bodies: readonly unknown[]): () => Response {
  let count = 0;
  return () => Response.json(bodies[Math.min(count++, bodies.length - 1)]);
}

/** An answer that breaks off after its beginning. */
function brokenOff(): Response {
  let isBegun = false;
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (isBegun) controller.error(new Error("the engine has ended"));
        else controller.enqueue(new Uint8Array(1000));
        isBegun = true;
      },
    }),
  );
}

const lines = (...messages: readonly unknown[]) => messages.map((one) => JSON.stringify(one)).join("\n");

Deno.test("docker.export: what was there stays if there is no container, and half an archive is removed", () =>
  withAnswers({ "GET /containers/broken/export": brokenOff }, async (context, root) => {
    const path = `${root}/old.tar.gz`;
    const exported = async (name: string) =>
      str(await resultOrError(context, "docker.export", [name, path], { overwrite: true }));
    Deno.writeTextFileSync(path, "old");
    assertMatch(await exported("none"), /Error occurred during container export: .*No such thing/);
    assertEquals(Deno.readTextFileSync(path), "old");
    // The program that compresses reads from an engine that is gone: an error of this job, not of the whole process.
    assertMatch(
      await exported("broken"),
      /Error occurred during container export: Docker's engine at .* does not answer/,
    );
    assertEquals([...Deno.readDirSync(root)].map(({ name }) => name).includes("old.tar.gz"), false);
    assertEquals(context.children.map(({ state }) => state), ["started", "ended"]);
    for (const [given, reason] of [["x.tar", /is not absolute/], [`${root}/no/x.tar`, /Use makedirs=True/]] as const) {
      assertMatch(str(await resultOrError(context, "docker.export", ["none", given])), reason);
    }
    assertMatch(
      str(await resultOrError(context, "docker.export", ["none", `${root}/new/x.tar`], { makedirs: true })),
      /No such thing/,
    );
    assertEquals(Deno.statSync(`${root}/new`).isDirectory, true);
  }));

Deno.test("a program that fails while it has input fails the archive", async () => {
  const context = testContext({ signal: new AbortController().signal });
  const much = Array.from({ length: 100 }, () => new Uint8Array(64 << 10));
  const read = (program: string, args: readonly string[], input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) =>
    Array.fromAsync(throughProgram(program, args, input, context));
  await assertRejects(() => read("tar", ["-c", "-C", "/nonexistent", "-T", "-"], much), Error, "tar ended with 2");
  const failing = async function* () {
    yield new Uint8Array(5);
    throw new Error("no more input");
  };
  await assertRejects(() => read("cat", [], failing()), Error, "no more input");
  assertEquals((await read("cat", [], [new Uint8Array(5)])).map(({ length }) => length), [5]);
  assertEquals(context.children.filter(({ state }) => state === "ended").length, 3);
});

/** An nsenter that starts the program on this host. */
const NSENTER = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
`;

Deno.test("docker.copy_to gives a program in the container any bytes, also by nsenter", () =>
  withAnswers(
    { "GET /containers/box/json": JSON.stringify({ State: { Running: true, Pid: 42 } }) },
    async (context, root) => {
      Deno.mkdirSync(`${root}/bin`);
      Deno.writeTextFileSync(`${root}/bin/nsenter`, NSENTER, { mode: 0o755 });
      using _path = new SearchPath(`${root}/bin`);
      const bytes = Uint8Array.from({ length: 512 }, (_, i) => i % 256);
      Deno.writeFileSync(`${root}/file`, bytes);
      const copy = () =>
        resultOrError(context, "docker.copy_to", ["box", `${root}/file`, `${root}/copy`], { exec_driver: "nsenter" });
      assertEquals(await copy(), true);
      assertEquals(Deno.readFileSync(`${root}/copy`), bytes);
    },
  ));

Deno.test("docker: answers of an engine that say nothing, or cannot be read, are errors", () =>
  withAnswers({
    "GET /images/json": "[]",
    "GET /images/search": "[]",
    "POST /commit": "{}",
    "POST /images/create": "",
    "POST /images/silent/push": "",
    "POST /images/odd/push": "no JSON",
    "POST /build": lines({ stream: "Step 1" }, { errorDetail: { code: 2, message: "it failed" } }),
    "GET /images/here/json": JSON.stringify({ Id: "sha256:aa" }),
    "GET /containers/idle/json": JSON.stringify({ State: { Running: true, Pid: 0 } }),
  }, async (context, root) => {
    const refused: readonly (readonly [string, readonly Value[], Record<string, Value>, RegExp])[] = [
      ["commit", ["box", "own"], {}, /No image ID was returned in API response/],
      ["pull", ["own:1"], {}, /Pull failed for own:1, no response returned from Docker API/],
      ["push", ["silent"], {}, /Push failed for silent, no response returned from Docker API/],
      ["push", ["odd"], {}, /Unable to interpret API event: 'no JSON'/],
      ["search", ["nothing"], {}, /No images matched the search string 'nothing'/],
      ["import", ["http://h/x", "own"], {}, /Import failed for http:\/\/h\/x$/],
      ["build", [root, "own", "1"], {}, /Build failed for .*Error\(s\) follow:\n\n2: it failed/],
      ["build", [root], { fileobj: "x" }, /fileobj is an object of Python/],
      ["build", [root, null, "1"], {}, /both a repository and tag are required/],
      ["build", [], {}, /Either path or fileobj needs to be provided/],
      ["build", [`${root}/none`], {}, /You must specify a directory to build in path/],
      ["logs", ["box"], { stream: true }, /The 'stream' argument is not supported/],
      ["logs", ["box"], { since: "yesterday?" }, /since is neither a date nor a number of seconds: yesterday\?/],
      ["run", ["box", "id"], { use_vt: true }, /use_vt is not supported/],
      ["run", ["idle", "id"], { exec_driver: "nsenter" }, /Container 'idle' is not running/],
      ["copy_from", ["idle", "/a", "dest"], {}, /Destination path must be absolute/],
      ["copy_from", ["idle", "/a", "/dev/null"], {}, /\/dev\/null already exists\. Use overwrite=True/],
      ["copy_to", ["idle", "/dev/null", "/b"], {}, /Source must be a regular file/],
      ["copy_from", ["idle", "/a", `${root}/no/b`], {}, /Directory .*\/no does not exist/],
      ["copy_from", ["idle", "a", `${root}/b`], {}, /Source path must be absolute/],
      ["copy_to", ["idle", `${root}/none`, "/b"], {}, /Source file .*\/none does not exist/],
      ["copy_to", ["idle", root, "/b"], {}, /Source must be a regular file/],
      ["copy_to", ["idle", "salt://none", "/b"], {}, /Unable to cache salt:\/\/none/],
      ["create_network", ["net"], { nosuch: 1 }, /takes no argument 'nosuch'/],
      ["run_container", ["own"], { networks: 5 }, /Invalid format for networks argument/],
      [
        "create",
        ["here"],
        { network_mode: "host", port_bindings: "80:80" },
        /^Unable to perform create_host_config: "host" network_mode is incompatible with port_bindings$/,
      ],
    ];
    for (const [fun, args, kwargs, reason] of refused) {
      assertMatch(str(await resultOrError(context, `docker.${fun}`, [...args], kwargs)), reason, fun);
    }
    const other = testContext({ opts: testOpts({ root_dir: root, "docker.machine": "default" }) });
    assertMatch(str(await resultOrError(other, "docker.ps")), /docker\.machine is not supported/);
  }));

Deno.test("docker.pull, push, import and build: what the engine's messages say", () => {
  const asked: URLSearchParams[] = [];
  return withAnswers({
    "GET /images/json": JSON.stringify([{ Id: "sha256:aa", RepoTags: ["own:1"] }, { Id: "known", RepoTags: null }]),
    "POST /images/create": lines(
      { status: "Already exists", id: "one" },
      { status: "Already exists", id: "one" },
      { status: "Download complete", id: "known" },
      { status: "Pull complete", id: "two" },
      { status: "Status: Downloaded" },
      { status: "sha256:abc" },
    ),
    "POST /images/own/push": lines({ status: "Pushed", id: "one" }, { status: "Layer already exists", id: "two" }),
    "POST /build": (query) => {
      asked.push(query);
      const id = query.get("dockerfile") === "Lost" ? "bb" : "aa";
      return new Response(lines({ stream: "Running in a1" }, { stream: `Successfully built ${id}\n` }));
    },
    "GET /images/aa/json": JSON.stringify({ Id: "sha256:aa", RepoTags: [] }),
  }, async (context, root) => {
    const call = async (fun: string, args: Value[], kwargs: Record<string, unknown> = {}) =>
      mapOrEmpty(await context.call(`docker.${fun}`, args, map({ api_response: true, ...kwargs })));
    const pulled = await call("pull", ["own:1"]);
    assertEquals(pulled.get("Layers"), map({ Already_Pulled: ["one", "known"], Pulled: ["two"] }));
    assertEquals([pulled.get("Status"), pulled.get("retcode")], ["Downloaded", 0]);
    const pushed = await call("push", ["own"]);
    assertEquals(pushed.get("Layers"), map({ Pushed: ["one"], Already_Pushed: ["two"] }));
    const imported = await call("import", ["http://h/x", "own"]);
    assertEquals([imported.get("Image"), imported.get("Id")], ["own:latest", "sha256:abc"]);
    Deno.writeTextFileSync(`${root}/Other`, "FROM x");
    // A Dockerfile is a path within the directory, however it is given.
    for (const dockerfile of ["Other", `${root}/Other`]) {
      await call("build", [`${root}/`], { dockerfile });
      assertEquals(asked.at(-1)?.get("dockerfile"), "Other");
    }
    const built = await call("build", [root, "own", "1"], { rm: false });
    assertEquals(built.get("Intermediate_Containers"), ["a1"]);
    // An image that the engine does not know has no tags.
    Deno.writeTextFileSync(`${root}/Lost`, "FROM x");
    const lost = ["own", "1"], unnamed: Value[] = [];
    for (const [names, warning] of [[lost, "Failed to tag image as own:1"], [unnamed, undefined]] as const) {
      const result = await call("build", [root, ...names], { dockerfile: "Lost" });
      assertEquals([result.get("Id"), result.get("Warning"), result.has("Image")], ["bb", warning, false]);
    }
    for (const result of [pulled, pushed, imported, built]) {
      assertEquals(Array.isArray(result.get("API_Response")), true);
    }
  });
});

Deno.test("docker: lists of images, containers and files, as the engine has them", () =>
  withAnswers({
    "GET /info": '{"Containers": 1}',
    "GET /version": JSON.stringify({ Version: "20.10.1-rc1", ApiVersion: "v1" }),
    "GET /containers/box/json": JSON.stringify({ State: { Running: true, Pid: 42 } }),
    "GET /containers/box/changes": JSON.stringify([{ Path: "/a", Kind: 0 }, { Path: "/b", Kind: 1 }, {
      Path: "/c",
      Kind: 7,
    }]),
    "GET /images/json": JSON.stringify([
      { Id: "sha256:aaaaaaaaaaaaaaaa", RepoTags: ["own:1"], ParentId: "" },
      { Id: "sha256:bbbbbbbbbbbbbbbb", RepoTags: ["<none>:<none>"], ParentId: "sha256:aaaaaaaaaaaaaaaa" },
      { Id: "sha256:cccccccccccccccc", RepoTags: null, ParentId: "" },
    ]),
    "GET /images/own/json": JSON.stringify({ Id: "sha256:aaaaaaaaaaaaaaaa" }),
    "GET /images/sha256:aaaaaaaaaaaaaaaa/json": JSON.stringify({ Id: "sha256:aaaaaaaaaaaaaaaa", Os: "linux" }),
    "GET /images/sha256:bbbbbbbbbbbbbbbb/json": JSON.stringify({ Id: "sha256:bbbbbbbbbbbbbbbb" }),
    "GET /images/sha256:cccccccccccccccc/json": JSON.stringify({ Id: "sha256:cccccccccccccccc" }),
    "DELETE /images/sha256:bbbbbbbbbbbbbbbb": failed,
    "DELETE /images/sha256:cccccccccccccccc": bodiesInTurn([{ Deleted: "sha256:cccccccccccccccc" }]),
    "GET /containers/json": JSON.stringify([
      { Id: "c1", Names: ["/box"], ImageID: "sha256:aaaaaaaaaaaaaaaa" },
      { Id: "c2", Names: ["/other"], ImageID: "sha256:bbbbbbbbbbbbbbbb" },
    ]),
    "GET /images/search": JSON.stringify([
      { name: "debian", is_official: true, star_count: 9, description: "all" },
      { name: "mine", is_official: false, star_count: 0, description: "" },
    ]),
  }, async (context) => {
    const call = (fun: string, ...args: Value[]) => context.call(`docker.${fun}`, args);
    assertEquals(await call("info"), map({ Containers: 1 }));
    // A version that does not begin with a number has no numbers.
    const versions = mapOrEmpty(await call("version"));
    assertEquals([[...versions.keys()], versions.get("VersionInfo")], [
      ["Version", "ApiVersion", "VersionInfo"],
      new Tuple<Value>([20, 10, 1]),
    ]);
    assertEquals(await call("pid", "box"), 42);
    assertEquals(await call("diff", "box"), map({ Changed: ["/a"], Added: ["/b"], Unknown: ["/c"] }));
    const verbose = mapOrEmpty(await context.call("docker.images", [], map({ verbose: true })));
    const [first] = [...verbose.values()].map(mapOrEmpty);
    assertEquals(mapOrEmpty(first.get("Info")).get("Os"), "linux");
    assertEquals(await call("depends", "own"), map({ Containers: ["box"], Images: ["sha256:bbbbb"] }));
    const official = await context.call("docker.search", ["x"], map({ official: true }));
    assertEquals(official, map({ debian: { Official: true, Stars: 9, Description: "all" } }));
    const pruned = mapOrEmpty(await context.call("docker.dangling", [], map({ prune: true })));
    assertEquals([...pruned].map(([id, one]) => [id, mapOrEmpty(mapOrEmpty(one).get("Removed")).get("retcode")]), [
      ["bbbbbbbbbbbb", 1],
      ["cccccccccccc", 0],
    ]);
  }));

Deno.test("docker: what an engine does by half is told with what it has done", () =>
  withAnswers({
    "GET /images/own/json": JSON.stringify({ Id: "sha256:aa" }),
    "POST /containers/create": bodiesInTurn({ Id: "c0" }, { Id: "c0" }, { Id: "c2" }, { Id: "c1" }),
    "GET /containers/c2/json": JSON.stringify({ Id: "c2", Name: "/left", State: { Running: false } }),
    "DELETE /containers/c2": () => Response.json({ message: "it is busy" }, { status: 409 }),
    "GET /containers/c0/json": JSON.stringify({ Id: "c0", Name: "/odd", State: { Running: false } }),
    "DELETE /containers/c0": bodiesInTurn({}),
    "POST /containers/box/start": failed,
    "GET /containers/c1/json": JSON.stringify({ Id: "c1", Name: "/odd", State: { Running: true, Status: "running" } }),
    "POST /containers/c1/start": bodiesInTurn({}),
    "GET /containers/c1/logs": failed,
    "POST /networks/full/connect": failed,
    "GET /containers/json": bodiesInTurn([{ Id: "c1", Names: ["/odd"] }], []),
    "GET /containers/paused/json": JSON.stringify({ State: { Running: true, Paused: true } }),
    "POST /containers/paused/unpause": bodiesInTurn({}),
    "GET /containers/self/json": JSON.stringify({ State: { Running: true }, HostConfig: { AutoRemove: true } }),
    "POST /containers/self/stop": bodiesInTurn({}),
    "GET /networks/net": JSON.stringify({ Name: "net", Containers: { c1: { Name: "a" }, c2: { Name: "b" } } }),
    "POST /networks/net/disconnect": failed,
  }, async (context) => {
    const said = async (fun: string, args: Value[], kwargs: Record<string, unknown> = {}) =>
      str(await resultOrError(context, `docker.${fun}`, args, kwargs));
    assertMatch(
      await said("create", ["own"], { name: "box", start: true }),
      /Failed to start container after creation/,
    );
    assertMatch(await said("run_container", ["own"], { networks: "full", auto_remove: true }), /no space left/);
    assertMatch(
      await said("run_container", ["own"], { networks: "full", auto_remove: true }),
      /no space left\. Container 'c2' is still there: .*it is busy/,
    );
    const ran = mapOrEmpty(await context.call("docker.run_container", ["own"], map({ name: "box2" })));
    assertEquals([ran.get("Logs"), str(ran.get("Warnings") ?? "")].map((text) => typeof text), ["string", "string"]);
    assertMatch(str(ran.get("Warnings") ?? ""), /Failed to get logs from container.*Container state is not 'exited'/);
    const stopped = mapOrEmpty(await context.call("docker.stop", ["paused"], map({ unpause: true })));
    assertEquals([stopped.get("result"), stopped.get("comment")], [false, "Failed to unpause container 'paused'"]);
    assertMatch(await said("disconnect_all_containers_from_network", ["net"]), /One or more containers failed to be/);
  }));

Deno.test("docker.rm: one that removes itself is waited for; one that stays paused is not stopped", () => {
  const state = (Running: boolean, Paused = false) => ({
    State: { Running, Paused },
    HostConfig: { AutoRemove: true },
  });
  const waits: (string | null)[] = [];
  const gone = new Set<string>();
  const list = () => Response.json([{ Id: "c1", Names: ["/self"] }, { Id: "c2", Names: ["/other"] }].slice(gone.size));
  const waited = (name: string, answer: Response) => (query: URLSearchParams) => {
    waits.push(query.get("condition"));
    gone.add(name);
    return answer;
  };
  return withAnswers({
    "GET /containers/json": list,
    "GET /containers/self/json": JSON.stringify(state(true)),
    "POST /containers/self/stop": bodiesInTurn({}),
    "POST /containers/self/wait": waited("self", Response.json({ StatusCode: 0 })),
    "GET /containers/other/json": JSON.stringify(state(true)),
    "POST /containers/other/stop": bodiesInTurn({}),
    "POST /containers/other/wait": waited("other", Response.json({ message: "No such container" }, { status: 404 })),
    "GET /containers/held/json": JSON.stringify(state(true, true)),
  }, async (context) => {
    const removed = (name: string) => resultOrError(context, "docker.rm", [name], { stop: true });
    assertEquals(await removed("self"), ["c1"]);
    // It is gone before it is waited for.
    assertEquals(await removed("other"), ["c2"]);
    assertEquals(waits, ["removed", "removed"]);
    assertMatch(str(await removed("held")), /Container 'held' is paused, use force=True to forcibly remove/);
    assertEquals(waits.length, 2);
  });
});

Deno.test("docker.load and docker.save: a tag for what was loaded, and names of compressions", () => {
  const [base, top] = [{ Id: "sha256:aaaaaaaaaaaaaaaa", ParentId: "" }, {
    Id: "sha256:bbbbbbbbbbbbbbbb",
    ParentId: "sha256:aaaaaaaaaaaaaaaa",
  }];
  const tags: string[] = [];
  let count = 0;
  return withAnswers({
    "GET /images/json": () => Response.json(count++ % 2 === 0 ? [] : [base, top]),
    "POST /images/load": "",
    "GET /images/sha256:bbbbbbbbbbbbbbbb/json": JSON.stringify(top),
    "POST /images/sha256:bbbbbbbbbbbbbbbb/tag": (query) => {
      tags.push(`${query.get("repo")}:${query.get("tag")}`);
      return query.get("repo") === "full" ? failed() : new Response("", { status: 201 });
    },
    "GET /images/own/json": JSON.stringify(base),
    "GET /images/sha256:aaaaaaaaaaaaaaaa/get": "an archive",
  }, async (context, root) => {
    Deno.writeTextFileSync(`${root}/image.tar`, "");
    const load = async (repository: string) =>
      mapOrEmpty(await context.call("docker.load", ["salt://image.tar"], map({ repository, tag: "1" })));
    const loaded = await load("own");
    assertEquals([loaded.get("Image"), loaded.get("Layers")], ["own:1", ["sha256:aaaaa", "sha256:bbbbb"]]);
    const full = await load("full");
    const warning = "Failed to tag sha256:bbbbbbbbbbbbbbbb as full:1: Error 500: no space left";
    assertEquals([full.get("Warning"), full.has("Image")], [warning, false]);
    assertEquals(tags, ["own:1", "full:1"]);
    for (const [name, program] of [["gz", "gzip"], ["bz2", "bzip2"], ["lzma", "xz"]]) {
      const path = `${root}/saved.${name}`;
      await context.call("docker.save", ["own", path], map({ compression: name }));
      assertEquals((await run(["sh", "-c", `${program} -d -c <${path}`])).out, "an archive");
    }
    assertMatch(
      str(await resultOrError(context, "docker.save", ["own", `${root}/x`], { compression: "zip" })),
      /Invalid compression type 'zip'/,
    );
  });
});

Deno.test("docker.dangling: an image that cannot be asked about is told, and the others are removed", () => {
  const images = [{ Id: "sha256:aaaaaaaaaaaaaaaa", RepoTags: null }, { Id: "sha256:bbbbbbbbbbbbbbbb", RepoTags: null }];
  let count = 0;
  return withAnswers({
    "GET /images/json": () => ++count === 2 ? failed() : Response.json(images),
    "GET /images/sha256:bbbbbbbbbbbbbbbb/json": JSON.stringify(images[1]),
    "DELETE /images/sha256:bbbbbbbbbbbbbbbb": "[]",
  }, async (context) => {
    const pruned = mapOrEmpty(await context.call("docker.dangling", [], map({ prune: true })));
    assertEquals(pruned.get("aaaaaaaaaaaa"), map({ Comment: "Error 500: no space left", Removed: false }));
    assertEquals(mapOrEmpty(mapOrEmpty(pruned.get("bbbbbbbbbbbb")).get("Removed")).get("retcode"), 0);
  });
});

Deno.test("docker.login: registries that are no maps are told", () =>
  withAnswers({}, async (context) => {
    const login = async () => mapOrEmpty(await context.call("docker.login")).get("Errors");
    context.pillar.set("docker-registries", "hub");
    assertEquals(await login(), ["'docker-registries' Pillar value must be a dictionary"]);
    context.pillar.delete("docker-registries");
    context.pillar.set("my-docker-registries", ["hub"]);
    assertEquals(await login(), ["Docker registry 'my-docker-registries' was not specified as a dictionary"]);
  }));
