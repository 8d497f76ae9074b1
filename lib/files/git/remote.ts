/**
 * A repository that the master keeps of a git remote: a bare one, which one process fetches into at a time, and all
 * threads and processes read.
 *
 * A file beside the repository has the current commits of branches and tags. Every fetch replaces it, so a request
 * starts no git. The files of a commit are listed once by each thread, and a file is taken out of the repository once,
 * under the name of its object: that never changes, and no name that a minion sends becomes a part of a path.
 * @module
 */

import { baseName } from "#lib/os/paths.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { hashBytes } from "#lib/crypto/hash.ts";
import { messageOf, StoreError } from "#lib/errors.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { hideCredentials, replaceCredentials } from "#lib/text/url_credentials.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { type GitResult, runGitInto, runGitProgram } from "./git_program.ts";
import type { RepositoryOptions } from "./remote_fields.ts";
import { LINK_MODE, parseBatch, parseTree, type Tree } from "./tree.ts";
import { UpdateLock } from "./update_lock.ts";

/** Commits by the full names of branches and tags: `refs/remotes/origin/main`, `refs/tags/v1`. */
export type Refs = ReadonlyMap<string, string>;

export type FetchResult = "changed" | "unchanged" | "locked";

/** Number of commits whose files a thread remembers, and number of names that it remembers as unknown. */
const MAX_TREES = 32, MAX_UNKNOWN = 1_000;
/** Processes of git that read the repository for requests at a time, in each thread. */
const MAX_READERS = 4;
/** Longest time of a fetch, in milliseconds. */
const FETCH_LIMIT_MS = 3_600_000;
/** Age at which an extracted file is removed, in milliseconds: the next request extracts it again. */
const MAX_AGE_MS = 7 * 86_400_000;

/** One remote. */
export class GitRemote<O extends RepositoryOptions = RepositoryOptions> {
  readonly options: O;
  readonly lock: UpdateLock;
  /** `<cachedir>/<role>/<name>`; the repository is in `_`, as in Salt. */
  readonly #top: string;
  readonly #trees = new BoundedMap<string, Promise<Tree>>(MAX_TREES);
  readonly #unknown = new BoundedMap<string, true>(MAX_UNKNOWN);
  readonly #blobs = new Map<string, Promise<string>>();
  readonly #readers: (() => void)[] = [];
  #reading = 0;
  #refs: { readonly identity: string; readonly refs: Refs } | undefined;

  /** @param cacheRoot `<cachedir>/gitfs`, `<cachedir>/git_pillar`. */
  constructor(
    options: O,
    { cacheRoot, hashType }: { readonly cacheRoot: string; readonly hashType: string },
  ) {
    this.options = options;
    const name = options.name ?? directoryName(options.id, hashType);
    this.#top = `${cacheRoot}/${name}`;
    this.lock = new UpdateLock(`${cacheRoot}/work/${name}/_/update.lk`, options);
  }

