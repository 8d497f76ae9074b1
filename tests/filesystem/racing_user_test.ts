/**
 * Root's files when root manages files in another user's directory, and that user exchanges them for links whenever something happens there.
 * The user is a program in C (tests/support/racer.c), which is compiled here.
 * @module
 */

import { CommandError } from "../../lib/errors.ts";
import { holdTarget } from "../../lib/os/held_path.ts";
import type { JobContext } from "../../lib/plugins/job_context.ts";
import { map, str, type Value } from "../../lib/values/value.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { run, testContext, testOpts } from "../support/calls/job_context.ts";
import { callState } from "../support/calls/state_call.ts";
import { run as runProgram } from "../support/processes.ts";
import { withTemporaryDirectory } from "../support/temporary_directory.ts";

const NOBODY = 65534;
const SECRET = "root's own\n";
/** Rounds of a case, and the time after which it ends, in milliseconds. */
const ROUNDS = 400, MAX_MS = 6_000;

const compiler = await findCompiler();
/** Needs root, Linux and a C compiler. */
const ready = Deno.uid() === 0 && Deno.build.os === "linux" && compiler !== undefined;

async function findCompiler(): Promise<string | undefined> {
  for (const name of ["cc", "gcc"]) {
    if (await runProgram([name, "--version"]).then(({ code }) => code === 0, () => false)) return name;
  }
  return undefined;
}

/** A user in a directory of their own. */
class Racer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
  }

  static async start(program: string, directory: string, target: string): Promise<Racer> {
    const child = new Deno.Command(program, {
      args: [String(NOBODY), directory, target],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    await child.stdout.cancel();
    assertEquals(new TextDecoder().decode(value), "ready\n");
    return new Racer(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stdin.close();
    await this.#child.status;
  }
}

/** What must stay as it is. */
function look(path: string): string {
  const { uid, gid, mode, nlink } = Deno.lstatSync(path);
  return `${uid}:${gid} ${((mode ?? 0) & 0o7777).toString(8)} ${nlink} ${Deno.readTextFileSync(path)}`;
}

interface Place {
  /** The user's directory. */
  readonly home: string;
  /** A file there, which belongs to the user. */
  readonly file: string;
  readonly context: JobContext;
  readonly round: number;
}

const call = async (fun: string, args: Value[], { context }: Place, kwargs: Record<string, Value> = {}) => {
  const outcome = await run(fun, [...args, map({ __kwarg__: true, ...kwargs })], context);
  return outcome.return;
};

const CASES: Readonly<Record<string, (place: Place) => Promise<unknown>>> = {
  "file.managed": ({ file, round, context }) =>
    callState("file.managed", {
      name: file,
      contents: `text ${round}`,
      user: "nobody",
      mode: "0644",
      follow_symlinks: false,
    }, {
      job: context,
    }),
  "file.managed with follow_symlinks": ({ file, round, context }) =>
    callState("file.managed", { name: file, contents: `text ${round}`, user: "nobody", mode: "0644" }, {
      job: context,
    }),
  "file.managed with a backup": ({ file, round, context }) =>
    callState("file.managed", { name: file, contents: `text ${round}`, backup: "minion" }, { job: context }),
  "file.managed of a new file": ({ home, round, context }) =>
    callState("file.managed", { name: `${home}/new${round % 5}`, contents: "text", user: "nobody", mode: "0644" }, {
      job: context,
    }),
  "file.append": (place) => call("file.append", [place.file, `line ${place.round}`], place),
  "file.replace": (place) =>
    call("file.replace", [place.file, "old|text.*", `text ${place.round}`], place, { backup: ".bak" }),
  "file.line": (place) =>
    call("file.line", [place.file], place, { content: `line ${place.round}`, mode: "ensure", location: "end" }),
  "file.blockreplace": (place) =>
    call("file.blockreplace", [place.file], place, { content: `${place.round}`, append_if_not_found: true }),
  "file.write": (place) => call("file.write", [place.file, `text ${place.round}`], place),
  "file.chown": (place) => call("file.chown", [place.file, "nobody", "nogroup"], place),
  "file.set_mode": (place) => call("file.set_mode", [place.file, place.round % 2 === 0 ? "0644" : "0666"], place),
  "file.touch": ({ home, round, context }) =>
    call("file.touch", [`${home}/touched${round % 5}`, 0, 0], { home, file: "", round, context }),
  "file.copy": (place) => call("file.copy", ["/etc/hostname", `${place.home}/copied`], place),
  "file.directory": ({ home, round, context }) =>
    callState("file.directory", { name: `${home}/made${round}`, user: "nobody", mode: "0755" }, { job: context }),
  "ssh.set_auth_key": (place) =>
    call("ssh.set_auth_key", ["nobody", `AAAA${String(place.round).padStart(8, "0")}`], place, {
      config: `${place.home}/keys`,
    }),
  "archive.unzip": (place) => call("archive.unzip", [`${place.home}.zip`, place.home], place),
};

Deno.test({
  name: "root's file keeps owner, mode and contents while a user races root in a directory of the user's",
  ignore: !ready,
  fn: (t) =>
    withTemporaryDirectory(async (root) => {
      Deno.chmodSync(root, 0o755);
      const program = `${root}/racer`;
      const source = new URL("../support/racer.c", import.meta.url).pathname;
      const { code, err } = await runProgram([compiler ?? "cc", "-O2", "-o", program, source]);
      assertEquals(code, 0, err);
      const context = testContext({ opts: testOpts({ root_dir: `${root}/minion`, cachedir: `${root}/cache` }) });
      for (const [name, act] of Object.entries(CASES)) {
        await t.step(name, async () => {
          const home = `${root}/${name.replaceAll(/\W/g, "_")}`, victim = `${root}/victim`;
          const file = `${home}/app.conf`;
          Deno.mkdirSync(home);
          Deno.writeTextFileSync(file, "old\n");
          for (const path of [home, file]) Deno.chownSync(path, NOBODY, NOBODY);
          if (name === "archive.unzip") {
            Deno.writeTextFileSync(`${root}/member`, "packed");
            Deno.chmodSync(`${root}/member`, 0o644);
            str(await call("archive.zip", [`${home}.zip`, [`${root}/member`]], { home, file, context, round: 0 }));
          }
          Deno.writeTextFileSync(victim, SECRET);
          Deno.chmodSync(victim, 0o600);
          const before = look(victim);
          await using _racer = await Racer.start(program, home, victim);
          const end = performance.now() + MAX_MS;
          let round = 0;
          for (; round < ROUNDS && performance.now() < end; round++) {
            // What the user has disturbed may fail: that is not the question.
            await act({ home, file, context, round }).catch(() => {});
            assertEquals(look(victim), before, `after ${round} rounds`);
            for (const { name } of Deno.readDirSync(home)) {
              assert(!readsSecret(`${home}/${name}`), `${name} has what was root's, after ${round} rounds`);
            }
          }
          assert(round > 20, `only ${round} rounds`);
        });
      }
    }),
});

/** Whether a file of the user's has root's secret. */
function readsSecret(path: string): boolean {
  try {
    using held = holdTarget(path, { follow: false });
    const { isFile, uid } = held.status();
    return isFile && uid === NOBODY && Deno.readTextFileSync(held.path).includes(SECRET.trim());
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof CommandError) return false;
    throw error;
  }
}
