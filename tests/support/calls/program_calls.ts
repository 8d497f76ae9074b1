/**
 * Calls module functions with recorded answers of the host's programs: the cases of the files that
 * tests/corpus/make_program_calls.py made with Python Salt. No program runs.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { ChildRunner } from "#lib/programs/child_process.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { equals, isMap, map } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assertEquals } from "#tests/support/assert.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { callState } from "./state_call.ts";
import { run, testContext, testOpts } from "./job_context.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { ACCOUNTS, bindFile, coverPlace, makeBlockDevice } from "./private_host.ts";

/** A started program: its arguments and its standard input. */
interface Call {
  readonly words: readonly string[];
  readonly stdin?: string;
}

/** The arguments without wrappers that only prepare the start of another program. */
function unwrapped(argv: readonly string[]): readonly string[] {
  if (argv[0] === "/bin/sh" && argv[1] === "-c" && argv[3] === "sh") return unwrapped(argv.slice(4));
  if (argv[0].endsWith("/setpriv")) return unwrapped(argv.slice(argv.indexOf("--") + 1));
  return argv;
}

/** Converts a call of psql: commands with secrets are standard input here, but an argument in Python Salt. */
function asSaltCalls(argv: readonly string[], input: Uint8Array | undefined): Call {
  const stdin = input === undefined ? undefined : new TextDecoder().decode(input);
  const isRead = stdin !== undefined && argv[0].endsWith("psql") &&
    argv.slice(-4).join(" ") === "-v ON_ERROR_STOP=1 -f -";
  if (isRead) return { words: [...argv.slice(0, -4), "-c", stdin] };
  return { words: argv, ...stdin !== undefined && { stdin } };
}