  /** The name of its directory in the cache. */
  get directoryName(): string {
    return baseName(this.#top);
  }

  /** Where its files are stored: the bare repository, and a directory for each commit that is needed as files. */
  get place(): { readonly repository: string; readonly directory: string } {
    return { repository: this.#repository, directory: `${this.#top}/commits` };
  }

  /** The file that every fetch with changes replaces. */
  get refsFile(): string {
    return this.#refsFile;
  }

  get #repository(): string {
    return `${this.#top}/_`;
  }

  /**
   * Fetches what is new.
   * @throws {StoreError} With git's error, if that fails. Earlier fetched data stays.
   */
  async fetch(signal?: AbortSignal): Promise<FetchResult> {
    const held = await this.lock.take();
    if (held === undefined) return "locked";
    try {
      await this.#init();
      const { url, user, password, depth, refspecs } = this.options;
      const address = user === "" ? url : replaceCredentials(url, user, password);
      const args = ["fetch", "--prune", "--quiet", "--no-auto-maintenance", ...depth > 0 ? [`--depth=${depth}`] : []];
      const fetched = await runGitProgram([...args, "--end-of-options", address, ...refspecs], {
        directory: this.#repository,
        access: this.options,
        limitMs: FETCH_LIMIT_MS,
        signal,
      });
      if (!fetched.ok) {
        const safeUrl = hideCredentials(url);
        throw new StoreError(
          `git fetch of ${safeUrl} failed: ${withoutSecrets(fetched.stderr, this.options)}`,
          safeUrl,
        );
      }
      const before = await this.refs();
      const now = await this.#readRefs();
      if (sameRefs(before, now)) return "unchanged";
      await this.#storeRefs(now);
      return "changed";
    } finally {
      await held.release();
    }
  }

  async #init(): Promise<void> {
    await Deno.mkdir(this.#repository, { recursive: true, mode: 0o700 });
    if (lexistsOrThrow(`${this.#repository}/HEAD`)) return;
    const init = await runGitProgram(["init", "--bare", "--quiet", "."], { directory: this.#repository });
    if (!init.ok) throw new StoreError(`git init of ${this.#repository} failed: ${init.stderr}`, this.#repository);
  }

  /** The branches and tags as git has them. */
  async #readRefs(): Promise<Refs> {
    const format = "--format=%(refname) %(objectname) %(*objectname)";
    const refs = await runGitProgram(["for-each-ref", format, "refs/remotes/origin/", "refs/tags/"], {
      directory: this.#repository,
    });
    if (!refs.ok) throw new StoreError(`git for-each-ref failed: ${refs.stderr}`, this.#repository);
    const lines = new TextDecoder().decode(refs.stdout).split("\n").filter((line) => line !== "");
    return new Map(lines.map((line): [string, string] => {
      const [name, oid, peeled] = line.split(" ");
      return [name, peeled || oid];
    }));
  }

  get #refsFile(): string {
    return `${this.#top}/refs`;
  }

  async #storeRefs(refs: Refs): Promise<void> {
    const temporary = `${this.#refsFile}.${crypto.randomUUID().slice(0, 8)}`;
    await Deno.writeTextFile(temporary, [...refs].map(([name, oid]) => `${oid} ${name}\n`).join(""));
    await Deno.rename(temporary, this.#refsFile);
  }

  /** The branches and tags of the last fetch; none before the first. */
  async refs(): Promise<Refs> {
    try {
      const { mtime, size, ino } = await Deno.stat(this.#refsFile);
      const identity = `${mtime?.getTime()}-${size}-${ino}`;
      if (this.#refs?.identity === identity) return this.#refs.refs;
      const lines = (await Deno.readTextFile(this.#refsFile)).split("\n").filter((line) => line !== "");
      const refs = new Map(lines.map((line): [string, string] => {
        const space = line.indexOf(" ");
        return [line.slice(space + 1), line.slice(0, space)];
      }));
      this.#refs = { identity, refs };
      return refs;
    } catch (error) {
      if (isGone(error)) return new Map();
      throw error;
    }
  }

  /** The full hash of a commit, if the repository has it. */
  async commit(name: string): Promise<string | undefined> {
    if (!/^[0-9a-f]{4,64}$/i.test(name)) return undefined;
    const key = `${name} ${this.#refs?.identity}`;
    if (this.#unknown.get(key)) return undefined;
    const output = await this.#read(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
    const oid = new TextDecoder().decode(output.stdout).trim();
    if (output.ok && oid !== "") return oid;
    this.#unknown.set(key, true);
    return undefined;
  }

  /**
   * The files of a commit.
   * @throws {StoreError} If git does not list them.
   */
  tree(commit: string): Promise<Tree> {
    const tree = this.#trees.get(commit);
    if (tree !== undefined) return tree;
    const read = this.#readTree(commit);
    this.#trees.set(commit, read);
    read.catch(() => this.#trees.delete(commit));
    return read;
  }

  async #readTree(commit: string): Promise<Tree> {
    const tree = await this.#read(["ls-tree", "-r", "-t", "-z", "--full-tree", commit]);
    if (!tree.ok) throw new StoreError(`git ls-tree of ${commit} failed: ${tree.stderr}`, this.#repository);
    const { files, dirs } = parseTree(new TextDecoder().decode(tree.stdout));
    const linked = [...files].filter(([, { mode }]) => mode === LINK_MODE);
    const texts = await this.#linkTexts(linked.map(([, { oid }]) => oid));
    const links = new Map(linked.map(([path, { oid }]): [string, string] => [path, texts.get(oid) ?? ""]));
    return { files, dirs, links };
  }

  /** The targets of links, by the names of their objects. */
  async #linkTexts(oids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (oids.length === 0) return new Map();
    const read = await this.#read(["cat-file", "--batch"], [...new Set(oids), ""].join("\n"));
    if (!read.ok) throw new StoreError(`git cat-file failed: ${read.stderr}`, this.#repository);
    return parseBatch(read.stdout);
  }

  /**
   * Where the content of an object is on disk; it is taken out of the repository if need be.
   * @throws {StoreError} If git does not give it.
   */
  blob(oid: string): Promise<string> {
    const running = this.#blobs.get(oid);
    if (running !== undefined) return running;
    const started = this.#takeOut(oid).finally(() => this.#blobs.delete(oid));
    this.#blobs.set(oid, started);
    return started;
  }

  async #takeOut(oid: string): Promise<string> {
    const directory = `${this.#top}/blobs/${oid.slice(0, 2)}`;
    const path = `${directory}/${oid}`;
    if (lexistsOrThrow(path)) return path;
    await Deno.mkdir(directory, { recursive: true });
    const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}`;
    const whole = await this.#turn(() =>
      runGitInto(temporary, ["cat-file", "blob", oid], { directory: this.#repository })
    );
    if (!whole) {
      await Deno.remove(temporary).catch(() => {});
      throw new StoreError(`git does not give the object ${oid} of ${this.options.id}`, this.#repository);
    }
    await Deno.rename(temporary, path);
    return path;
  }

  /** Removes files that were extracted from the repository long ago. */
  async reap(): Promise<void> {
    const oldest = Date.now() - MAX_AGE_MS;
    for (const { name } of await entries(`${this.#top}/blobs`)) {
      for (const { name: oid } of await entries(`${this.#top}/blobs/${name}`)) {
        const path = `${this.#top}/blobs/${name}/${oid}`;
        const changed = (await Deno.stat(path)).mtime?.getTime() ?? 0;
        if (changed < oldest) await Deno.remove(path);
      }
    }
  }

  #read(args: readonly string[], stdin?: string): Promise<GitResult> {
    return this.#turn(() => runGitProgram(args, { directory: this.#repository, stdin }));
  }

  /** Limits the number of processes at a time. */
  async #turn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#reading >= MAX_READERS) await new Promise<void>((resolve) => this.#readers.push(resolve));
    else this.#reading++;
    try {
      return await run();
    } finally {
      const next = this.#readers.shift();
      if (next === undefined) this.#reading--;
      else next();
    }
  }
}

/** Salt's name for the directory of a remote: the digest of its URL in base64. */
function directoryName(id: string, hashType: string): string {
  return hashBytes(id, hashType).toBase64().replaceAll("/", "_");
}

function sameRefs(a: Refs, b: Refs): boolean {
  return a.size === b.size && [...a].every(([name, oid]) => b.get(name) === oid);
}

/** git's text without the password that may be in a URL. */
function withoutSecrets(text: string, { password, passphrase }: RepositoryOptions): string {
  const safeText = text.replace(/(?<!\w)(\w+:\/\/)[^/\s@]*@/g, "$1");
  return [password, passphrase].filter((secret) => secret !== "").reduce(
    (text, secret) => text.replaceAll(secret, "***"),
    safeText,
  );
}

async function entries(directory: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(directory));
  } catch (error) {
    if (isGone(error) || error instanceof Deno.errors.NotADirectory) return [];
    throw new StoreError(`Cannot read ${directory}: ${messageOf(error)}`, directory);
  }
}
