/**
 * The states of a minion, compiled for one call: its options and the master's, its pillar, and the files of its file
 * server. Source: Salt 3008.3, `HighState` of `salt/state.py`, the `show_*` functions of `salt/modules/state.py`.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { CommandError } from "#lib/errors.ts";
import { fileClientOf } from "#lib/files/client/open.ts";
import { askPillar } from "#lib/plugins/ask_pillar.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { decryptOverride } from "#lib/render/decrypt_override.ts";
import { jobRenderHost } from "#lib/render/job_host.ts";
import { renderSls } from "#lib/render/render.ts";
import { withDetails } from "#lib/protocol/error_details.ts";
import { type CompileError, errorDetails, errorText } from "#lib/states/compiler/compile_error.ts";
import { compile, type Compiled, type CompileOptions, type StageRoute } from "#lib/states/compiler/stages.ts";
import { matchTop, type ReadTop, readTop, type TopOptions } from "#lib/states/compiler/top_files.ts";
import { TopRenderError } from "#lib/states/compiler/top_merge.ts";
import { type Matches, type WalkedStates, walkSls } from "#lib/states/compiler/walk.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { isTopMatchType, matchesTop } from "#lib/targeting/top_match.ts";
import { mapOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { listNames, pillarOverride, settingsOf, stateTopPath, withMasterOpts } from "./settings.ts";
import { stateModules, usedStates } from "./state_modules.ts";
import { TreeSource } from "./tree_source.ts";

/** The states of a minion for one call. */
export interface HighState {
  /** The environment of the call or the options. */
  readonly saltenv: string | undefined;
  readonly source: TreeSource;
  /** The options with those of the master. */
  readonly opts: ValueMap;
  readonly pillar: ValueMap;
  /** The SLS name of the top file. */
  readonly topName: string;
  /** The option `nodegroups`. */
  readonly nodegroups: ValueMap;
  /** The names of the matchers of plugins, for top files. */
  readonly ownMatchers: ReadonlySet<string>;
  /**
   * Reads the top file.
   * @throws {CommandError} If a section of it is not a map.
   */
  top(): Promise<ReadTop>;
  /** The SLS names that a top file assigns to this minion. */
  matches(top: ReadTop): Promise<Map<string, string[]>>;
  /** The high data of SLS files. */
  walk(matches: Matches): Promise<WalkedStates>;
  /** Compiles high data. */
  compile(high: Pick<WalkedStates, "high" | "places">, route: StageRoute): Promise<Compiled>;
  /** The options of a compilation of `high`. */
  compileOptions(high: ValueMap): Promise<CompileOptions>;
  /** Compiles the pillar of the call again. */
  gatherPillar(): Promise<ValueMap>;
  /** Errors with excerpts of their files, for people. */
  texts(errors: readonly CompileError[]): string[];
  /** Errors for a return: Salt's texts. Their details are told to the job; both are logged. */
  refusal(errors: readonly CompileError[]): string[];
}

/** Options of {@linkcode openHighState}. */
export interface OpenSetting {
  /** Whether the pillar is compiled again if the one in memory may be outdated. */
  readonly freshPillar?: boolean;
  /** Whether the call is for SLS files, whose environment is `base` if neither the call nor the minion has one. */
  readonly ofSls?: boolean;
  /** Options that replace the minion's and the master's. */
  readonly options?: Readonly<Record<string, Value>>;
}

/**
 * Opens the states of the minion that runs a job.
 * @param kwargs The arguments of the call: `saltenv`, `pillar`, `pillarenv`, `pillar_enc`, `test`.
 */
export async function openHighState(
  context: JobContext,
  kwargs: ValueMap,
  { freshPillar = false, ofSls = false, options = {} }: OpenSetting = {},
): Promise<HighState> {
  const called = settingsOf(optsValues(context.opts), kwargs);
  const files = fileClientOf(context);
  const isLocal = context.opts.file_client === "local";
  const opts = isLocal ? called.opts : withMasterOpts(called.opts, await files.masterOpts());
  if (kwargs.has("test")) opts.set("test", kwargs.get("test") ?? null);
  const saltenv = called.saltenv ?? (ofSls ? "base" : undefined);
  if (saltenv !== undefined) opts.set("saltenv", saltenv);
  for (const [name, value] of Object.entries(options)) opts.set(name, value);
  const pillar = await pillarOf(context, kwargs, freshPillar && !isSaltCall(context));
  // Templates see the values of pillar, which `pillar.*` masks in results.
  const inner = { ...context, pillar, showsPillar: true };
  const host = { ...jobRenderHost(inner, { cacheFile: (url, env) => files.cacheFile(url, env) }), opts };
  const source = new TreeSource({
    files,
    stateTop: stateTopPath(opts),
    opts,
    render: (request) => renderSls(request, host),
  });
  const gatherPillar = () => pillarOf(context, kwargs, true);
  return new OpenHighState({ context: inner, opts, pillar, source, saltenv, gatherPillar });
}

/** Whether `salt-call` runs this: its pillar has just been compiled. */
function isSaltCall({ job }: JobContext): boolean {
  return job.tgt === "salt-call";
}

/**
 * The pillar of the call: the one in memory, unless the call overrides values, names an environment, or asks for a
 * fresh one.
 */
async function pillarOf(context: JobContext, kwargs: ValueMap, fresh: boolean): Promise<ValueMap> {
  const given = pillarOverride(kwargs), renderer = kwargs.get("pillar_enc") ?? null;
  const override = given === undefined || renderer === null
    ? given
    : await decryptOverride(given, str(renderer), context);
  const [pillarenv, saltenv] = ["pillarenv", "saltenv"].map((name) => textOrNull(kwargs.get(name)));
  if (override === undefined && pillarenv === null && !fresh) return context.pillar;
  if (override !== undefined && !isMap(override)) {
    throw new CommandError("Pillar override was not passed as a dictionary");
  }
  return await askPillar({ override, pillarenv, saltenv }, context);
}

