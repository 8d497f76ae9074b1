/**
 * Root's files when root manages files in another user's directory, and that user exchanges them for links whenever
 * something happens there. The user is a program in C (tests/support/racer.c), which is compiled here.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { DROPFILE, writeDropfile } from "#lib/keys/dropfile.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { holdTarget } from "#lib/os/held_path.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { run as runProgram } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NOBODY = 65534;
/** A comment, which programs keep that read configuration. */
const SECRET = "# root's own\n";
/** Rounds of a case; the time a user spins at least, and the time after which a case ends, in milliseconds. */
const ROUNDS = 400, SPIN_MS = 1_000, MAX_MS = 6_000;

const compiler = await findCompiler();
/** Needs root, Linux and a C compiler. */
const ready = Deno.uid() === 0 && Deno.build.os === "linux" && compiler !== undefined;

async function findCompiler(): Promise<string | undefined> {
  for (const name of ["cc", "gcc"]) {
    if (await runProgram([name, "--version"]).then(({ code }) => code === 0, () => false)) return name;
  }
  return undefined;
}

/** What the user does without waiting for root: see racer.c. */
interface Spin {
  /** The name in the user's directory. */
  readonly name: string;
  readonly kind: "exchange" | "appear";
  /** Whether the link leads to root's directory, not to root's file. */
  readonly directory?: boolean;
}

interface Attack {
  /** Where the link leads. */
  readonly target: string;
  readonly spin?: Spin;
}

