import configuration from "../../deno.json" with { type: "json" };
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { licenseFiles, SHIPPED } from "#lib/programs/licenses.ts";
import { LICENSE } from "#lib/version.ts";
import { COMMAND_V8_FLAGS, V8_FLAGS } from "#lib/runtime/self_command.ts";
import { packedExecutable, packPayload, releaseName } from "#scripts/build/pack.ts";
import {
  COMMAND_ENTRIES,
  LIBRARIES,
  packageFiles,
  PLACE_SOURCE,
  TARGETS,
  VERSION_SOURCE,
  WORKERS,
} from "#scripts/build/production.ts";
import { scriptOf } from "#scripts/build/bundle.ts";
import { sourceFiles } from "#scripts/source_files.ts";
import { type TarFile, tarStream } from "#scripts/build/tar.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** The commands that a launcher may use. */
const COMMANDS = ["sh", "ls", "id", "mkdir", "mv", "rm", "tail", "gzip", "tar", "sha256sum"];

/** A script in place of Deno in a payload: it prints its environment and arguments. */
const FAKE_DENO = `#!/bin/sh
if [ "$1" = --version ]; then exit 0; fi
echo "SALT_EXECUTABLE=$SALT_EXECUTABLE"
echo "DENO_DIR=$DENO_DIR"
for word; do echo "word=$word"; done
`;

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** An executable with a small payload, a directory with the commands that it needs, and a directory to unpack to. */
class Packed {
  private constructor(readonly root: string, readonly executable: string, readonly release: string) {}

