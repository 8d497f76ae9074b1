/**
 * The module `docker`: files are copied into containers and out of them, and scripts and functions run there, with an
 * engine of this test, whose programs do what is needed.
 * @module
 */

import { DockerEngine } from "#lib/host/docker/engine.ts";
import { enginePlace } from "#lib/host/docker/engine_place.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import { EarlyEndError } from "#lib/ssh/local_process.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { ContainerProcess } from "#modules/execution/docker/container_process.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { resultOrError, type TestContext } from "#tests/support/calls/job_context.ts";
import { eventually } from "#tests/support/eventually.ts";
import { run } from "#tests/support/processes.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { type Answers, type ProgramEnd, startAnswering, withAnswers } from "./docker_answers.ts";

const RUNNING = { "GET /containers/box/json": JSON.stringify({ State: { Running: true, Pid: 42 } }) };

/** The digest of the text "same". */
const SUM = "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5";

/** What `docker.FUN` returns, or the message of its error. */
function caller(context: TestContext) {
  return async (fun: string, args: Value[], kwargs: Record<string, unknown> = {}) =>
    await resultOrError(context, `docker.${fun}`, args, kwargs);
}

/** The archive of a file, or of a link. */
async function archive(root: string, make: (path: string) => void): Promise<Uint8Array<ArrayBuffer>> {
  const directory = `${root}/archived`;
  Deno.mkdirSync(directory);
  make(`${directory}/file`);
  await run(["tar", "-c", "-f", `${root}/archive.tar`, "-C", directory, "file"]);
  Deno.removeSync(directory, { recursive: true });
  return Deno.readFileSync(`${root}/archive.tar`);
}

Deno.test("docker.copy_to: a file of the master; directories are made, and what is there already is not written", () => {
  const written: Record<string, string> = {};
  const ran: string[] = [];
  const programs = async (words: readonly string[], input: () => Promise<string>): Promise<ProgramEnd> => {
    const [program, ...args] = words.slice(words.findIndex((word) => word.startsWith("PATH=")) + 1);
    ran.push(program);
    const path = args.at(-1) ?? "";
    if (program === "test") return { retcode: args[0] === "-e" && path in written ? 0 : 1 };
    if (program === "mkdir") {
      return path === "/silent" ? { retcode: 1 } : path === "/full" ? { retcode: 1, stderr: "no space" } : {};
    }
    if (program === "tee") written[path] = await input();
    if (program !== "sha256sum") return {};
    return path in written ? { stdout: `${SUM}  ${path}\n` } : { retcode: 1, stderr: "no such file" };
  };
  return withAnswers(RUNNING, async (context, root) => {
    const call = caller(context);
    Deno.writeTextFileSync(`${root}/file`, "same");
    assertEquals(await call("copy_to", ["box", "salt://file", "/new/file"], { makedirs: true }), true);
    assertEquals(written, { "/new/file": "same" });
    assertEquals(ran, ["test", "test", "mkdir", "test", "sha256sum", "tee", "sha256sum"]);
    ran.length = 0;
    const again = { makedirs: true, overwrite: true };
    assertEquals(await call("copy_to", ["box", "salt://file", "/new/file"], again), true);
    assertEquals(ran, ["test", "test", "mkdir", "sha256sum"]);
    const refused: readonly (readonly [string, RegExp])[] = [
      ["full/x", /Destination path must be absolute/],
      ["/new/file", /Destination path \/new\/file already exists/],
      ["/full/x", /Unable to create destination directory \/full in container 'box': no space$/],
      ["/silent/x", /Unable to create destination directory \/silent in container 'box'$/],
    ];
    for (const [dest, reason] of refused) {
      assertMatch(str(await call("copy_to", ["box", `${root}/file`, dest], { makedirs: true })), reason);
    }
    assertMatch(str(await call("copy_to", ["box", `${root}/file`, "/no/x"])), /Directory \/no does not exist on/);
  }, { programs });
});

Deno.test("docker.copy_from: directories are made; what is no archive, or no regular file, is told", async () => {
  let archived: Uint8Array<ArrayBuffer> = new Uint8Array();
  const answers: Answers = { ...RUNNING, "GET /containers/box/archive": () => new Response(archived) };
  const programs = (words: readonly string[]) => {
    if (words.includes("readlink")) return { retcode: 127, refusal: "executable file not found" };
    return words.includes("sha256sum") ? { stdout: SUM } : {};
  };
  await withAnswers(answers, async (context, root) => {
    const copied = async () =>
      await caller(context)("copy_from", ["box", "/file", `${root}/made/dir/copy`], { makedirs: true });
    assertMatch(
      str(await resultOrError(context, "docker.copy_from", ["box", "/file", `${root}/made/x`])),
      /does not exist/,
    );
    archived = new TextEncoder().encode("no archive");
    assertMatch(str(await copied()), /^Unable to copy \/file from container 'box': tar: /);
    archived = await archive(root, (path) => Deno.symlinkSync("/etc/passwd", path));
    assertEquals(await copied(), "/file in container 'box' is no regular file");
    archived = await archive(root, (path) => Deno.writeTextFileSync(path, "same"));
    assertEquals(await copied(), true);
    assertEquals(Deno.readTextFileSync(`${root}/made/dir/copy`), "same");
  }, { programs });
});

