/**
 * Replays what the programs of Salt 3008.3 show with plugins in Python of a master, and of a host without one
 * (tests/corpus/python_programs): the same files, options and words, in the same order.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { messageOf } from "#lib/errors.ts";
import { pythonRosters } from "#lib/master/functions/python_rosters.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { equals, isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { eventually, Fleet, type Run } from "#tests/support/fleet/fleet.ts";
import { fromTyped, type Typed } from "#tests/support/typed_values.ts";

/** A step of a recorded case. */
interface ProgramStep {
  readonly write?: string;
  readonly text?: string;
  readonly config?: "master" | "minion";
  readonly options?: Readonly<Record<string, unknown>>;
  readonly live?: true;
  readonly program?: "salt" | "salt-run" | "salt-call";
  readonly words?: readonly string[];
  /** The target of a roster. */
  readonly roster?: string;
  readonly tgt_type?: string;
  /** The path of a file that comes. */
  readonly wait?: string;
  readonly shows?: Typed;
  readonly code?: number;
}

/** What is ours on purpose: by the step's name, the text of what ours shows; `undefined`: whatever it is. */
export type ProgramsOnPurpose = Readonly<Record<string, RegExp | undefined>>;

/** Time for a file of an engine, in milliseconds. */
const WAIT_MS = 60_000;
/** Fields of results that differ from run to run. */
const VARIABLE: readonly Value[] = ["start_time", "duration", "pid"];

/** Replays the steps of a case. */
class Replay implements AsyncDisposable {
  readonly #options: Record<"master" | "minion", Record<string, unknown>>;
  readonly #fleet: Fleet;

  constructor() {
    const master: Record<string, unknown> = { id: "ma" };
    const minion: Record<string, unknown> = { startup_states: "", grains: { own: "grain" } };
    this.#options = { master, minion };
    this.#fleet = new Fleet({ minions: ["m1"], master, minion });
    const { root } = this.#fleet;
    for (const options of [master, minion]) {
      Object.assign(options, {
        extension_modules: `${root}/ext`,
        file_roots: { base: [`${root}/srv`] },
        pillar_roots: { base: [`${root}/pillar`] },
        fileserver_list_cache_time: 0,
        root_dir: root,
      });
    }
    for (const name of ["srv", "pillar", "ext"]) Deno.mkdirSync(`${root}/${name}`);
    this.#fleet.prepareMaster();
    this.#fleet.minionOpts("m1");
  }

