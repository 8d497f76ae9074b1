/**
 * Converts the names of SLS files to high data: renders the files, each after its includes.
 * Source: Salt 3008.3, `BaseHighState.render_highstate`, `render_state` of `salt/state.py`.
 * @module
 */

import { FIRST_ORDER, giveOrders } from "./auto_order.ts";
import { type CompileError, SlsRenderError } from "./compile_error.ts";
import { declareSls } from "./declarations.ts";
import { firstPair } from "./high.ts";
import { absoluteName } from "./include_names.ts";
import { mergeFile, notMergeable, splitExtends } from "./merge_files.ts";
import { type Origin, Places } from "./place.ts";
import type { RenderedFile, SlsSource } from "./source.ts";
import { compileGlob, isGlob } from "#lib/text/glob.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { listUnder } from "#lib/values/shape.ts";
import { isMap, repr, type Value, type ValueMap } from "#lib/values/value.ts";

/** The SLS names of each environment, globs among them. */
export type Matches = ReadonlyMap<string, readonly string[]>;

/** High data of several files. */
export interface WalkedStates {
  readonly high: ValueMap;
  readonly places: Places;
  readonly errors: readonly CompileError[];
  /** The files that were rendered: `base:web.tls`. */
  readonly files: ReadonlySet<string>;
}

/** The placeholder for the environment of the included file; used only if there is an environment `__env__`. */
const ANY_MATCHED_ENV = "_xenv";

/** Renders the files in `matches`, and their includes. `autoOrder`: the option `state_auto_order`. */
export async function walkSls(
  matches: Matches,
  source: SlsSource,
  { autoOrder = true }: { readonly autoOrder?: boolean } = {},
): Promise<WalkedStates> {
  const walk = new Walk(matches, source, autoOrder);
  await walk.all();
  return { high: walk.high, places: walk.places, errors: walk.errors, files: walk.rendered };
}

/** One file with all its includes. */
interface Tree {
  readonly data: Value;
  readonly errors: CompileError[];
}

/** An include of a file. */
interface Include {
  readonly item: Value;
  readonly place: Origin;
  readonly sls: string;
  readonly saltenv: string;
  readonly isInit: boolean;
}

class Walk {
  readonly high: ValueMap = new Map();
  readonly places = new Places();
  readonly errors: CompileError[] = [];
  readonly #matches: Matches;
  readonly #source: SlsSource;
  readonly #autoOrder: boolean;
  readonly #available = new Map<string, { list: readonly string[]; set: ReadonlySet<string> }>();
  /** `base:web` of every file that has been rendered. */
  readonly rendered = new Set<string>();
  #nextOrder = FIRST_ORDER;

  constructor(matches: Matches, source: SlsSource, autoOrder: boolean) {
    this.#matches = matches;
    this.#source = source;
    this.#autoOrder = autoOrder;
  }

