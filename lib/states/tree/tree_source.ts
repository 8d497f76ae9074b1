/**
 * Renders SLS and top files of a file server, for the compiler (lib/states/compiler).
 * @module
 */

import { baseName } from "#lib/os/paths.ts";
import { placeText, RenderError, type RenderErrorDetail } from "#lib/errors.ts";
import { moduleNameOf } from "#lib/plugins/loader.ts";
import { type RenderMistake, SlsRenderError } from "#lib/states/compiler/compile_error.ts";
import type { RenderedFile, TopSource } from "#lib/states/compiler/source.ts";
import { asListIfTruthy } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import type { Rendered, RenderRequest } from "#lib/render/render.ts";

/** The part of a file client that is used. */
export interface TreeFiles {
  getState(sls: string, saltenv: string): Promise<{ readonly source: string; readonly dest: string } | undefined>;
  cacheFile(url: string, saltenv: string): Promise<string | undefined>;
  listStates(saltenv: string): Promise<string[]>;
  fileList(saltenv: string, prefix?: string): Promise<string[]>;
  envs(): Promise<string[]>;
  masterTops(opts: ValueMap): Promise<ValueMap>;
}

export interface TreeSetting {
  readonly files: TreeFiles;
  /** The path of the top file. */
  readonly stateTop: string;
  /** The options merged with the master's: `file_roots`, `env_order`. */
  readonly opts: ValueMap;
  render(request: RenderRequest): Promise<Rendered>;
}

/** The tree of a file server. */
export class TreeSource implements TopSource {
  readonly #setting: TreeSetting;
  readonly #texts = new Map<string, string | undefined>();
  #envs: Promise<readonly string[]> | undefined;

  constructor(setting: TreeSetting) {
    this.#setting = setting;
  }

  /**
   * The text of a file that has been rendered, by the name that places have; `undefined` if two environments have one.
   */
  text(name: string): string | undefined {
    return this.#texts.get(name);
  }

  /** `base` and those of the options and of the file server; or those of `env_order`. */
  envs(): Promise<readonly string[]> {
    this.#envs ??= this.#readEnvs();
    return this.#envs;
  }

  async #readEnvs(): Promise<readonly string[]> {
    const { opts, files } = this.#setting;
    const roots = opts.get("file_roots");
    const order = opts.get("env_order");
    const served = await files.envs();
    const ordered = Array.isArray(order) ? [...new Set(order.map(str))] : [];
    if (ordered.length > 0) return served.length > 0 ? ordered.filter((env) => served.includes(env)) : ordered;
    return [...new Set(["base", ...isMap(roots) ? [...roots.keys()].map(str) : [], ...served])];
  }

  /** @throws {CommandError} If the file server cannot list its files. */
  available(saltenv: string): Promise<readonly string[]> {
    return this.#setting.files.listStates(saltenv);
  }

  /**
   * The paths of all files.
   * @throws {CommandError} If the file server cannot list its files.
   */
  files(saltenv: string): Promise<readonly string[]> {
    return this.#setting.files.fileList(saltenv);
  }

  /** The names of the state modules in `_states` of the tree, in a language that is loaded here. */
  async ownStateModules(): Promise<string[]> {
    const { files } = this.#setting;
    const paths = await Promise.all((await this.envs()).map((env) => files.fileList(env, "_states")));
    return paths.flat().flatMap((path) => moduleNameOf(baseName(path)) ?? []);
  }

  /**
   * @throws {SlsRenderError} With the renderer's message.
   * @throws {CommandError} If the file cannot be fetched.
   */
  async render(sls: string, saltenv: string): Promise<RenderedFile | undefined> {
    const state = await this.#setting.files.getState(sls, saltenv);
    if (state === undefined) return undefined;
    const name = state.source.replace(/^salt:\/\//, "");
    return await this.#render({ dest: state.dest, name, sls, saltenv });
  }

  /** As {@linkcode render}, for a file of this host. */
  async renderFile(path: string, saltenv: string): Promise<RenderedFile> {
    return await this.#render({ dest: path, name: path, sls: path, saltenv });
  }

  /**
   * Renders a text that is not in a file.
   * @throws {RenderError}
   */
  async renderText(text: string): Promise<Value> {
    return (await this.#setting.render({ text, sls: "", saltenv: "base" })).data;
  }

  /** As {@linkcode render}, for the file in the option `state_top`. */
  async renderTop(saltenv: string): Promise<RenderedFile | undefined> {
    const { stateTop, files } = this.#setting;
    const dest = await files.cacheFile(`salt://${stateTop}`, saltenv);
    return dest === undefined ? undefined : await this.#render({ dest, name: stateTop, sls: "", saltenv });
  }

  async masterTops(): Promise<ReadonlyMap<string, readonly Value[]>> {
    const tops = new Map<string, readonly Value[]>();
    const { files, opts } = this.#setting;
    for (const [env, names] of await files.masterTops(opts)) {
      // As in Salt, a map stands for its keys. A text is one name.
      tops.set(str(env), isMap(names) ? [...names.keys()] : asListIfTruthy(names));
    }
    return tops;
  }

  async #render(file: { dest: string; name: string; sls: string; saltenv: string }): Promise<RenderedFile> {
    const { dest, name, sls, saltenv } = file;
    const text = await readSls(dest);
    this.#texts.set(name, this.#texts.has(name) && this.#texts.get(name) !== text ? undefined : text);
    try {
      const { data, positions } = await this.#setting.render({ text, path: dest, name, sls, saltenv });
      return { data, positions, isInit: name.endsWith("/init.sls") };
    } catch (error) {
      if (!(error instanceof RenderError)) throw error;
      throw new SlsRenderError(error.saltText, mistakeOf(error.detail), { cause: error });
    }
  }
}

async function readSls(path: string): Promise<string> {
  const bytes = await Deno.readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SlsRenderError("The file is not UTF-8 text", { place: { file: path, line: 1 } }, { cause: error });
  }
}

function mistakeOf({ place, excerpt, chain = [], hint, isFailure }: RenderErrorDetail): RenderMistake {
  const more = [...chain.map((by) => `from ${placeText(by)}`), ...hint === undefined ? [] : [hint]];
  return { place, quoted: excerpt !== undefined, ...more.length > 0 && { hint: more.join("\n") }, isFailure };
}
