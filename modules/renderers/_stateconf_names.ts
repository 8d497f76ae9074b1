/**
 * Names in files for `stateconf`: those that begin with dots are relative to the file.
 * Source: Salt 3008.3, `salt/renderers/stateconf.py` _relative_to_abs_sls, _local_to_abs_sid.
 * @module
 */

import { RenderError } from "#lib/errors.ts";

/**
 * The SLS name that `relative` means in the file `sls`: each dot at its begin is one level up.
 * @throws {RenderError} If it goes beyond the top.
 */
export function absoluteSls(relative: string, sls: string): string {
  const levels = /^\.*/.exec(relative)?.[0].length ?? 0;
  const parents = sls.split(".");
  if (levels > parents.length) throw new RenderError("Attempted relative include goes beyond top level package");
  return [...parents.slice(0, parents.length - levels), relative.slice(levels)].join(".");
}

/**
 * The ID that `.id`, `.file::id` means in the file `sls`: `sls::id`.
 * @throws {RenderError} If it goes beyond the top.
 */
export function absoluteId(id: string, sls: string): string {
  if (id.includes("::")) return absoluteSls(id, sls);
  const name = absoluteSls(id, `${sls}.`);
  const dot = name.lastIndexOf(".");
  return dot < 0 ? name : `${name.slice(0, dot)}::${name.slice(dot + 1)}`;
}

/** The variable `sls_dir` of a template: the folder of the file. */
export function folderOf(sls: string): string {
  if (!sls.includes(".")) return sls === "" ? "." : sls;
  return sls.slice(0, sls.lastIndexOf(".")).replaceAll(".", "/") || ".";
}