/** A user in a directory of their own. */
class Racer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
  }

  static async start(program: string, directory: string, { target, spin }: Attack): Promise<Racer> {
    const child = new Deno.Command(program, {
      args: [String(NOBODY), directory, target, ...(spin === undefined ? [] : [spin.name, spin.kind])],
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
  const { uid, gid, mode, nlink, mtime, isDirectory } = Deno.lstatSync(path);
  const contents = isDirectory
    ? [...Deno.readDirSync(path)].map(({ name }) => `\n  ${name} ${look(`${path}/${name}`)}`).sort().join("")
    : Deno.readTextFileSync(path);
  return `${uid}:${gid} ${((mode ?? 0) & 0o7777).toString(8)} ${nlink} ${mtime?.toISOString()} ${contents}`;
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
  const { success, return: returned } = await run(fun, [...args, map({ __kwarg__: true, ...kwargs })], context);
  return success || str(returned);
};

const applyState = async (...given: Parameters<typeof callState>) => {
  const outcome = await callState(...given);
  return outcome.get("result") === true || str(outcome.get("comment") ?? "");
};

/** Each returns true, or why it failed. */
const CASES: Readonly<Record<string, (place: Place) => Promise<true | string>>> = {
  "file.managed": ({ file, round, context }) =>
    applyState("file.managed", {
      name: file,
      contents: `text ${round}`,
      user: "nobody",
      mode: "0644",
      follow_symlinks: false,
    }, {
      job: context,
    }),
  "file.managed with follow_symlinks": ({ file, round, context }) =>
    applyState("file.managed", { name: file, contents: `text ${round}`, user: "nobody", mode: "0644" }, {
      job: context,
    }),
  "file.managed with a backup": ({ file, round, context }) =>
    applyState("file.managed", { name: file, contents: `text ${round}`, backup: "minion" }, { job: context }),
  "file.managed of a new file": ({ home, round, context }) =>
    applyState("file.managed", { name: `${home}/new${round % 5}`, contents: "text", user: "nobody", mode: "0644" }, {
      job: context,
    }),
  "file.replace": (place) =>
    call("file.replace", [place.file, "old|text.*", `text ${place.round}`], place, { backup: ".bak" }),
  "file.blockreplace": (place) =>
    call("file.blockreplace", [place.file], place, { content: `${place.round}`, append_if_not_found: true }),
  "file.write": (place) => call("file.write", [place.file, `text ${place.round}`], place),
  "file.copy": (place) => call("file.copy", ["/etc/hostname", `${place.home}/copied`], place),
};

interface Act {
  readonly act: (place: Place) => Promise<true | string>;
  /** A program that it starts. */
  readonly program?: string;
}

/** Cases in which root follows a name more than once between two events, too quickly for a user who waits for them. */
const SPINS: Readonly<Record<string, Spin & Act>> = {
  "file.line": {
    name: "app.conf",
    kind: "exchange",
    act: (place) =>
      call("file.line", [place.file], place, { content: `line ${place.round}`, mode: "insert", location: "end" }),
  },
  "file.append": {
    name: "app.conf",
    kind: "exchange",
    act: (place) => call("file.append", [place.file, `line ${place.round}`], place),
  },
  "file.set_mode": {
    name: "app.conf",
    kind: "exchange",
    act: (place) => call("file.set_mode", [place.file, place.round % 2 === 0 ? "0644" : "0666"], place),
  },
  "file.chown": {
    name: "app.conf",
    kind: "exchange",
    act: (place) => call("file.chown", [place.file, "nobody", "nogroup"], place),
  },
  "cp.recv_chunked": {
    name: "app.conf",
    kind: "exchange",
    act: (place) =>
      call("cp.recv_chunked", [place.file, new TextEncoder().encode(btoa(`text ${place.round}`))], place, {
        compressed: false,
        mode: place.round % 2 === 0 ? 0o644 : 0o666,
      }),
  },
  "file.touch": { name: "app.conf", kind: "exchange", act: (place) => call("file.touch", [place.file, 0, 0], place) },
  "file.directory": {
    name: "made",
    kind: "exchange",
    directory: true,
    act: ({ home, round, context }) =>
      applyState("file.directory", {
        name: `${home}/made`,
        user: round % 2 === 0 ? "daemon" : "nobody",
        mode: round % 3 === 0 ? "0755" : "0711",
      }, { job: context }),
  },
  "file.copy with remove_existing": {
    name: "made",
    kind: "exchange",
    directory: true,
    act: (place) => {
      const tree = `${place.home}.tree`;
      Deno.mkdirSync(tree, { recursive: true });
      Deno.writeTextFileSync(`${tree}/file`, "text");
      return call("file.copy", [tree, `${place.home}/made/member`], place, { recurse: true, remove_existing: true });
    },
  },
  "ssh.set_auth_key": {
    name: "keys",
    kind: "exchange",
    directory: true,
    act: (place) => setKey(place),
  },
  "ssh.set_auth_key where its directory is missing": {
    name: "keys",
    kind: "appear",
    directory: true,
    act: (place) => setKey(place),
  },
  "archive.unzip": {
    name: "packed",
    kind: "exchange",
    directory: true,
    act: (place) => call("archive.unzip", [`${place.home}.zip`, place.home], place),
  },
  "a request for a new key, in the cache directory of the master's user": {
    name: DROPFILE,
    kind: "exchange",
    act: ({ home }) =>
      Promise.try(() => {
        removeIfExists(`${home}/${DROPFILE}`);
        writeDropfile(home, "m");
        return true as const;
      }),
  },
};

/** Cases with a program of the host, which is told a name. */
const PROGRAMS: typeof SPINS = {
  "acl.modfacl": {
    name: "app.conf",
    kind: "exchange",
    program: "setfacl",
    act: (place) => call("acl.modfacl", ["user", "nobody", place.round % 2 === 0 ? "rw" : "rwx", place.file], place),
  },
  "ssh.hash_known_hosts": {
    name: "app.conf",
    kind: "exchange",
    program: "ssh-keygen",
    act: (place) => call("ssh.hash_known_hosts", [], place, { user: "nobody", config: place.file }),
  },
  "archive.extracted": {
    name: "packed",
    kind: "exchange",
    directory: true,
    program: "tar",
    act: ({ home, context }) =>
      applyState("archive.extracted", {
        name: `${home}/packed`,
        source: `${home}.zip`,
        archive_format: "tar",
        enforce_toplevel: false,
        overwrite: true,
        user: "nobody",
      }, { job: context }),
  },
};

const setKey = (place: Place) =>
  call("ssh.set_auth_key", ["nobody", `AAAA${String(place.round).padStart(8, "0")}`], place, {
    config: `${place.home}/keys/authorized_keys`,
  });

Deno.test({
  name: "root's file keeps owner, mode and contents while a user races root in a directory of the user's",
  ignore: !ready,
  fn: (t) =>
    withTemporaryDirectory(async (root) => {
      Deno.chmodSync(root, 0o755);
      const program = `${root}/racer`;
      const source = new URL("../../support/racer.c", import.meta.url).pathname;
      const { code, err } = await runProgram([compiler ?? "cc", "-O2", "-o", program, source]);
      assertEquals(code, 0, err);
      const context = testContext({ opts: testOpts({ root_dir: `${root}/minion`, cachedir: `${root}/cache` }) });
      const cases = [
        ...Object.entries(CASES).map(([name, act]) => ({ name, act, spin: undefined })),
        ...Object.entries({ ...SPINS, ...PROGRAMS }).map(([name, spin]) => ({ name, act: spin.act, spin })),
      ];
      for (const { name, act, spin } of cases) {
        const ignore = spin?.program !== undefined && which(spin.program) === undefined;
        const fn = async () => {
          const home = `${root}/${name.replaceAll(/\W/g, "_")}`, victim = `${home}.root`;
          const file = `${home}/app.conf`;
          Deno.mkdirSync(home);
          Deno.writeTextFileSync(file, "# old\n");
          for (const path of [home, file]) Deno.chownSync(path, NOBODY, NOBODY);
          if (name === "archive.unzip") await makeArchive(root, `${home}.zip`);
          if (name === "archive.extracted") await makeTar(root, `${home}.zip`);
          if (spin?.directory) {
            Deno.mkdirSync(victim, { mode: 0o700 });
            for (const entry of ["authorized_keys", "member"]) {
              Deno.writeTextFileSync(`${victim}/${entry}`, SECRET, { mode: 0o600 });
            }
            if (spin.kind === "exchange") {
              Deno.mkdirSync(`${home}/${spin.name}`);
              Deno.chownSync(`${home}/${spin.name}`, NOBODY, NOBODY);
            }
          } else Deno.writeTextFileSync(victim, SECRET, { mode: 0o600 });
          const before = look(victim);
          assertEquals(await act({ home, file, context, round: ROUNDS }), true, "without a racer");
          await using _racer = await Racer.start(program, home, { target: victim, spin });
          const begun = performance.now(), elapsed = () => performance.now() - begun;
          let round = 0;
          for (; (round < ROUNDS || spin !== undefined && elapsed() < SPIN_MS) && elapsed() < MAX_MS; round++) {
            // What the user has disturbed may fail: that is not the question.
            await act({ home, file, context, round }).catch(() => {});
            assertEquals(look(victim), before, `after ${round} rounds`);
            for (const { name } of Deno.readDirSync(home)) {
              assert(!readsSecret(`${home}/${name}`), `${name} has what was root's, after ${round} rounds`);
            }
          }
          assert(round > (spin?.program === undefined ? 20 : 2), `only ${round} rounds`);
        };
        await t.step({ name: ignore ? `${name} (left out: there is no ${spin.program})` : name, ignore, fn });
      }
    }),
});

/** An archive with one file in a directory. */
async function makeArchive(root: string, archive: string): Promise<void> {
  Deno.mkdirSync(`${root}/packed`);
  Deno.writeTextFileSync(`${root}/packed/member`, "packed");
  const { return: names } = await run("archive.zip", [
    archive,
    ["packed"],
    map({ __kwarg__: true, cwd: root }),
  ], testContext());
  assert(Array.isArray(names) && names.includes("packed/member"), str(names));
}

/** The same, made by tar. */
async function makeTar(root: string, archive: string): Promise<void> {
  Deno.mkdirSync(`${root}/tar`);
  Deno.writeTextFileSync(`${root}/tar/member`, "packed");
  const { code, err } = await runProgram(["tar", "-c", "-f", archive, "-C", `${root}/tar`, "member"]);
  assertEquals(code, 0, err);
}

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
