/**
 * The trees and the configuration of a minion without a master.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";

/**
 * Writes `files` below `directory`, and `conf/minion` there: web1, whose trees are `states` and `pillar`, and whose own
 * directory is `minion`.
 * @param options Further options of the minion.
 */
export function writeMasterlessTree(
  directory: string,
  files: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>> = {},
): void {
  const minion = {
    id: "web1",
    root_dir: `${directory}/minion`,
    file_client: "local",
    file_roots: { base: [`${directory}/states`] },
    pillar_roots: { base: [`${directory}/pillar`] },
    grains: { role: "inner-web" },
    ...options,
  };
  for (const [name, text] of Object.entries({ ...files, "conf/minion": JSON.stringify(minion) })) {
    const path = `${directory}/${name}`;
    Deno.mkdirSync(dirName(path), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }
}
