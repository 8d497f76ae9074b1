/**
 * A master's file server over the trees of tests/corpus/file_server.json, and Python Salt's answers.
 * @module
 */

import { type TestServices, testServices } from "#tests/support/fleet/services.ts";
import type { Typed } from "#tests/support/typed_values.ts";
import { FileServer } from "#lib/files/server/file_server.ts";
import { updateBackends } from "#lib/files/server/upkeep.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

/** A text for a file, a list for a link, null for a directory. */
type Tree = Readonly<Record<string, string | readonly [link: string] | null>>;

/** A configuration, the requests of minions and the calls of runners, each with Python Salt's answer. */
export interface FileServerCase {
  readonly name: string;
  readonly opts: Typed;
  readonly loads: readonly (readonly [load: Typed, reply: Typed])[];
  readonly runs: readonly (readonly [fun: string, args: Value[], kwargs: Record<string, unknown>, result: Typed])[];
}

interface Corpus {
  /** The repository, as input of `git fast-import`. */
  readonly repository: string;
  readonly trees: Readonly<Record<string, Tree>>;
  readonly roots: Readonly<Record<string, string[]>>;
  readonly worlds: readonly FileServerCase[];
}

/** The corpus. `{root}` is the placeholder for the directory of the trees. */
export const SALT_FILES: Corpus = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/file_server.json", import.meta.url)),
);

/**
 * The options of gitfs and minionfs, one by one: configurations over the same trees, and remotes with which Salt's
 * gitfs refuses to start.
 */
export const SALT_OPTIONS: {
  readonly refused: readonly (readonly [remotes: Typed, messages: readonly string[]])[];
  readonly worlds: readonly FileServerCase[];
} = JSON.parse(Deno.readTextFileSync(new URL("../../corpus/file_server_options.json", import.meta.url)));

/**
 * The time of the first file, in seconds since the epoch; every file has a different time, as in make_file_server.py.
 */
const TIME = 1_700_000_000;

/** The trees on disk, and services with a file server over them. */
export interface TestFileServer extends Disposable {
  readonly root: string;
  readonly services: TestServices;
}

/** Creates the trees, and services with the options of the corpus and these options. */
export async function makeFileServer(opts: Value = new Map()): Promise<TestFileServer> {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "file_server_" }));
  for (const [number, [top, tree]] of Object.entries(SALT_FILES.trees).entries()) {
    makeTree(`${root}/${top}`, tree, { root, time: TIME + 100 * number });
  }
  const defaults = map({ file_roots: SALT_FILES.roots, file_buffer_size: 1024, file_recv_max_size: 2 });
  const written = new Map<Value, Value>([...defaults, ...isMap(opts) ? opts : []]);
  const overrides = Object.fromEntries([...written].map(([name, value]) => [name, placed(value, "{root}", root)]));
  const services = await testServices({ ...overrides, cachedir: `${root}/cache` });
  if (services.opts.gitfs_remotes.length > 0) {
    await makeRepository(`${root}/repo`);
    await updateBackends(
      new FileServer(services.opts, { backends: BACKENDS, log: (level, message) => services.log[level](message) }),
      {
        changes: false,
        signal: new AbortController().signal,
      },
      {
        log: (level, message) => services.log[level](message),
        fire: () => Promise.resolve(),
      },
    );
  }
  return {
    root,
    services,
    [Symbol.dispose]() {
      services[Symbol.dispose]();
      Deno.removeSync(root, { recursive: true });
    },
  };
}

/** Makes the corpus's repository in a directory. */
export async function makeRepository(directory: string): Promise<void> {
  await git(["init", "--quiet", "--bare", directory]);
  await git(["-C", directory, "fast-import", "--quiet"], SALT_FILES.repository);
}

/**
 * Runs git.
 * @throws {Error} If it fails.
 */
export async function git(args: readonly string[], stdin = ""): Promise<void> {
  const process = new Deno.Command("git", { args: [...args], stdin: "piped", stdout: "null", stderr: "piped" }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(stdin));
  await writer.close();
  const { success, stderr } = await process.output();
  if (!success) throw new Error(`git ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
}

/** `value` with `from` replaced by `to` in all strings. */
export function placed(value: Value, old: string, now: string): Value {
  if (typeof value === "string") return value.replaceAll(old, now);
  if (Array.isArray(value)) return value.map((item) => placed(item, old, now));
  if (!isMap(value)) return value;
  return new Map([...value].map(([key, item]) => [placed(key, old, now), placed(item, old, now)]));
}

function makeTree(top: string, tree: Tree, { root, time }: { readonly root: string; readonly time: number }): void {
  for (const [number, [path, content]] of Object.entries(tree).entries()) {
    const at = `${top}/${path}`;
    Deno.mkdirSync(at.slice(0, at.lastIndexOf("/")), { recursive: true });
    if (content === null) {
      Deno.mkdirSync(at, { recursive: true });
    } else if (typeof content === "string") {
      Deno.writeTextFileSync(at, content);
      Deno.chmodSync(at, 0o640);
      Deno.utimeSync(at, TIME, time + number);
    } else {
      Deno.symlinkSync(content[0].replace("{root}", root), at);
    }
  }
}