/** The name of a file that a program gets as one that is held, as one of nothing, or as a copy. */
function asNamed(word: string): string {
  const held = word.startsWith(`/proc/${Deno.pid}/fd/`) ? Deno.readLinkSync(word) : word;
  return held.replace(/^\/proc\/self\/fd\/none\/|^.*\/known_hosts_[^/]+\//, "/");
}

/** The arguments of a command that Salt starts through a shell or by its path. */
function plainWords(words: readonly string[]): string[] {
  const plain = words[0] === "/bin/sh" && words[1] === "-c" ? shlexSplit(words[2]) : [...words];
  return [plain[0].replace(/^\/usr\/bin\//, ""), ...plain.slice(1)];
}

function isJoined(argv: readonly string[]): boolean {
  return argv[0] === "/bin/sh" && argv[3] === "sh" && argv[2].includes("exec 2>&1");
}

/** Answers in place of the programs, as in make_program_calls.py. */
class Programs {
  readonly calls: Call[] = [];
  readonly #counts = new Map<string, number>();

  /**
   * @param place The directory of the programs, with a slash at the end: the recorded command lines do not contain it.
   * @param root The directory of their files.
   */
  constructor(readonly outputs: ValueMap, readonly place: string, readonly root: string) {}

  readonly run: ChildRunner = (spec) => {
    const [program, ...given] = unwrapped(spec.argv);
    const name = program.startsWith(this.place) ? program.slice(this.place.length) : program;
    const call = asSaltCalls([name, ...given].map(asNamed), spec.stdin);
    const { words } = call;
    this.calls.push(call);
    let [stdout, stderr, retcode] = this.#answer(words.join(" "));
    if (isJoined(spec.argv)) [stdout, stderr] = [stdout + stderr, ""];
    const encoder = new TextEncoder();
    const dropped = { stdout: 0, stderr: 0 };
    return Promise.resolve({
      pid: 1,
      retcode,
      stdout: encoder.encode(stdout),
      stderr: encoder.encode(stderr),
      timedOut: false,
      dropped,
    });
  };

  #answer(line: string): [string, string, number] {
    const key = this.outputs.has(line)
      ? line
      : [...this.outputs.keys()].find((one) => str(one).endsWith("*") && line.startsWith(str(one).slice(0, -1)));
    let output: Value = key === undefined ? "" : this.outputs.get(key) ?? "";
    if (Array.isArray(output)) {
      const count = this.#counts.get(str(key ?? "")) ?? 0;
      this.#counts.set(str(key ?? ""), count + 1);
      output = output[Math.min(count, output.length - 1)];
    }
    if (!isMap(output)) return [str(output), "", 0];
    writeFiles(this.root, mapOf(output.get("files")));
    return [str(output.get("stdout") ?? ""), str(output.get("stderr") ?? ""), Number(output.get("retcode") ?? 0)];
  }
}

/** A value with `from` replaced by `to` in all strings, keys included. */
function replaced(value: Value, from: string, to: string): Value {
  if (typeof value === "string") return value.replaceAll(from, to);
  if (Array.isArray(value)) return value.map((one) => replaced(one, from, to));
  if (!isMap(value)) return value;
  return new Map([...value].map(([key, one]) => [replaced(key, from, to), replaced(one, from, to)]));
}

function within(value: Value, root: string): Value {
  return replaced(value, "{root}", root);
}

function without(value: Value, root: string): Value {
  return replaced(value, root, "{root}");
}

/** A result with the usual directory of programs. */
function placed(value: Value, directory: string): Value {
  return replaced(value, `${directory}/`, "/usr/bin/");
}

function mapOf(value: Value | undefined): ValueMap {
  return isMap(value ?? null) ? value as ValueMap : new Map();
}

/** The directories of the host that the cases replace. */
export function placesOf(table: ValueMap): string[] {
  return listOf(table.get("places")).map(str);
}

function listOf(value: Value | undefined): Value[] {
  return Array.isArray(value) ? value : [];
}

/** Whether a file is executable, by its directory or its contents. */
function isProgram(name: string, contents: string): boolean {
  return contents.startsWith("#!") || /\/s?bin\//.test(`/${name}`) || /^\/etc\/(init|rc)\.d\//.test(name);
}

function isBlockDevice(contents: Value): boolean {
  return isMap(contents) && contents.has("block");
}

/**
 * Creates files below `root`, and files of the host, whose names begin with a slash: text, links, and null for a
 * directory.
 */
function writeFiles(root: string, files: ValueMap): void {
  for (const [key, contents] of files) {
    const name = str(key);
    const path = name.startsWith("/") ? name : `${root}/${name}`;
    if (path.startsWith("/proc/")) {
      bindFile(path, str(contents));
      continue;
    }
    Deno.mkdirSync(contents === null ? path : path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (isMap(contents) && contents.has("block")) makeBlockDevice(path, listOf(contents.get("block")).map(str));
    else if (isMap(contents)) Deno.symlinkSync(str(contents.get("link") ?? ""), path);
    else if (contents !== null) {
      Deno.writeTextFileSync(path, str(within(contents, root)), isProgram(name, str(contents)) ? { mode: 0o755 } : {});
    }
  }
}

function filesBelow(directory: string, prefix = ""): [string, Value][] {
  return [...Deno.readDirSync(`${directory}/${prefix}`)].flatMap((entry): [string, Value][] => {
    const name = prefix + entry.name;
    const path = `${directory}/${name}`;
    if (entry.isDirectory) return filesBelow(directory, `${name}/`);
    if (!entry.isFile && !entry.isSymlink) return []; // a device
    return [[name, entry.isSymlink ? map({ link: Deno.readLinkSync(path) }) : Deno.readTextFileSync(path)]];
  });
}

/** The files of the case's directory and of the replaced directories, by name. */
function filesThere(root: string, places: readonly string[]): ValueMap {
  const there = places.flatMap((place) => filesBelow(place).map(([name, text]) => [`${place}/${name}`, text] as const));
  const files: ValueMap = new Map([...filesBelow(root), ...there]);
  for (const name of places.includes("/etc") ? Object.keys(ACCOUNTS) : []) files.delete(name);
  return new Map([...files].map(([name, contents]) => [name, without(contents, root)]));
}

function sorted(files: ValueMap): ValueMap {
  const isKept = ([name, contents]: [Value, Value]) =>
    contents !== null && !isBlockDevice(contents) && !str(name).startsWith("/proc/");
  return new Map([...files].filter(isKept).sort());
}

/** A directory with executable files that are never started. */
export class ProgramNames implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "programs_" });
  readonly #place = new SearchPath(this.path);

  set(names: readonly string[]): void {
    for (const { name } of Deno.readDirSync(this.path)) Deno.removeSync(`${this.path}/${name}`);
    for (const name of names) Deno.writeTextFileSync(`${this.path}/${name}`, "", { mode: 0o755 });
  }

  [Symbol.dispose](): void {
    this.#place[Symbol.dispose]();
    Deno.removeSync(this.path, { recursive: true });
  }
}

