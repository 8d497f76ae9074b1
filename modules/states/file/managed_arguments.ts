/**
 * The arguments of `file.managed`, and their preparation before anything is fetched or written. Source: Salt 3008.3
 * `salt/states/file.py` managed.
 * @module
 */

import { contentsCount } from "./contents.ts";
import { any, bool, type Bound, str } from "#lib/plugins/module.ts";
import { map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The parameters, in Salt's order. */
export const PARAMS = {
  name: str(),
  source: any(null),
  source_hash: any(""),
  source_hash_name: any(null),
  keep_source: any(true),
  user: any(null),
  group: any(null),
  mode: any(null),
  attrs: any(null),
  template: any(null),
  makedirs: any(false),
  dir_mode: any(null),
  context: any(null),
  replace: any(true),
  defaults: any(null),
  backup: any(""),
  show_changes: any(true),
  create: any(true),
  contents: any(null),
  tmp_dir: str(null),
  tmp_ext: str(""),
  contents_pillar: any(null),
  contents_grains: any(null),
  contents_newline: any(true),
  contents_delimiter: str(":"),
  encoding: str(null),
  encoding_errors: str("strict"),
  allow_empty: any(true),
  follow_symlinks: bool(true),
  check_cmd: any(null),
  skip_verify: bool(false),
  selinux: any(null),
  win_owner: any(null),
  win_perms: any(null),
  win_deny_perms: any(null),
  win_inheritance: any(true),
  win_perms_reset: any(false),
  verify_ssl: bool(true),
  use_etag: bool(false),
  signature: any(null),
  source_hash_sig: any(null),
  signed_by_any: any(null),
  signed_by_all: any(null),
  keyring: any(null),
  gnupghome: any(null),
  ignore_ordering: bool(false),
  ignore_whitespace: bool(false),
  ignore_comment_characters: any(null),
  new_file_diff: bool(false),
  sig_backend: str("gpg"),
};

/** The arguments. */
export type Given = Bound<typeof PARAMS>;

/** A managed file: the arguments, and values derived from them. */
export interface Managed {
  readonly given: Given;
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
export function wrongArguments(name: string, given: Given): string | undefined {
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
export function ignoring({ ignore_ordering, ignore_whitespace, ignore_comment_characters }: Given): ValueMap {
  return map({ ignore_ordering, ignore_whitespace, ignore_comment_characters });
}

/** Whether some differences do not count. */
export function ignoresSomething(given: Given): boolean {
  return [...ignoring(given).values()].some(truthy);
}
