/**
 * Writes `docs/functions.md`, which lists the available functions of Salt's execution and state modules, from the
 * loader and from Salt's own lists (tests/corpus/argspec.json, state_argspec.json): `deno run -A
 * scripts/reference/function_tables.ts`.
 * @module
 */

import { ALIASES } from "#lib/plugins/aliases.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { compareStrings } from "#lib/values/value.ts";
import { EXECUTION_MODULES, VIRTUAL_NAMES } from "#modules/execution/_built_in.ts";
import { STATE_MODULES } from "#modules/states/_built_in.ts";
import { wrapProse } from "./wrap_prose.ts";

const ROOT = new URL("../..", import.meta.url);

/** Salt's modules, by file name. */
type SaltModules = Readonly<Record<string, { readonly name: string; readonly functions: Record<string, unknown> }>>;

/** Functions by module. */
type Functions = ReadonlyMap<string, ReadonlySet<string>>;

export async function functionTables(): Promise<string> {
  const [salt, ours] = [saltFunctions(), await ourFunctions()];
  const [saltStates, ourStates] = [saltStateFunctions(), await ourStateFunctions()];
  return wrapProse(`# Modules and their functions

*Made from the loader and from the list of Salt 3008.3 by \`deno run -A scripts/reference/function_tables.ts\`; do not edit.*

## Execution modules

${countFunctions(salt, ours)} Modules whose
name has several implementations (\`pkg\`, \`service\`) count once; which one serves depends on the host, and a call of a module
that does not serve says why. Arguments and defaults are Salt's, but for those that [differences.md](differences.md) names.

${table(salt, ours)}

### Implementations

| module | chosen among, in this order |
| --- | --- |
${implementations().join("\n")}

### Further names

${furtherNames()}

### Not there

${missingFunctions(salt, ours)}

## State modules

${countFunctions(saltStates, ourStates)} What the runtime calls
(\`mod_watch\`, \`mod_init\`, \`mod_aggregate\`) is not counted. [states.md](states.md) tells of differences.

${table(saltStates, ourStates)}

### State modules that are not there

${missingFunctions(saltStates, ourStates)}
`);
}

function countFunctions(salt: Functions, ours: Functions): string {
  const count = (functions: Functions) => [...functions.values()].reduce((sum, { size }) => sum + size, 0);
  const common = new Map([...salt].map(([module, names]) => [module, intersect(names, ours.get(module))]));
  const there = [...common.values()].filter(({ size }) => size > 0).length;
  return `Of the ${count(salt)} functions of the ${salt.size} modules that Salt 3008.3 has for Linux, ${
    count(common)
  } in ${there} modules are there.`;
}

function table(salt: Functions, ours: Functions): string {
  return `| module | functions | not there | not in Salt 3008 |
| --- | --- | --- | --- |
${[...ours].map(([module, names]) => row(module, names, salt.get(module))).join("\n")}`;
}

function missingFunctions(salt: Functions, ours: Functions): string {
  return listNames([...salt.keys()].filter((module) => !ours.has(module)));
}

function row(module: string, names: ReadonlySet<string>, salt: ReadonlySet<string> = new Set()): string {
  const missing = [...salt].filter((name) => !names.has(name));
  const more = [...names].filter((name) => !salt.has(name));
  const counted = salt.size === 0 ? `${names.size}` : `${names.size - more.length} of ${salt.size}`;
  return `| \`${module}\` | ${counted} | ${listNames(missing)} | ${listNames(more)} |`;
}

function listNames(names: readonly string[]): string {
  return [...names].sort(compareStrings).map((name) => `\`${name}\``).join(", ");
}

function implementations(): string[] {
  const several = Object.entries(VIRTUAL_NAMES).filter(([, files]) => files.length > 1);
  return several.map(([name, files]) => `| \`${name}\` | ${files.map((file) => `\`${file}\``).join(", ")} |`);
}

function furtherNames(): string {
  const named = [
    ...Object.entries(ALIASES.execution),
    ...Object.entries(ALIASES.states),
    ...Object.entries(ALIASES.returners),
  ];
  return `As in Salt 3006, ${named.map(([alias, module]) => `\`${alias}\` is \`${module}\``).join(", ")}.`;
}

function intersect(names: ReadonlySet<string>, others: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  return new Set([...names].filter((name) => others.has(name)));
}

function saltFunctions(): Functions {
  const modules: SaltModules = JSON.parse(Deno.readTextFileSync(new URL("tests/corpus/argspec.json", ROOT)));
  const ofSalt3008 = Object.entries(modules).filter(([file]) => !FORMER.includes(file));
  return groupPairs(ofSalt3008.flatMap(([, { name, functions }]) => Object.keys(functions).map((one) => [name, one])));
}

/** Modules of Salt 3006 that Salt 3008 no longer has. They are in its list because of their arguments. */
const FORMER = ["apkpkg", "gem", "gentoo_service"];

async function ourFunctions(): Promise<Functions> {
  const virtualOf = new Map(
    Object.entries(VIRTUAL_NAMES).flatMap(([name, files]) => files.map((file) => [file, name] as const)),
  );
  const entries = await loadFamily<never>(EXECUTION_MODULES).all();
  return groupPairs(entries.map(({ name }) => {
    const [file, short] = name.split(".", 2);
    return [virtualOf.get(file) ?? file, short];
  }));
}

/** Functions of state modules that the runtime calls. */
const HOOKS = ["mod_init", "mod_watch", "mod_aggregate", "mod_run_check", "mod_run_check_cmd"];

function saltStateFunctions(): Functions {
  const url = new URL("tests/corpus/state_argspec.json", ROOT);
  const modules: Readonly<Record<string, readonly string[]>> = JSON.parse(Deno.readTextFileSync(url));
  return groupPairs(Object.entries(modules).flatMap(([module, names]) => names.map((name) => [module, name])));
}

async function ourStateFunctions(): Promise<Functions> {
  const entries = await loadFamily<never>(STATE_MODULES).all();
  return groupPairs(entries.map(({ name }) => name.split(".", 2)).filter(([, name]) => !HOOKS.includes(name)));
}

function groupPairs(pairs: readonly (readonly [string, string] | string[])[]): Functions {
  const groups = new Map<string, Set<string>>();
  for (const [module, name] of [...pairs].sort((a, b) => compareStrings(a[0], b[0]))) {
    const names = groups.get(module) ?? new Set();
    groups.set(module, names.add(name));
  }
  return groups;
}

if (import.meta.main) Deno.writeTextFileSync(new URL("docs/functions.md", ROOT), await functionTables());
