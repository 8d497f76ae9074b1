/**
 * Mistakes that `state.lint` finds beside those of the compiler: SLS files that `exclude` names, and sources of files,
 * that no environment has.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { splitSaltUrl, unescapeUrl } from "#lib/files/backends/salt_url.ts";
import type { CompileError } from "#lib/states/compiler/compile_error.ts";
import type { WalkedStates } from "#lib/states/compiler/walk.ts";
import { isGlob } from "#lib/text/glob.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** What the file server has. */
export interface ServedTree {
  /** The names of the SLS files of all environments. */
  readonly sls: readonly string[];
  /** The paths of all files of an environment. */
  files(saltenv: string): Promise<readonly string[]>;
}

const SALT_URL = "salt://";
/** The arguments of states that name a file or directory of the file server. */
const SOURCES: readonly Value[] = ["source"];

/** The mistakes in the high data of one or more SLS files. */
export async function treeMistakes(
  { high, places }: Pick<WalkedStates, "high" | "places">,
  tree: ServedTree,
): Promise<CompileError[]> {
  const errors: CompileError[] = [];
  const excludes = high.get("__exclude__");
  for (const item of listOrEmpty(excludes)) {
    const name = isMap(item) ? item.get("sls") : item;
    if (typeof name !== "string" || isGlob(name)) continue;
    if (tree.sls.includes(name)) continue;
    const place = isMap(item) ? places.key(item, "sls") : undefined;
    errors.push({
      text: `exclude names the SLS '${name}', which is not there`,
      place,
      own: true,
      ...hint(name, tree.sls),
    });
  }
  for (const [id, body] of high) {
    if (!isMap(body) || typeof id === "string" && id.startsWith("__")) continue;
    for (const [module, args] of body) {
      if (!Array.isArray(args)) continue;
      for (const arg of args) {
        if (isMap(arg)) {
          errors.push(
            ...await missingSources(arg, { id, module, env: str(body.get("__env__") ?? "base"), tree, places }),
          );
        }
      }
    }
  }
  return errors;
}

interface Holder {
  readonly id: Value;
  readonly module: Value;
  readonly env: string;
  readonly tree: ServedTree;
  readonly places: WalkedStates["places"];
}

/** A source, or the first of several that is there, must be there. */
async function missingSources(arg: ValueMap, { id, module, env, tree, places }: Holder): Promise<CompileError[]> {
  const errors: CompileError[] = [];
  for (const [name, value] of arg) {
    if (!SOURCES.includes(name)) continue;
    const urls = asList(value).map((one) => isMap(one) ? [...one.keys()][0] ?? null : one);
    // Of several sources, the first one that can be had counts: it may be one of another server.
    if (urls.length === 0 || !urls.every((url) => typeof url === "string" && url.startsWith(SALT_URL))) continue;
    const paths = urls.map((url) => splitSaltUrl(unescapeUrl(str(url))));
    const served = await Promise.all(paths.map(({ path, saltenv }) => isServed(path, saltenv ?? env, tree)));
    if (served.includes(true)) continue;
    const near = nearestName(paths[0].path, await tree.files(paths[0].saltenv ?? env));
    errors.push({
      text: `The source ${urls.map(str).join(", ")} of state '${str(id)}' (${
        str(module)
      }) is not there in saltenv '${env}'`,
      place: places.key(arg, name),
      own: true,
      ...near !== undefined && { hint: `Did you mean ${SALT_URL}${near}?` },
    });
  }
  return errors;
}

async function isServed(path: string, saltenv: string, tree: ServedTree): Promise<boolean> {
  const directory = `${rstripChars(path, "/")}/`;
  return (await tree.files(saltenv)).some((file) => file === path || file.startsWith(directory));
}

function hint(name: string, known: readonly string[]): { readonly hint?: string } {
  const near = nearestName(name, known);
  return near === undefined ? {} : { hint: `Did you mean '${near}'?` };
}
