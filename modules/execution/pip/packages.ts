/**
 * What pip tells of the packages that are installed, for the functions of the module `pip`.
 * Source: the functions of Salt 3008.3 `salt/modules/pip.py`.
 * @module
 */

import { isPipOlderThan, type Pip, readPip, versionOf } from "./running.ts";
import {
  normalizePipName,
  parseFreeze,
  parsePipList,
  parsePipOutdated,
} from "#lib/host/language_packages/pip_output.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** The lines of `pip freeze`. */
export async function freezePackages(pip: Pip, more: ValueMap, context: JobContext): Promise<string[]> {
  const all = isPipOlderThan(await versionOf(pip, context), "8.0.3") ? [] : ["--all"];
  return await readPip(["freeze", ...all, "--disable-pip-version-check"], pip, { context, more, read: splitLines });
}

function beginning(packages: ReadonlyMap<string, string>, prefix: string | null): ValueMap {
  const start = prefix ? normalizePipName(prefix) : "";
  return new Map([...packages].filter(([name]) => name.startsWith(start)));
}

/** The versions of the packages that `pip freeze` tells, by name; of those whose names begin with `prefix`. */
export async function listFrozen(
  prefix: string | null,
  pip: Pip,
  more: ValueMap,
  context: JobContext,
): Promise<ValueMap> {
  const start = prefix ? normalizePipName(prefix) : "";
  const packages: ValueMap = new Map();
  if ("pip".startsWith(start)) packages.set("pip", await versionOf(pip, context));
  return new Map([...packages, ...beginning(parseFreeze(await freezePackages(pip, more, context)), prefix)]);
}

/** The versions of the packages that are installed, by name; of those whose names begin with `prefix`. */
export async function packagesOf(
  prefix: string | null,
  pip: Pip,
  more: ValueMap,
  context: JobContext,
): Promise<ValueMap> {
  if (isPipOlderThan(await versionOf(pip, context), "9.0")) return await listFrozen(prefix, pip, more, context);
  const words = ["list", "--format=json", "--disable-pip-version-check"];
  const all = await readPip(words, pip, { context, more, read: parsePipList });
  const pairs = all.map((one): [string, string] => [
    normalizePipName(str(one.get("name") ?? "")),
    str(one.get("version") ?? ""),
  ]);
  return beginning(new Map(pairs), prefix);
}

/** The versions of the packages that there is a newer version of, by name. */
export async function upgradesOf(pip: Pip, context: JobContext): Promise<ValueMap> {
  const version = await versionOf(pip, context);
  const isOld = isPipOlderThan(version, "9.0");
  const words = ["list", "--outdated", "--disable-pip-version-check", ...isOld ? [] : ["--format=json"]];
  if (isOld) {
    const isOldest = isPipOlderThan(version, "8.0.0");
    return await readPip(words, pip, { context, read: (listed) => parsePipOutdated(listed, { isOldest }) });
  }
  const upgrades = await readPip(words, pip, { context, read: parsePipList });
  const field = (one: ValueMap, name: string) => str(one.get(name) ?? null);
  return new Map(
    upgrades.map((one) => [
      field(one, "name"),
      `${field(one, "latest_version")} [${field(one, "latest_filetype")}]`,
    ]),
  );
}