  static async make(deno = FAKE_DENO): Promise<Packed> {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "build_test_" }));
    const file = (name: string, text: string, executable = false): TarFile => {
      Deno.writeTextFileSync(`${root}/${name}`, text);
      return { name, path: `${root}/${name}`, executable };
    };
    const payload = await packPayload([
      file("deno", deno, true),
      file("deno.json", "{}"),
      file("minion.mjs", ""),
      file(scriptOf(COMMAND_ENTRIES["salt-call"]), ""),
      file(scriptOf(VERSION_SOURCE), ""),
    ]);
    const program = {
      name: "salt-minion",
      links: ["salt-call"],
      entry: "minion.mjs",
      version: "1.2.3",
      target: "here",
    };
    await Deno.mkdir(`${root}/a directory`);
    const executable = `${root}/a directory/salt-minion`;
    await Deno.writeFile(executable, await packedExecutable(program, payload).bytes(), { mode: 0o755 });
    await Deno.symlink("salt-minion", `${root}/a directory/salt-call`);
    await Deno.mkdir(`${root}/bin`);
    for (const command of COMMANDS) await Deno.symlink(which(command), `${root}/bin/${command}`);
    return new Packed(root, executable, releaseName("1.2.3", payload));
  }

  get unpackDir(): string {
    return `${this.root}/unpacked here`;
  }

  async run(
    args: readonly string[] = [],
    { executable = this.executable, cwd = this.root, env = { SALT_UNPACK_DIR: this.unpackDir } }: {
      executable?: string;
      cwd?: string;
      env?: Record<string, string>;
    } = {},
  ): Promise<Result> {
    const command = new Deno.Command(executable, {
      args: [...args],
      cwd,
      clearEnv: true,
      env: { PATH: `${this.root}/bin`, ...env },
      stdin: "null",
    });
    const { code, stdout, stderr } = await command.output();
    return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
  }

  /** The files below the directory to unpack to. */
  unpacked(): string[] {
    return [...Deno.readDirSync(this.unpackDir)].map(({ name }) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

function which(command: string): string {
  for (const directory of ["/usr/bin", "/bin"]) {
    try {
      return Deno.realPathSync(`${directory}/${command}`);
    } catch {
      // Not in this directory: try the next one.
    }
  }
  throw new Error(`this system has no ${command}`);
}

Deno.test("a packed executable runs its entry with Deno, offline, and passes its arguments on", async () => {
  await using packed = await Packed.make();
  const home = `${packed.unpackDir}/${packed.release}`;
  const { code, out, err } = await packed.run(["-c", "two words", ""]);
  assertEquals({ code, err }, { code: 0, err: "" });
  assertEquals(out.trimEnd().split("\n"), [
    `SALT_EXECUTABLE=${packed.executable}`,
    `DENO_DIR=${home}/cache`,
    ...["run", "--allow-all", "--quiet", "--no-prompt", "--cached-only", "--no-lock"]
      .concat(`--v8-flags=${V8_FLAGS}`, "--config", `${home}/deno.json`)
      .concat(`${home}/minion.mjs`, "-c", "two words", "")
      .map((word) => `word=${word}`),
  ]);
});

Deno.test("a packed executable that is called as a command runs that command's script, with the flags of commands", async () => {
  await using packed = await Packed.make();
  const { code, out } = await packed.run(["a"], { executable: `${packed.root}/a directory/salt-call` });
  assertEquals(code, 0);
  assertStringIncludes(out, `word=--v8-flags=${COMMAND_V8_FLAGS}\n`);
  assertStringIncludes(out, `/${scriptOf(COMMAND_ENTRIES["salt-call"])}\nword=a\n`);
});

Deno.test("only the first start reports, on a terminal, that it unpacks", async () => {
  await using packed = await Packed.make();
  const atTerminal = async () => {
    const command = new Deno.Command(which("script"), {
      args: ["-qec", `'${packed.executable}'`, "/dev/null"],
      clearEnv: true,
      env: { PATH: `${packed.root}/bin`, SHELL: "/bin/sh", SALT_UNPACK_DIR: packed.unpackDir },
      stdin: "null",
    });
    return new TextDecoder().decode((await command.output()).stdout);
  };
  const message = `salt-minion: unpacking into ${packed.unpackDir}, once for this user`;
  assertStringIncludes(await atTerminal(), message);
  const again = await atTerminal();
  assertStringIncludes(again, "word=run");
  assertEquals(again.includes("unpacking"), false);
});

Deno.test("a packed executable runs only the script for --version, with the name that it was started by, or its own", async () => {
  await using packed = await Packed.make();
  const script = `word=${packed.unpackDir}/${packed.release}/${scriptOf(VERSION_SOURCE)}`;
  await Deno.symlink("salt-minion", `${packed.root}/a directory/other`);
  for (const [called, name] of [["salt-minion"], ["salt-call"], ["other", "salt-minion"]]) {
    const { out } = await packed.run(["--version"], { executable: `${packed.root}/a directory/${called}` });
    assertEquals(out.trimEnd().split("\n").slice(-2), [script, `word=${name ?? called}`]);
  }
  const { out } = await packed.run(["--version", "x"]);
  assertEquals(out.trimEnd().split("\n").slice(-3).map((line) => line.replace(/.*\//, "")), [
    "minion.mjs",
    "word=--version",
    "word=x",
  ]);
});

/** A script in place of Deno: it only writes its arguments to a file below `$1`. */
const recordingDeno = (root: string, code = 0) =>
  `#!/bin/sh\n[ "$1" != --version ] || exit 0\necho "$*" >> ${root}/starts\nexit ${code}\n`;

Deno.test("a packed executable places the compiled scripts once, after it has unpacked itself", async () => {
  const notes = await Deno.realPath(await Deno.makeTempDir({ prefix: "build_test_" }));
  try {
    await using packed = await Packed.make(recordingDeno(notes));
    await packed.run(["a"]);
    await packed.run(["b"]);
    const starts = (await Deno.readTextFile(`${notes}/starts`)).trimEnd().split("\n");
    const home = `${packed.unpackDir}/${packed.release}`;
    const [placed, ...others] = starts;
    const script = RegExp.escape(scriptOf(PLACE_SOURCE));
    const made = `${RegExp.escape(packed.unpackDir)}/\\.${RegExp.escape(packed.release)}\\.\\d+`;
    assertMatch(placed, new RegExp(` ${made}/${script} ${made}/cache ${RegExp.escape(home)}$`));
    assertEquals(others.map((line) => line.slice(line.lastIndexOf("/") + 1)), ["minion.mjs a", "minion.mjs b"]);
  } finally {
    await Deno.remove(notes, { recursive: true });
  }
});

Deno.test("a packed executable runs although its compiled scripts cannot be placed, and reports a Deno that does not run", async () => {
  const starts = (code: number) =>
    `#!/bin/sh\ncase $* in *place.mjs*) exit 1 ;; --version) exit ${code} ;; esac\necho runs\n`;
  await using packed = await Packed.make(starts(0));
  const { code, out, err } = await packed.run();
  assertEquals({ code, out, err }, { code: 0, out: "runs\n", err: "" });
  await using broken = await Packed.make(starts(1));
  assertMatch(
    (await broken.run()).err,
    /^salt-minion: Deno does not run from .*: this file is for here, and programs must be allowed there\. /,
  );
  assertEquals(broken.unpacked(), []);
});

Deno.test("a packed executable finds the name of the link that started it, relative or not", async () => {
  await using packed = await Packed.make();
  const link = packed.executable.replace("salt-minion", "salt-call");
  for (
    const called of [
      { executable: link },
      { executable: "./salt-call", cwd: `${packed.root}/a directory` },
      { executable: "sh", args: ["salt-call"], cwd: `${packed.root}/a directory` },
    ]
  ) {
    const { out } = await packed.run(called.args, called);
    assertStringIncludes(out, `SALT_EXECUTABLE=${link}\n`);
  }
});

Deno.test("a packed executable is unpacked once, writable only for its owner", async () => {
  await using packed = await Packed.make();
  await packed.run();
  const home = `${packed.unpackDir}/${packed.release}`;
  const first = await Deno.stat(home);
  assertEquals((first.mode ?? 0) & 0o022, 0);
  assertEquals(first.uid, Deno.uid());
  await packed.run();
  assertEquals((await Deno.stat(home)).ino, first.ino);
  assertEquals(packed.unpacked(), [packed.release]);
});

Deno.test("executables that first start at the same time all run, from one directory", async () => {
  await using packed = await Packed.make();
  const results = await Promise.all(Array.from({ length: 8 }, () => packed.run(["x"])));
  assertEquals(results.map(({ code, err }) => ({ code, err })), Array(8).fill({ code: 0, err: "" }));
  assertEquals(packed.unpacked(), [packed.release]);
  assertEquals([...Deno.readDirSync(`${packed.unpackDir}/${packed.release}`)].map(({ name }) => name).sort(), [
    scriptOf(COMMAND_ENTRIES["salt-call"]),
    scriptOf(VERSION_SOURCE),
    "deno",
    "deno.json",
    "minion.mjs",
  ]);
});

Deno.test("a second process that unpacked at the same time removes its copy", async () => {
  await using packed = await Packed.make();
  // Another process is a little faster: its directory exists when ours is to be renamed to it.
  const quicker = `#!/bin/sh\n${which("cp")} -R "$1" "$2"\nexec ${which("mv")} "$@"\n`;
  await Deno.remove(`${packed.root}/bin/mv`);
  await Deno.writeTextFile(`${packed.root}/bin/mv`, quicker, { mode: 0o755 });
  const { code, err } = await packed.run();
  assertEquals({ code, err }, { code: 0, err: "" });
  assertEquals(packed.unpacked(), [packed.release]);
  assertEquals([...Deno.readDirSync(`${packed.unpackDir}/${packed.release}`)].map(({ name }) => name).sort(), [
    scriptOf(COMMAND_ENTRIES["salt-call"]),
    scriptOf(VERSION_SOURCE),
    "deno",
    "deno.json",
    "minion.mjs",
  ]);
});

Deno.test("a directory with missing files is unpacked again", async () => {
  await using packed = await Packed.make();
  await packed.run();
  await Deno.remove(`${packed.unpackDir}/${packed.release}/deno`);
  const { code } = await packed.run();
  assertEquals(code, 0);
  assertEquals(packed.unpacked(), [packed.release]);
});

Deno.test("a damaged or cut file is not run", async () => {
  await using packed = await Packed.make();
  const whole = await Deno.readFile(packed.executable);
  const flipped = whole.slice();
  flipped[flipped.length - 40] ^= 1;
  for (const damaged of [flipped, whole.subarray(0, -100)]) {
    await Deno.writeFile(packed.executable, damaged);
    const { code, out, err } = await packed.run();
    assertEquals({ code, out }, { code: 1, out: "" });
    assertMatch(err, /^salt-minion: the file .* is damaged: its checksum is wrong\. .*\n$/);
    assertEquals(packed.unpacked(), []);
  }
});

Deno.test("nothing is unpacked to, or run from, a directory that others can write to", async () => {
  await using packed = await Packed.make();
  for (const mode of [0o775, 0o757]) {
    await Deno.mkdir(packed.unpackDir);
    await Deno.chmod(packed.unpackDir, mode);
    const { code, out, err } = await packed.run();
    assertEquals({ code, out }, { code: 1, out: "" });
    assertMatch(err, /^salt-minion: others may write to .*, or it is not yours\. Set SALT_UNPACK_DIR .*\n$/);
    await Deno.remove(packed.unpackDir);
  }
  await packed.run();
  await Deno.chmod(`${packed.unpackDir}/${packed.release}`, 0o777);
  const { code } = await packed.run();
  assertEquals(code, 0); // from a new directory
  assertEquals(((await Deno.stat(`${packed.unpackDir}/${packed.release}`)).mode ?? 0) & 0o022, 0);
});

Deno.test("root unpacks to, and runs from, no directory that another user could put in its place", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using packed = await Packed.make();
  const theirs = `${packed.root}/theirs`, ours = `${packed.root}/ours`;
  for (const path of [theirs, `${theirs}/safe`, ours]) {
    await Deno.mkdir(path);
    await Deno.chmod(path, 0o755);
  }
  await Deno.symlink(ours, `${theirs}/link`);
  await Deno.symlink(`${theirs}/safe`, `${packed.root}/link`);
  await Deno.chown(theirs, 65534, 65534);
  const places = [`${theirs}/safe`, `${theirs}/new`, `${theirs}/link`, `${theirs}/link/new`, `${packed.root}/link`];
  for (const place of places) {
    const { code, out, err } = await packed.run([], { env: { SALT_UNPACK_DIR: place } });
    const message = `salt-minion: SALT_UNPACK_DIR lies in a directory that others than root can change: ${place}\n`;
    assertEquals({ code, out, err }, { code: 1, out: "", err: message });
  }
  for (const path of [`${theirs}/safe`, ours]) assertEquals([...Deno.readDirSync(path)], []);
  assertEquals((await packed.run([], { env: { SALT_UNPACK_DIR: ours } })).code, 0);
});

Deno.test("SALT_UNPACK_DIR must be an absolute path", async () => {
  await using packed = await Packed.make();
  const { code, err } = await packed.run([], { env: { SALT_UNPACK_DIR: "here" } });
  assertEquals({ code, err }, { code: 1, err: "salt-minion: SALT_UNPACK_DIR is not an absolute path: here\n" });
});

Deno.test("tar unpacks what tarStream() writes, and the bytes are the same each time", () =>
  withTemporaryDirectory(async (root) => {
    const long = `${"d".repeat(90)}/${"e".repeat(90)}/f.txt`;
    Deno.writeTextFileSync(`${root}/content`, "x".repeat(513));
    const files = ["a", "dir/b", long].map((name) => ({ name, path: `${root}/content`, executable: name === "a" }));
    const bytes = await new Response(tarStream(files)).bytes();
    Deno.utimeSync(`${root}/content`, 0, 0);
    assertEquals(await new Response(tarStream(files)).bytes(), bytes);
    Deno.writeFileSync(`${root}/archive.tar`, bytes);
    const { success } = await new Deno.Command("tar", { args: ["-xf", "archive.tar"], cwd: root }).output();
    assert(success);
    for (const { name, executable } of files) {
      assertEquals(Deno.readTextFileSync(`${root}/${name}`), "x".repeat(513));
      assertEquals(((Deno.statSync(`${root}/${name}`).mode ?? 0) & 0o100) !== 0, executable);
    }
  }));

for (const target of TARGETS) {
  Deno.test(`packageFiles() holds one addon for ${target}, the licences, the Python files, the console, and nothing else`, () => {
    const names = packageFiles(ROOT, target).map(({ name }) => name);
    assertEquals(names.filter((name) => name.endsWith(".node")).length, 1);
    for (const one of ["@noble/hashes", "deno-std", "js-yaml", "zeromq"]) {
      assert(names.includes(`node_modules/${one}/package.json`), one);
    }
    for (const { name, isPackage } of SHIPPED.filter(({ file }) => file === undefined)) {
      assert(isPackage && names.some((file) => file.toLowerCase().startsWith(`node_modules/${name}/licen`)), name);
    }
    for (const { file } of SHIPPED) assert(file === undefined || names.includes(file), file);
    const others =
      /^(NOTICE|LICENSE|licenses\/.*\.txt)$|\/(package\.json|licen[cs]e[^/]*)$|\.node$|^lib\/python_bridge\/helper\/.*\.py$|^lib\/console\/browser\/.*\.(js|css|html)$/i;
    assert(names.includes("lib/python_bridge/helper/zygote.py"));
    for (const one of ["index.html", "console.css", "pages/fleet.js", "vendor/preact.js"]) {
      assert(names.includes(`lib/console/browser/${one}`), one);
    }
    assertEquals(names.filter((name) => !others.test(name)), []);
  });
}

Deno.test("the licences of npm packages are those of their package.json", () => {
  for (const { name, license, isPackage } of SHIPPED.filter(({ isPackage }) => isPackage)) {
    const places = ["node_modules", "node_modules/.deno/node_modules"].map((place) =>
      `${ROOT}/${place}/${name}/package.json`
    );
    const [text] = places.flatMap((place) => textIfThere(place) ?? []);
    assertEquals([name, isPackage, JSON.parse(text).license], [name, true, license]);
  }
});

Deno.test("a component without a licence text is an error, for the build as for --licenses", () =>
  withTemporaryDirectory((directory) => {
    const root = new URL(`file://${directory}/`);
    const component = { name: "left", license: "MIT", isPackage: true };
    const missing = () =>
      assertThrows(() => licenseFiles(component, root), Deno.errors.NotFound, "licence text of left");
    missing();
    Deno.mkdirSync(`${directory}/node_modules/left`, { recursive: true });
    Deno.writeTextFileSync(`${directory}/node_modules/left/package.json`, "{}");
    missing();
    assertThrows(() => licenseFiles({ ...component, file: "licenses/left.txt" }, root), Deno.errors.NotFound);
    Deno.writeTextFileSync(`${directory}/node_modules/left/License.md`, "");
    assertEquals(licenseFiles(component, root), ["node_modules/left/License.md"]);
  }));

Deno.test("deno.json and LICENSE are those of the licence that is named", () => {
  assertEquals(configuration.license, LICENSE);
  assertStringIncludes(
    Deno.readTextFileSync(`${ROOT}/LICENSE`),
    "Apache License\n                           Version 2.0",
  );
  const notice = Deno.readTextFileSync(`${ROOT}/NOTICE`).replaceAll(/\s+/g, " ");
  for (const { name } of SHIPPED) assertStringIncludes(notice, name);
});

function textIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

Deno.test("WORKERS and LIBRARIES list every file that is started or loaded by its path", async () => {
  const workers = new Set<string>(), libraries = new Set<string>(LIBRARIES);
  for (const path of sourceFiles(ROOT, ".ts", { below: ["lib", "modules"] })) {
    const text = await Deno.readTextFile(`${ROOT}/${path}`);
    for (const [, late, file] of text.matchAll(/(import\()?new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g)) {
      const started = new URL(file, `file:///${path}`).pathname.slice(1);
      // What `import()` loads is a part of the file that loads it, unless it has a script of its own.
      if (late !== undefined && !libraries.has(started)) continue;
      if (started.includes("/")) workers.add(started); // an entry is started as a process
    }
  }
  assertEquals([...workers].sort(), [...WORKERS, ...LIBRARIES].sort());
});
