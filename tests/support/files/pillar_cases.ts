/**
 * The cases of tests/corpus/pillar: files, options, a request, and the pillar that Python Salt compiled.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { type PillarRequest, plainRequest } from "#lib/pillar/request.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";

const DIRECTORY = new URL("../../corpus/pillar/", import.meta.url);

export interface PillarCase {
  readonly name: string;
  readonly fields: ValueMap;
}

/** All cases by name. */
export function pillarCases(): PillarCase[] {
  const names = [...Deno.readDirSync(DIRECTORY)].map(({ name }) => name).filter((name) => name.endsWith(".json"))
    .sort();
  return names.map((name) => {
    const fields = parseJson(Deno.readTextFileSync(new URL(name, DIRECTORY)));
    if (!isMap(fields)) throw new TypeError(`${name} holds no situation`);
    return { name: name.slice(0, -5), fields };
  });
}

/** A case with its files in its own directory. */
export interface PlacedCase extends Disposable {
  readonly opts: MasterOpts;
  readonly request: PillarRequest;
  /** The expected answer, Python Salt's or ours where it differs: the pillar and the merged top files, or the error. */
  readonly answer: { readonly pillar: Value; readonly top?: Value } | { readonly raises: string };
}

/** Writes the files of a case. */
export function placeCase({ fields }: PillarCase): PlacedCase {
  const root = Deno.makeTempDirSync({ prefix: "pillar_" });
  for (const [path, text] of mapAt(fields, "files")) {
    const file = `${root}/${str(path)}`;
    Deno.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(file, str(text));
  }
  for (const [name, branches] of mapAt(fields, "repositories")) makeRepository(`${root}/${str(name)}`, branches);
  const written = placed(mapAt(fields, "opts"), root) as ValueMap;
  const { opts } = loadMasterConfig({
    configDir: root,
    readsFiles: false,
    overrides: {
      root_dir: root,
      id: "master1_master",
      pillar_roots: map({ base: [`${root}/base`] }),
      ...Object.fromEntries([...written].map(([name, value]) => [str(name), value])),
    },
  });
  const request = mapAt(fields, "request");
  const answer = fields.has("ours") ? mapAt(fields, "ours") : mapAt(fields, "answer");
  return {
    opts,
    request: plainRequest(str(fields.get("minion") ?? "web1"), mapAt(fields, "grains"), {
      saltenv: nameAt(request, "saltenv"),
      pillarenv: nameAt(request, "pillarenv"),
      override: mapAt(request, "override"),
      ext: request.get("ext") ?? null,
      extraMinionData: mapAt(request, "extra_minion_data"),
    }),
    answer: answer.has("raises") ? { raises: str(answer.get("raises") ?? "") } : {
      pillar: placed(answer.get("pillar") ?? null, root),
      ...answer.has("top") && { top: placed(answer.get("top") ?? null, root) },
    },
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
}

/** A git repository with the files of each branch; a name such as `tag:v1` is a tag. */
function makeRepository(path: string, branches: Value): void {
  const git = (...args: string[]) => {
    const { success, stderr } = new Deno.Command("git", {
      args: ["-c", "user.name=t", "-c", "user.email=t@example.org", "-C", path, ...args],
    }).outputSync();
    if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  };
  Deno.mkdirSync(path, { recursive: true });
  git("init", "--quiet");
  for (const [name, files] of isMap(branches) ? branches : []) {
    const [kind, tag] = str(name).split(":");
    git("checkout", "--quiet", "--orphan", tag ?? kind);
    git("rm", "-rqf", "--ignore-unmatch", ".");
    for (const [file, text] of isMap(files) ? files : []) {
      const target = `${path}/${str(file)}`;
      Deno.mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(target, str(text));
    }
    git("add", "--all");
    git("commit", "--quiet", "-m", str(name));
    if (tag === undefined) continue;
    git("tag", tag);
    git("checkout", "--quiet", "--detach");
    git("branch", "-D", tag);
  }
}

function mapAt(fields: ValueMap, name: string): ValueMap {
  const value = fields.get(name);
  return isMap(value) ? value : new Map();
}

function nameAt(fields: ValueMap, name: string): string | null {
  const value = fields.get(name);
  return typeof value === "string" ? value : null;
}

/**
 * `value` with `{root}` replaced by the directory; maps with other keys and bytes are restored from their JSON
 * notation.
 */
function placed(value: Value, root: string): Value {
  if (typeof value === "string") return value.replaceAll("{root}", root);
  if (Array.isArray(value)) return value.map((item) => placed(item, root));
  if (!isMap(value)) return value;
  const pairs = value.get("__pairs__"), bytes = value.get("__bytes__");
  if (typeof bytes === "string") return Uint8Array.from(bytes, (char) => char.charCodeAt(0));
  const entries = Array.isArray(pairs) ? pairs.map((pair) => Array.isArray(pair) ? pair : []) : [...value];
  return new Map(entries.map(([key, item]) => [placed(key, root), placed(item, root)]));
}