Deno.test("docker.run: variables of the minion that a program keeps", () => {
  const environments: (readonly string[])[] = [];
  const programs = (words: readonly string[]) => {
    environments.push(words);
    return {};
  };
  return withAnswers(RUNNING, async (context) => {
    const path = Deno.env.get("PATH");
    const home = Deno.env.get("HOME");
    for (const keep_env of [["HOME", "NO_SUCH_VARIABLE"], "HOME,PATH", true, false]) {
      await caller(context)("run", ["box", "id"], { keep_env });
    }
    const own = "PATH=/bin:/usr/bin:/sbin:/usr/sbin:/opt/bin:/usr/local/bin:/usr/local/sbin";
    assertEquals(environments, [
      ["env", "-i", own, `HOME=${home}`, "id"],
      ["env", "-i", `HOME=${home}`, `PATH=${path}`, "id"],
      ["id"],
      ["env", "-i", own, "id"],
    ]);
  }, { programs });
});

Deno.test("docker.script: a template is rendered, and a script that cannot be had is told", () => {
  const scripts: string[] = [];
  const ran: (readonly string[])[] = [];
  const programs = async (words: readonly string[], input: () => Promise<string>): Promise<ProgramEnd> => {
    if (words.includes("tee")) scripts.push(await input());
    else ran.push(words.slice(3));
    return words.includes("test") ? { retcode: words.includes("-d") && words.at(-1) === "/tmp" ? 0 : 1 } : {};
  };
  return withAnswers(RUNNING, async (context, root) => {
    const call = caller(context);
    Deno.writeTextFileSync(`${root}/script.sh`, "echo {{ 1 + 1 }}");
    await call("script", ["box", "salt://script.sh"], { template: "jinja", args: ["a b"] });
    await call("script", ["box", "salt://script.sh"]);
    assertEquals(scripts, ["echo 2", "echo {{ 1 + 1 }}"]);
    const begun = ran.find(([program]) => program.startsWith("/tmp/salt"));
    assertMatch(str(begun?.[0] ?? ""), /^\/tmp\/salt\w+\.sh$/);
    assertEquals(begun?.slice(1), ["a b"]);
    const count = ran.length;
    const missing = map({ pid: 0, retcode: 1, stdout: "", stderr: "", cache_error: true });
    assertEquals(await call("script", ["box", "salt://none"]), missing);
    assertEquals(await call("script", ["box", "salt://none"], { template: "jinja" }), missing);
    assertEquals(await call("script_retcode", ["box", "salt://none"]), 1);
    assertEquals(ran.length, count);
  }, { programs });
});

Deno.test("a program in a container that the engine does not start has ended early", async () => {
  await using server = startAnswering({}, () => ({ refusal: "OCI runtime exec failed: permission denied" }));
  const engine = new DockerEngine(enginePlace(server.url), new AbortController().signal);
  const error = await assertRejects(
    () => ContainerProcess.start(engine, "box", { mark: "m", Cmd: ["x"] }),
    EarlyEndError,
  );
  assertEquals([error.retcode, error.stderr], [
    126,
    "Error response from daemon: OCI runtime exec failed: permission denied",
  ]);
});

Deno.test("docker.call: what stays in the container, and a program that does not end, are in the log", async () => {
  let looks = 0;
  const answers: Answers = {
    ...RUNNING,
    "PUT /containers/box/archive": () => new Response(""),
    "GET /exec/0/json": () => {
      looks++;
      return Response.json({ Running: true, ExitCode: 0 });
    },
  };
  const programs = (words: readonly string[]) =>
    words.includes("rm") ? { retcode: 1 } : { stdout: "no mark", stderr: "sh: odd" };
  await withAnswers(answers, async (context) => {
    using time = new SkippedTime();
    const calling = resultOrError(context, "docker.call", ["box", "test.ping"]);
    await eventually(() => looks > 2, { what: "questions whether it still runs" });
    await time.to(11_000);
    assertEquals(await calling, "salt-minion does not run in container 'box': no mark\nsh: odd");
    assertEquals(context.logged.map((line) => line.replace(/\.salt_\w+/, "DIR")), [
      "warning: salt-minion in container 'box' still runs 10 seconds after its end",
      "warning: /DIR is not removed from container 'box': rm ended with 1",
    ]);
  }, { programs });
});

Deno.test("docker: a mine that does not take the containers is a warning, unless the job is ended", () => {
  const ended = new AbortController();
  const answers = { ...RUNNING, "POST /containers/box/kill": () => new Response("") };
  return withAnswers(answers, async (context) => {
    const { call, logged } = context;
    const signalled = (onMine: () => void) => {
      context.call = (name, args, kwargs) => {
        if (name !== "mine.send") return call(name, args, kwargs);
        onMine();
        return Promise.reject(new Error("no mine"));
      };
      return callFunction("docker.signal", { args: ["box", "SIGHUP"], context });
    };
    assertEquals(await signalled(() => {}), true);
    assertEquals(logged, ["warning: docker.ps was not sent to the mine: no mine"]);
    await assertRejects(() => signalled(() => ended.abort()), Error, "no mine");
    assertEquals(logged.length, 1);
  }, { opts: { "docker.update_mine": true }, signal: ended.signal });
});
