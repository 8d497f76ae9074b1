/**
 * Marks that the package lists must be read before the next state that needs them: a file that exists from the
 * beginning of a run until they have been read. Source: Salt 3008.3, `salt/utils/pkg/__init__.py`.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { removeIfExists, statIfExists } from "#lib/os/atomic_file.ts";
import { isTrue } from "#lib/values/is_true.ts";
import type { Value } from "#lib/values/value.ts";

function tagFile({ cachedir }: MinionOpts): string {
  return `${cachedir}/pkg_refresh`;
}

/** Records that the lists must be read. */
export function askForRefresh(opts: MinionOpts): void {
  if (isAskedForRefresh(opts)) return;
  Deno.mkdirSync(opts.cachedir, { recursive: true });
  Deno.writeTextFileSync(tagFile(opts), "");
}

function isAskedForRefresh(opts: MinionOpts): boolean {
  return statIfExists(tagFile(opts))?.isFile ?? false;
}

/** Records that they have been read. */
export function noteRefresh(opts: MinionOpts): void {
  removeIfExists(tagFile(opts));
}

/** Whether to read them, by the argument `refresh` of a state: true, false, or `null`: depends on the file. */
export function wantsRefresh(refresh: Value, opts: MinionOpts): boolean {
  return isTrue(refresh) || (refresh !== false && isAskedForRefresh(opts));
}
