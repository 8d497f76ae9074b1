/**
 * The arguments of `file.managed`, and their preparation before anything is fetched or written. Source: Salt 3008.3
 * `salt/states/file.py` managed.
 * @module
 */

import { contentsCount } from "./contents.ts";
import { type Bound, p } from "#lib/plugins/module.ts";
import { map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The parameters, in Salt's order. */
export const PARAMS = {
  name: p.str(),
  source: p.any(null),
  source_hash: p.any(""),
  source_hash_name: p.any(null),
  keep_source: p.any(true),
  user: p.any(null),
  group: p.any(null),
  mode: p.any(null),
  attrs: p.any(null),
  template: p.any(null),
  makedirs: p.any(false),
  dir_mode: p.any(null),
  context: p.any(null),
  replace: p.any(true),
  defaults: p.any(null),
  backup: p.any(""),
  show_changes: p.any(true),
  create: p.any(true),
  contents: p.any(null),
  tmp_dir: p.str(null),
  tmp_ext: p.str(""),
  contents_pillar: p.any(null),
  contents_grains: p.any(null),
  contents_newline: p.any(true),
  contents_delimiter: p.str(":"),
  encoding: p.str(null),
  encoding_errors: p.str("strict"),
  allow_empty: p.any(true),
  follow_symlinks: p.bool(true),
  check_cmd: p.any(null),
  skip_verify: p.bool(false),
  selinux: p.any(null),
  win_owner: p.any(null),
  win_perms: p.any(null),
  win_deny_perms: p.any(null),
  win_inheritance: p.any(true),
  win_perms_reset: p.any(false),
  verify_ssl: p.bool(true),
  use_etag: p.bool(false),
  signature: p.any(null),
  source_hash_sig: p.any(null),
  signed_by_any: p.any(null),
  signed_by_all: p.any(null),
  keyring: p.any(null),
  gnupghome: p.any(null),
  ignore_ordering: p.bool(false),
  ignore_whitespace: p.bool(false),
  ignore_comment_characters: p.any(null),
  new_file_diff: p.bool(false),
  sig_backend: p.str("gpg"),
};

export type ManagedArguments = Bound<typeof PARAMS>;

/** A managed file: the arguments, and values derived from them. */
export interface ManagedFileRequest {
  readonly given: ManagedArguments;
  /** Arguments that are the template's variables. */
  readonly kwargs: ValueMap;
  readonly name: string;
  readonly source: Value;
  readonly sourceHash: Value;
  readonly user: Value;
  readonly mode: string | null;
  /** Whether the mode is that of the source. */
  readonly keepMode: boolean;
  readonly contents: string | Uint8Array | null;
  readonly template: Value;
  /** The template's variables, accumulators among them. */
  readonly variables: Value;
  readonly saltenv: string;
}

/** Whether the mode is to be that of the source. */
export function isKeep(mode: Value): boolean {
  return typeof mode === "string" && mode.toLowerCase() === "keep";
}

/** Errors of the arguments that do not depend on the host. */
export function wrongArguments(name: string, given: ManagedArguments): string | undefined {
  const contents = contentsCount(given);
  if (name === "") return "Destination file name is required";
  if (truthy(given.source) && contents > 0) {
    return "'source' cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'";
  }
  if (isKeep(given.mode) && contents > 0) {
    return "Mode preservation cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'";
  }
  if (contents > 1) return "Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted";
  return undefined;
}

/** The arguments for differences that do not count. */
export function ignoring(
  { ignore_ordering, ignore_whitespace, ignore_comment_characters }: ManagedArguments,
): ValueMap {
  return map({ ignore_ordering, ignore_whitespace, ignore_comment_characters });
}

/** Whether some differences do not count. */
export function ignoresDifferences(given: ManagedArguments): boolean {
  return [...ignoring(given).values()].some(truthy);
}