/** An error without the minion's words before the reason. */
function withoutPreface(text: string): string {
  return text.replace(/^(ERROR executing '[^']+'|Command required for '[^']+' not found): /, "ERROR: ");
}

/** The result of a state function; an error as a job reports it. */
async function stateOutcome(args: ValueMap, one: ValueMap, job: JobContext): Promise<Value> {
  try {
    return await callState(str(one.get("fun") ?? ""), args, { test: one.get("test") === true, job });
  } catch (error) {
    return `ERROR: ${messageOf(error)}`;
  }
}

/** In a case in which Salt fails by a bug, `ours` is our result, and `our_calls` are our programs. */
export async function runCase(table: ValueMap, one: ValueMap, names: ProgramNames): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "program_calls_" });
  try {
    const grains: ValueMap = new Map<Value, Value>([["id", "m1"], ["kernel", "Linux"], ...mapOf(table.get("grains"))]);
    const places = placesOf(table);
    for (const place of places) coverPlace(place);
    writeFiles(root, mapOf(one.get("files")));
    names.set(listOf(one.get("programs") ?? table.get("programs")).map(str));
    const programs = new Programs(
      within(new Map([...mapOf(table.get("outputs")), ...mapOf(one.get("outputs"))]), root) as ValueMap,
      `${names.path}/`,
      root,
    );
    const options = [...mapOf(table.get("opts")), ...mapOf(within(one.get("opts") ?? null, root))];
    const opts = testOpts(Object.fromEntries(options.map(([key, value]) => [str(key), value])));
    const virtual = table.get("virtual");
    const providers: ValueMap = virtual === undefined ? new Map() : new Map([[virtual, table.get("module") ?? null]]);
    const context = testContext({
      opts,
      grains,
      catalogue: loadCatalogue({ grains: () => grains, providers }),
      runChild: programs.run,
    });
    const kwargs = [...mapOf(one.get("kwargs"))];
    const given = [
      ...listOf(one.get("args")),
      ...kwargs.length === 0 ? [] : [new Map<Value, Value>([["__kwarg__", true], ...kwargs])],
    ].map((value) => within(value, root));
    const result = table.get("family") === "states"
      ? await stateOutcome(mapOf(within(one.get("kwargs") ?? null, root)), one, context)
      : (await run(str(one.get("fun") ?? ""), given, context)).return;
    const expected = one.has("ours")
      ? one.get("ours")!
      : one.has("error")
      ? `ERROR: ${str(one.get("error")!)}`
      : one.get("result")!;
    const shown = placed(without(result, root), names.path);
    const calls = programs.calls.map(({ words, stdin }) =>
      map({ words: [...words], ...stdin !== undefined && { stdin } })
    );
    const theirs = listOf(one.get("our_calls") ?? one.get("calls")).map((call) => {
      const { words, stdin } = Object.fromEntries(mapOf(call));
      return map({ words: plainWords(listOf(words).map(str)), ...stdin !== undefined && { stdin } });
    });
    // Salt repeats some calls; a repeated call counts once.
    const counted = (all: Value[]) =>
      table.get("once") === true ? all.filter((call, i) => all.findIndex((other) => equals(other, call)) === i) : all;
    const files = one.has("files") ? sorted(filesThere(root, places)) : null;
    const left = one.has("files") ? mapOf(one.get("our_files") ?? one.get("files_after") ?? one.get("files")) : null;
    assertEquals(
      map({
        result: one.has("error") && !one.has("ours") ? withoutPreface(str(shown)) : shown,
        calls: counted(listOf(without(calls, root))),
        files,
      }),
      map({ result: expected, calls: counted(theirs), files: left === null ? null : sorted(left) }),
    );
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** The name of a case for the test report. */
export function caseLabel(one: ValueMap, i: number): string {
  const { fun, args = [], kwargs } = Object.fromEntries(one);
  const shown = [...listOf(args), ...mapOf(kwargs).values()].map((value) => str(toValue(value))).join(" ");
  return `${i} ${str(fun)} ${shown}`.slice(0, 100);
}

/** Reads a file: the table and its cases. */
export function readTable(file: URL): { readonly table: ValueMap; readonly cases: readonly ValueMap[] } {
  const table = parseJson(Deno.readTextFileSync(file));
  if (!isMap(table)) throw new TypeError(`${file.pathname} is no map`);
  return { table, cases: listOf(table.get("cases")).map(mapOf) };
}