  /** @returns What it shows, and its exit code; `undefined` if it shows nothing. */
  async take(step: ProgramStep): Promise<{ readonly shown: Value; readonly code: number } | undefined> {
    const { root } = this.#fleet;
    if (step.write !== undefined) {
      const path = `${root}/${step.write}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, (step.text ?? "").replaceAll("{ROOT}", root));
      return undefined;
    }
    if (step.config !== undefined) return this.#configure(step.config, step.options ?? {});
    if (step.live) return await this.#live();
    if (step.wait !== undefined) return { shown: await this.#waits(`${root}/${step.wait}`), code: 0 };
    if (step.roster !== undefined) return { shown: await this.#roster(step.roster, step.tgt_type ?? "glob"), code: 0 };
    const { out, err, code } = await this.#run(step.program ?? "salt", [
      "--out=json",
      ...(step.words ?? []).map((word) => word.replaceAll("{ROOT}", root)),
    ]);
    return { shown: this.masked(shownIn(out, err)), code };
  }

  #configure(name: "master" | "minion", options: Readonly<Record<string, unknown>>): undefined {
    for (const [key, value] of Object.entries(options)) {
      if (value === null) delete this.#options[name][key];
      else this.#options[name][key] = JSON.parse(JSON.stringify(value).replaceAll("{ROOT}", this.#fleet.root));
    }
    if (name === "master") this.#fleet.prepareMaster();
    else this.#fleet.minionOpts("m1");
  }

  async #live(): Promise<undefined> {
    await this.#fleet.startMaster();
    await this.#fleet.untilServing(["m1"], () => this.#fleet.startMinion("m1"));
  }

  async #waits(path: string): Promise<Value> {
    const text = await eventually(() => {
      const text = readTextFileIfExists(path);
      return text?.endsWith("\n") ? text : undefined;
    }, { withinMs: WAIT_MS, what: `${path}, which an engine writes,` });
    return this.masked(parseJson(text));
  }

  async #roster(tgt: string, tgtType: string): Promise<Value> {
    const { opts } = loadMasterConfig({ configDir: this.#fleet.configDir });
    const rosters = pythonRosters({ opts, log: SILENT_LOGGER, signal: new AbortController().signal });
    try {
      return this.masked(new Map(await rosters.targets(opts.roster[0], { tgt, tgtType, delimiter: ":" })));
    } catch (error) {
      return this.masked(messageOf(error));
    }
  }

  #run(program: string, words: readonly string[]): Promise<Run> {
    if (program === "salt-call") return this.#fleet.saltCall("m1", ...words);
    return program === "salt" ? this.#fleet.salt(...words) : this.#fleet.saltRun(...words);
  }

  /** The value with names of places, and without what differs from run to run. */
  masked(value: Value): Value {
    if (typeof value === "string") return maskText(value.replaceAll(this.#fleet.root, "{ROOT}"));
    if (Array.isArray(value)) return value.map((item) => this.masked(item));
    if (!isMap(value)) return value;
    const kept = [...value].filter(([key]) => !VARIABLE.includes(key) && !str(key).startsWith("__pub_"));
    return new Map(kept.map(([key, item]) => [this.masked(key), this.masked(item)] as const));
  }

  /** The last lines of the logs that concern engines, for a failure. */
  get logs(): string {
    return this.#fleet.logs.filter((line) => line.includes("engine")).slice(-40).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fleet[Symbol.asyncDispose]();
  }
}

/** The JSON that a program shows, or its text. */
function shownIn(out: string, err: string): Value {
  try {
    return parseJson(out);
  } catch {
    return `${out}${err}`;
  }
}

/** A text without lines of the log, and a traceback without frames of Python's own files and lines of carets. */
function maskText(text: string): string {
  const frame = /^ {2}File "[^"]*\/lib\/python[\d.]+\/[^"]*", line \d+, in .*\n(?: {4}.*\n)*/gm;
  const said = text.replace(/^\[(?:WARNING|ERROR|CRITICAL) *\] .*\n/gm, "");
  return said.includes("Traceback (most recent") ? said.replace(/^ {4}[ ~^]+\n/gm, "").replace(frame, "") : said;
}

/** Whether a command was refused: Salt's ends with 0 then. */
function isRefusal(shown: Value): boolean {
  return shown === "Authentication error occurred." || shown === "Authorization error occurred.";
}

/** The parts of two values that differ, as texts. */
function differing(ours: Value, salts: Value): [string, string] {
  if (!isMap(ours) || !isMap(salts)) return [repr(ours), repr(salts)];
  const left = (one: ValueMap, other: ValueMap) =>
    new Map([...one].filter(([key, value]) => {
      const others = other.get(key);
      return others === undefined || !equals(value, others);
    }));
  return [repr(left(ours, salts)), repr(left(salts, ours))];
}

/**
 * Replays a case.
 * @returns The differences that are not on purpose, and those on purpose that are none.
 */
export async function replayPrograms(name: string, purpose: ProgramsOnPurpose = {}): Promise<string[]> {
  const path = new URL(`../../corpus/python_programs/${name}.json`, import.meta.url);
  const { steps }: { readonly steps: readonly ProgramStep[] } = JSON.parse(Deno.readTextFileSync(path));
  await using replay = new Replay();
  const wrong: string[] = [], seen = new Set<string>();
  let setting = "";
  for (const step of steps) {
    if (step.config !== undefined) setting = JSON.stringify(step.options);
    if (step.live) setting = "";
    const given = await replay.take(step);
    if (given === undefined || step.shows === undefined) continue;
    const salts = replay.masked(fromTyped(step.shows)), code = step.code ?? 0;
    if (equals(given.shown, salts) && (given.code === code || isRefusal(given.shown))) continue;
    const call = [step.program ?? step.wait ?? "roster", ...step.words ?? [step.roster ?? ""], setting].join(" ")
      .trim();
    seen.add(call);
    const [ours, theirs] = differing(given.shown, salts);
    if (Object.hasOwn(purpose, call) && (purpose[call]?.test(ours) ?? true)) continue;
    wrong.push(`${call}:\n  ours   ${ours} ${given.code}\n  Salt's ${theirs} ${code}`);
  }
  return [...wrong, ...Object.keys(purpose).filter((call) => !seen.has(call)).map((call) => `${call}: as Salt's`)];
}