/**
 * Refuses a pillar that could not be compiled.
 * @throws {CommandError} With the errors of the pillar.
 */
export function checkPillar(pillar: ValueMap, kwargs: ValueMap): void {
  const errors = pillar.get("_errors");
  if (!truthy(errors) || truthy(kwargs.get("force"))) return;
  const lines = (Array.isArray(errors) ? errors : [errors ?? null]).map(str);
  throw new CommandError(`Pillar failed to render. Additional info follows:\n\n${lines.join("\n")}`);
}

interface Parts {
  readonly context: JobContext;
  readonly opts: ValueMap;
  readonly pillar: ValueMap;
  readonly source: TreeSource;
  readonly saltenv: string | undefined;
  gatherPillar(): Promise<ValueMap>;
}

class OpenHighState implements HighState {
  readonly saltenv: string | undefined;
  readonly source: TreeSource;
  readonly opts: ValueMap;
  readonly pillar: ValueMap;
  readonly #context: JobContext;

  readonly gatherPillar: () => Promise<ValueMap>;

  constructor({ context, opts, pillar, source, saltenv, gatherPillar }: Parts) {
    this.gatherPillar = gatherPillar;
    this.#context = context;
    this.opts = opts;
    this.pillar = pillar;
    this.source = source;
    this.saltenv = saltenv;
  }

  get topName(): string {
    return stateTopPath(this.opts).replace(/\.sls$/, "").replaceAll("/", ".");
  }

  get nodegroups(): ValueMap {
    return mapOrEmpty(this.opts.get("nodegroups"));
  }

  get ownMatchers(): ReadonlySet<string> {
    const names = (this.#context.catalogue.ownModules ?? []).flatMap((name) => MATCHER.exec(name)?.[1] ?? []);
    return new Set(names);
  }

  async top(): Promise<ReadTop> {
    const read = await readTop(this.source, this.#topOptions()).catch((error) => {
      throw error instanceof TopRenderError ? new CommandError(error.message, { cause: error }) : error;
    });
    for (const text of this.texts(read.unreadable)) this.#context.log("mistake", text);
    return read;
  }

  async matches({ top }: ReadTop): Promise<Map<string, string[]>> {
    const matches = await matchTop(top, this.source, this.#topOptions());
    return new Map([...matches].map(([env, names]) => [env, names.map(str)]));
  }

  walk(matches: Matches): Promise<WalkedStates> {
    return walkSls(matches, this.source, { autoOrder: truthy(this.opts.get("state_auto_order") ?? true) });
  }

  async compile(walked: Pick<WalkedStates, "high" | "places">, route: StageRoute): Promise<Compiled> {
    return compile(walked, route, await this.compileOptions(walked.high));
  }

  texts(errors: readonly CompileError[]): string[] {
    return errors.map((error) => errorText(error, (file) => this.source.text(file)));
  }

  refusal(errors: readonly CompileError[]): string[] {
    const told = errors.map(({ text, own }, i) => {
      const details = errorDetails(errors[i], (file) => this.source.text(file));
      const whole = withDetails(text, details);
      this.#context.log("mistake", whole);
      // An error that Salt does not have is compared with nothing: its text has the details.
      return own === true ? { text: whole, details: "" } : { text, details };
    });
    this.#context.setErrorDetails?.(told.map(({ details }) => details));
    return told.map(({ text }) => text);
  }

  #topOptions(): TopOptions {
    const { opts, saltenv } = this;
    const { grains, log } = this.#context;
    const subject = { id: this.#context.opts.id ?? "", grains: factsOf(grains), pillar: factsOf(this.pillar) };
    const context = { nodegroups: this.nodegroups, log };
    const own = this.ownMatchers;
    const stateTopSaltenv = opts.get("state_top_saltenv");
    return {
      strategy: str(opts.get("top_file_merging_strategy") ?? "merge"),
      defaultTop: str(opts.get("default_top") ?? ""),
      saltenv,
      stateTopSaltenv: truthy(stateTopSaltenv) ? str(stateTopSaltenv ?? "") : undefined,
      masterTopsFirst: truthy(opts.get("master_tops_first")),
      // checkTop() tells of a matcher that nobody has.
      matches: (target, matcher) =>
        own.has(matcher)
          ? matchesByPlugin(target, matcher, this.#context)
          : isTopMatchType(matcher) && matchesTop(target, matcher, subject, context),
    };
  }

  async compileOptions(high: ValueMap): Promise<CompileOptions> {
    return {
      disabledRequisites: listNames(this.opts.get("disabled_requisites")),
      aggregate: this.opts.get("state_aggregate") ?? false,
      disabledStates: listNames(this.#context.grains.get("state_runs_disabled")),
      modules: await stateModules(usedStates(high), this.#context.catalogue, {
        checkArguments: truthy(this.opts.get("state_check_arguments") ?? true),
      }),
    };
  }
}

/** The name of a plugin of matchers: `matchers/rack_match` for `match: rack`. */
const MATCHER = /^matchers\/(.+)_match$/;

/** Whether a plugin says that the target is this minion. */
async function matchesByPlugin(target: Value, matcher: string, context: JobContext): Promise<boolean> {
  const name = `matchers/${matcher}_match.match`;
  const fun = await context.catalogue.get(name);
  if (fun === undefined) throw new CommandError(`The matcher ${matcher} does not load`);
  return truthy(await invoke(fun, { name, args: [target], kwargs: new Map(), context }));
}