  async all(): Promise<void> {
    for (const [saltenv, names] of this.#matches) for (const name of names) await this.#addSls(name, saltenv);
    splitExtends(this.high);
  }

  async #addSls(name: string, saltenv: string): Promise<void> {
    const exists = await this.#hasEnv(saltenv);
    if (!exists && !await this.#hasEnv("__env__")) {
      this.errors.push({ text: `No matching salt environment for environment '${saltenv}' found` });
    }
    const matches = await this.#matching(name, exists ? saltenv : "__env__");
    for (const sls of matches.length > 0 ? matches : [name]) {
      if (this.rendered.has(`${saltenv}:${sls}`)) continue;
      const { data, errors } = await this.#tree(sls, saltenv);
      if (isMap(data)) errors.push(...mergeFile(this.high, data, this.places));
      else errors.push(notMergeable(data));
      for (const error of errors) {
        const missing = error.text.includes("is not available") && error.text.includes(`SLS ${name} in saltenv`);
        this.errors.push(missing ? await this.#noMatch(name, saltenv, error) : error);
      }
    }
  }

  async #noMatch(name: string, saltenv: string, { hint, place }: CompileError): Promise<CompileError> {
    const text = `No matching sls found for '${name}' in env '${saltenv}'`;
    if (hint !== undefined || !await this.#hasEnv(saltenv)) return { text, hint, place };
    return { text, place, ...await this.#nearest(name, saltenv) };
  }

  /** The name that was probably meant, as a hint. */
  async #nearest(name: string, saltenv: string): Promise<{ hint?: string }> {
    const near = nearestName(name, (await this.#names(saltenv)).list);
    return near === undefined || near === name ? {} : { hint: `Did you mean '${near}'?` };
  }

  async #hasEnv(saltenv: string): Promise<boolean> {
    return saltenv === "base" || (await this.#source.envs()).includes(saltenv);
  }

  async #names(saltenv: string): Promise<{ list: readonly string[]; set: ReadonlySet<string> }> {
    const earlier = this.#available.get(saltenv);
    if (earlier !== undefined) return earlier;
    const list = await this.#hasEnv(saltenv) ? await this.#source.available(saltenv) : [];
    const names = { list, set: new Set(list) };
    this.#available.set(saltenv, names);
    return names;
  }

  /** The files for a name or a glob. */
  async #matching(name: string, saltenv: string): Promise<readonly string[]> {
    const { list, set } = await this.#names(saltenv);
    if (!isGlob(name)) return set.has(name) ? [name] : [];
    return list.filter(compileGlob(name));
  }

  async #tree(sls: string, saltenv: string, place: Origin = () => undefined): Promise<Tree> {
    let file: RenderedFile | undefined;
    try {
      file = await this.#source.render(sls, saltenv);
    } catch (error) {
      if (!(error instanceof SlsRenderError)) throw error;
      this.rendered.add(`${saltenv}:${sls}`);
      const { isFailure = false, ...mistake } = error.mistake;
      const failed = isFailure ? `SLS ${sls} failed, render error:` : `SLS '${saltenv}:${sls}' failed:`;
      return { data: new Map(), errors: [{ text: `Rendering ${failed} ${error.message}`, ...mistake }] };
    }
    if (file === undefined) {
      const text = `Specified SLS ${sls} in saltenv ${saltenv} is not available on the salt master or through a ` +
        "configured fileserver";
      return { data: new Map(), errors: [{ text, place: place(), ...await this.#nearest(sls, saltenv) }] };
    }
    this.rendered.add(`${saltenv}:${sls}`);
    if (file.positions !== undefined) this.places.add(file.positions);
    return await this.#declared(file, sls, saltenv);
  }

  async #declared({ data, isInit }: RenderedFile, sls: string, saltenv: string): Promise<Tree> {
    if (!isMap(data)) {
      const empty = data === null || data === false || data === 0 || data === "" ||
        (Array.isArray(data) && data.length === 0);
      if (empty) return { data: new Map(), errors: [] };
      return { data, errors: [{ text: `SLS ${sls} does not render to a dictionary` }] };
    }
    const { includes, errors } = declareSls({ data, sls, saltenv }, this.places);
    for (const [i, item] of includes.entries()) {
      const place = () => this.places.item(includes, i);
      errors.push(...await this.#include({ item, place, sls, saltenv, isInit }, data));
    }
    if (this.#autoOrder) this.#nextOrder = giveOrders(data, this.#nextOrder);
    return { data, errors };
  }

  /**
   * Adds the files of an include.
   * @returns The errors.
   */
  async #include(include: Include, into: ValueMap): Promise<CompileError[]> {
    const { item, place, sls, saltenv } = include;
    const [env, written] = isMap(item) ? firstPair(item) ?? [] : [saltenv, item];
    if (typeof env !== "string" || typeof written !== "string") {
      return [{ text: `Include ${repr(item)} in SLS '${saltenv}:${sls}' is no name of an SLS file`, place: place() }];
    }
    const target = await this.#resolve(env, written, include);
    if ("text" in target) return [target];
    const errors: CompileError[] = [];
    const matches = await this.#matching(target.name, saltenv);
    for (const name of matches.length > 0 ? matches : [target.name]) {
      if (this.rendered.has(`${target.env}:${name}`)) continue;
      const tree = await this.#tree(name, target.env, place);
      if (isMap(tree.data)) {
        noteIncluder(tree.data, sls);
        errors.push(...mergeFile(into, tree.data, this.places));
      }
      errors.push(...tree.errors);
    }
    return errors;
  }

  async #resolve(
    env: string,
    written: string,
    include: Include,
  ): Promise<{ name: string; env: string } | CompileError> {
    const { place, sls, saltenv } = include;
    if (!await this.#hasEnv(env) && !await this.#hasEnv("__env__")) {
      const text = `Nonexistent saltenv '${env}' found in include of '${written}' within SLS '${saltenv}:${sls}'`;
      return { text, place: place() };
    }
    const name = absoluteName(written, include);
    if (name === undefined) {
      const text =
        `Attempted relative include of '${written}' within SLS '${saltenv}:${sls}' goes beyond top level package `;
      return { text, place: place() };
    }
    const matched = [...this.#matches.keys()];
    const resolved: string[] = [];
    if (env === ANY_MATCHED_ENV) {
      for (const other of matched) if ((await this.#matching(name, other)).length > 0) resolved.push(other);
    } else if (this.#matches.has(env) || (await this.#matching(name, env)).length > 0) {
      resolved.push(env);
    }
    if (resolved.length === 1) return { name, env: resolved[0] };
    if (resolved.includes(saltenv)) return { name, env: saltenv };
    if (resolved.length > 1) {
      const text = `Ambiguous include: Specified SLS ${env}: ${name} is available on the salt master in multiple ` +
        `available saltenvs: ${resolved.join(", ")}`;
      return { text, place: place() };
    }
    const text = `Unknown include: Specified SLS ${env}: ${name} is not available on the salt master in saltenv(s): ` +
      `${env === ANY_MATCHED_ENV ? matched.join(", ") : env} `;
    return { text, place: place(), ...await this.#nearest(name, env === ANY_MATCHED_ENV ? saltenv : env) };
  }
}

/** Stores in every ID of an included file which files include it, the nearest first. */
function noteIncluder(data: ValueMap, sls: string): void {
  for (const [id, body] of data) {
    if (isMap(body) && !(typeof id === "string" && id.startsWith("__"))) {
      listUnder(body, "__sls_included_from__").push(sls);
    }
  }
}
