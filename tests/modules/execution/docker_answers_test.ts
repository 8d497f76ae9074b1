/**
 * The module `docker` with an engine of this test, whose answers a real one gives seldom: it breaks off, says nothing,
 * or says what cannot be read.
 * @module
 */

import { throughProgram } from "#modules/execution/docker/archives.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { resultOrError, type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Answers by method and path; a text is the body, others are made anew for each request. */
type Answers = Readonly<Record<string, string | ((query: URLSearchParams) => Response)>>;

async function withAnswers(
  answers: Answers,
  act: (context: TestContext, root: string) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      await request.body?.cancel();
      const { pathname, searchParams } = new URL(request.url);
      const answer = answers[`${request.method} ${pathname}`];
      if (answer === undefined) return Response.json({ message: `No such thing: ${request.url}` }, { status: 404 });
      return typeof answer === "string" ? new Response(answer) : answer(searchParams);
    });
    const before = Deno.env.get("DOCKER_CONFIG");
    Deno.env.set("DOCKER_CONFIG", root);
    const url = `tcp://127.0.0.1:${server.addr.port}`;
    const opts = testOpts({ root_dir: root, "docker.url": url, "docker.update_mine": false, file_client: "local" });
    try {
      await act(testContext({ opts, signal: new AbortController().signal }), root);
    } finally {
      if (before === undefined) Deno.env.delete("DOCKER_CONFIG");
      else Deno.env.set("DOCKER_CONFIG", before);
      await server.shutdown();
    }
  });
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

Deno.test("docker: answers of an engine that say nothing, or cannot be read, are errors", () =>
  withAnswers({
    "GET /images/json": "[]",
    "GET /images/search": "[]",
    "POST /commit": "{}",
    "POST /images/create": "",
    "POST /images/silent/push": "",
    "POST /images/odd/push": "no JSON",
    "POST /build": lines({ stream: "Step 1" }, { errorDetail: { code: 2, message: "it failed" } }),
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
      ["build", [`${root}/none`], {}, /You must specify a directory to build in path/],
      ["logs", ["box"], { stream: true }, /The 'stream' argument is not supported/],
      ["logs", ["box"], { since: "yesterday?" }, /since is neither a date nor a number of seconds: yesterday\?/],
      ["run", ["box", "id"], { use_vt: true }, /use_vt is not supported/],
      ["run", ["idle", "id"], { exec_driver: "nsenter" }, /Container 'idle' is not running|'nsenter' cannot be found/],
      ["copy_from", ["idle", "/a", "dest"], {}, /Destination path must be absolute/],
      ["copy_from", ["idle", "/a", `${root}/no/b`], {}, /Directory .*\/no does not exist/],
      ["copy_from", ["idle", "a", `${root}/b`], {}, /Source path must be absolute/],
      ["copy_to", ["idle", `${root}/none`, "/b"], {}, /Source file .*\/none does not exist/],
      ["copy_to", ["idle", root, "/b"], {}, /Source must be a regular file/],
      ["copy_to", ["idle", "salt://none", "/b"], {}, /Unable to cache salt:\/\/none/],
      ["create_network", ["net"], { nosuch: 1 }, /takes no argument 'nosuch'/],
      ["run_container", ["own"], { networks: 5 }, /Invalid format for networks argument/],
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
      return new Response(lines({ stream: "Running in a1" }, { stream: "Successfully built aa\n" }));
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
    for (const result of [pulled, pushed, imported, built]) {
      assertEquals(Array.isArray(result.get("API_Response")), true);
    }
  });
});
