/**
 * The targets of `pkg.install` and similar functions: one name or several, with versions, or files. Source: Salt
 * 3008.3, `salt/modules/pkg_resource.py` parse_targets.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";

/** The arguments that name packages. */
export interface TargetArguments {
  readonly name: string | null;
  readonly pkgs?: Value;
  readonly sources?: Value;
  readonly version?: Value;
  readonly saltenv?: Value;
}

/** The targets: packages with their versions (`null`: any), or files on this host by the name given to each. */
export type Targets =
  | { readonly kind: "repository"; readonly packages: Map<string, string | null> }
  | { readonly kind: "file"; readonly files: Map<string, string> };

/** Converts a package name to the manager's form: `vim:amd64` is `vim` on an amd64 host. */
export type NormalizeName = (name: string) => string;

/** @returns `undefined` if there are no targets, or they are contradictory, which is logged. */
export async function parseTargets(
  { name, pkgs = null, sources = null, version = null, saltenv = "base" }: TargetArguments,
  context: JobContext,
  normalize: NormalizeName = (one) => one,
): Promise<Targets | undefined> {
  const [many, files] = [parsePackageList(pkgs), parsePackageList(sources)];
  const refuse = (text: string) => void context.log("error", text);
  if (many !== undefined && files !== undefined) {
    return refuse('Only one of "pkgs" and "sources" can be used.') as undefined;
  }
  if ((many ?? files) !== undefined && version !== null) {
    context.log("warning", "'version' argument will be ignored for multiple package targets");
  }
  if (many !== undefined) return { kind: "repository", packages: repackTargets(many, normalize) };
  if (files !== undefined) return await fileTargets(files, { context, normalize, saltenv });
  if (name === null || name === "") return refuse("No package sources provided") as undefined;
  const wanted = textOrNull(version);
  return {
    kind: "repository",
    packages: new Map(name.split(",").map((one) => [checkedWord(normalize(one), "package name"), wanted])),
  };
}

/** The entries of `pkgs` or `sources`: a list, a map, or YAML; `undefined` without any. */
export function parsePackageList(given: Value): Value[] | undefined {
  const value = typeof given === "string" && given !== "" ? loadYaml(given) : given;
  if (isMap(value)) return value.size === 0 ? undefined : [...value].map(([key, item]) => new Map([[key, item]]));
  const list = Array.isArray(value) ? value : value === null || value === "" ? [] : [value];
  return list.length === 0 ? undefined : list;
}

/**
 * The packages of a list of names, and of maps from a name to its version.
 * @throws {InvocationError} If two have the same name, or one is neither a text or number nor a map with one key.
 */
export function repackTargets(pkgs: readonly Value[], normalize: NormalizeName): Map<string, string | null> {
  const packages = new Map<string, string | null>();
  const isOdd = pkgs.some((one) => isMap(one) ? one.size !== 1 : one === null || typeof one === "object");
  for (const one of isOdd ? [] : pkgs) {
    for (const [key, version] of isMap(one) ? one : [[one, null] as const]) {
      packages.set(checkedWord(normalize(str(key)), "package name"), textOrNull(version));
    }
  }
  if (pkgs.length === packages.size) return packages;
  throw refusedPackages([...pkgs]);
}

/** Salt's error for `pkgs` that do not name as many packages as they have entries. */
export function refusedPackages(pkgs: Value): InvocationError {
  return new InvocationError(
    `You are passing a list of packages that contains duplicated packages names: ${str(pkgs)}. This cannot be ` +
      "processed. In case you are targeting different versions of the same package, please target them individually",
  );
}

async function fileTargets(
  sources: readonly Value[],
  { context, normalize, saltenv }: {
    readonly context: JobContext;
    readonly normalize: NormalizeName;
    readonly saltenv: Value;
  },
): Promise<Targets | undefined> {
  const files = new Map<string, string>();
  for (const source of sources) {
    if (!isMap(source) || source.size !== 1) {
      context.log("error", "Input must be a list of 1-element dicts");
      return undefined;
    }
    const [[name, where]] = source;
    files.set(normalize(str(name)), await localFile(str(where), { name: str(name), context, saltenv }));
  }
  return { kind: "file", files };
}

/** The path on this host of a file that is named by a path or by a URL. */
async function localFile(
  source: string,
  { name, context, saltenv }: { readonly name: string; readonly context: JobContext; readonly saltenv: Value },
): Promise<string> {
  if (/^(salt|https?|ftp|s3|swift|file):\/\//.test(source)) {
    const cached = await context.call("cp.cache_file", [source], map({ saltenv }));
    if (typeof cached === "string" && cached !== "") return cached;
    throw new CommandError(`Unable to cache source ${source} for package ${name}`);
  }
  if (source.startsWith("/")) return checkedWord(source, "path of a package");
  throw new InvocationError(`Path ${source} for package ${name} is either not absolute or an invalid protocol`);
}
