/**
 * The functions that can be called, with their typed parameters: of execution modules, runners and wheel modules. The
 * modules are loaded when they are first asked for.
 * @module
 */

import type { JsonSchema } from "#lib/api/http/json_schema.ts";
import { loadRunners, loadWheel } from "#lib/master/functions/catalogues.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { ALIASES } from "#lib/plugins/aliases.ts";
import { type FamilyEntry, loadFamily } from "#lib/plugins/loader.ts";
import type { ModuleFunction, Parameter, ParameterType } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { compareStrings } from "#lib/values/value.ts";
import { EXECUTION_MODULES, VIRTUAL_NAMES } from "#modules/execution/_built_in.ts";

/** Where a function runs. */
export type CallKind = "local" | "runner" | "wheel";

/**
 * What a function may do, by what it declares: `reads` changes nothing, `changes` may, `any command` runs what its
 * arguments say. A function that starts programs counts as one that changes.
 */
export type FunctionRisk = "reads" | "changes" | "any command";

/** One function. */
export interface CataloguedFunction {
  readonly kind: CallKind;
  /** `test.ping` */
  readonly name: string;
  readonly doc: string;
  readonly risk: FunctionRisk;
  readonly params: ModuleFunction<unknown>["params"];
  /** The name of further positional arguments, if it takes any. */
  readonly varArgs?: string;
  /** The name of further keyword arguments, if it takes any. */
  readonly varKwargs?: string;
}

/** Modules whose functions run code or commands of their arguments. */
const ANY_COMMAND: ReadonlySet<string> = new Set(["cmd", "module", "state", "saltutil", "salt", "pip", "test_module"]);

/** All functions, the master's own modules among them; loaded once. */
export class FunctionCatalogue {
  readonly #opts: MasterOpts;
  readonly #log: Logger;
  #all: Promise<readonly CataloguedFunction[]> | undefined;

  constructor(opts: MasterOpts, log: Logger) {
    this.#opts = opts;
    this.#log = log;
  }

  /** The functions, sorted by kind and name. */
  all(): Promise<readonly CataloguedFunction[]> {
    return this.#all ??= this.#load();
  }

  async #load(): Promise<CataloguedFunction[]> {
    // Minions choose among the files of a virtual name; here the first one tells of the arguments.
    const names = { aliases: ALIASES.execution, virtualNames: VIRTUAL_NAMES };
    const execution = await loadFamily<unknown>(EXECUTION_MODULES, names).all();
    const runners = await loadRunners(this.#opts, this.#log).all();
    const wheel = await loadWheel(this.#opts, this.#log).all();
    const all = [...entriesOf("local", execution), ...entriesOf("runner", runners), ...entriesOf("wheel", wheel)];
    return all.sort((a, b) => compareStrings(`${a.kind} ${a.name}`, `${b.kind} ${b.name}`));
  }
}

function entriesOf<C>(kind: CallKind, entries: readonly FamilyEntry<C>[]): CataloguedFunction[] {
  return entries.map(({ name, fun }) => ({
    kind,
    name,
    doc: fun.doc,
    risk: riskOf(kind, name, fun.permissions ?? "none"),
    params: fun.params,
    ...fun.varArgs !== undefined && { varArgs: fun.varArgs },
    ...fun.varKwargs !== undefined && { varKwargs: fun.varKwargs },
  }));
}

function riskOf(kind: CallKind, name: string, permissions: Permissions): FunctionRisk {
  if (kind === "local" && ANY_COMMAND.has(name.split(".")[0])) return "any command";
  // Functions of the master declare nothing: they have its rights.
  if (kind !== "local" || permissions === "all") return "changes";
  if (permissions === "none") return "reads";
  const { ffi, net, run, write } = permissions;
  return [ffi, net, run, write].every((what) => what === undefined) ? "reads" : "changes";
}

/** The types of JSON of each type of a parameter; `str` takes numbers too. */
const TYPES: Readonly<Record<ParameterType, readonly string[] | undefined>> = {
  any: undefined,
  str: ["string", "number"],
  int: ["integer", "string"],
  float: ["number", "string"],
  bool: ["boolean", "string", "integer"],
  list: ["array", "string"],
  dict: ["object", "string"],
};

function parameterType({ type, default: value }: Parameter): JsonSchema {
  const types = TYPES[type];
  if (types === undefined) return {};
  return { type: value === null ? [...types, "null"] : types };
}

/** The type of the keyword arguments of a function. Each may be given by its place in `arg` as well. */
export function argumentsSchema({ params, varKwargs, doc }: CataloguedFunction): JsonSchema {
  return {
    type: "object",
    description: doc.split("\n\n", 1)[0],
    properties: Object.fromEntries(Object.entries(params).map(([name, one]) => [name, parameterType(one)])),
    additionalProperties: varKwargs !== undefined,
  };
}
