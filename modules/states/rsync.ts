/**
 * State module `rsync`: directories that are copies of others.
 * Source: Salt 3006.28 `salt/states/rsync.py`, which Salt 3008 has no longer.
 * @module
 */

import { exists } from "#lib/os/file_kind.ts";
import { createDirectory } from "#lib/os/new_files.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, map, str, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = { serves: [{ programs: ["rsync"], otherwise: "Command not found: rsync" }] };

/** The last block of rsync's output: how much was sent. */
function summaryOf(output: string): string {
  const lines = output.split("\n\n").at(-1)?.replaceAll("  ", "\n").split("\n").filter((line) => line !== "") ?? [];
  return `- ${lines.join("\n- ")}`;
}

/** The names in the first block of rsync's output, after its first line. */
function changesOf(output: string): ValueMap {
  const lines = output.split("\n\n")[0].split("\n").slice(1);
  const [deleted, copied] = [true, false].map((isDeleted) =>
    lines.filter((line) => line.startsWith("deleting ") === isDeleted)
      .map((line) => isDeleted ? line.slice("deleting ".length) : line).sort(compareStrings).join("\n")
  );
  return copied === "" && deleted === "" ? new Map() : map({ copied: copied || "N/A", deleted: deleted || "N/A" });
}

export const synchronized: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a directory is a copy of another.\n\nname\n    The copy.\n\nsource\n    What is copied; it may be of the master: `salt://…`.\n\n" +
    "delete\n    Whether other files of the copy are removed.\n\nforce\n    Whether directories with files in them are removed for others.\n\nupdate\n    " +
    "Whether newer files of the copy are kept.\n\npasswordfile\n    A file with the password of an rsync daemon.\n\nexclude, excludefrom\n    A pattern of " +
    "names to leave out, or a list, or a file of patterns.\n\nprepare\n    Whether the directory is made.\n\ndryrun\n    Whether nothing is changed, as in " +
    "test mode.\n\nadditional_opts\n    A list of further options of rsync.",
  params: {
    name: p.str(),
    source: p.str(),
    delete: p.bool(false),
    force: p.bool(false),
    update: p.bool(false),
    passwordfile: p.any(null),
    exclude: p.any(null),
    excludefrom: p.any(null),
    prepare: p.bool(false),
    dryrun: p.bool(false),
    additional_opts: p.any(null),
  },
  run: async ({ name, source, prepare, ...given }, context) => {
    const isThere = exists(name);
    if (!isThere && !given.force && !prepare) {
      return failState(name, `Destination directory ${name} was not found.`);
    }
    const isDry = context.test || given.dryrun;
    if (!isThere && prepare && !isDry) createDirectory(name, { recursive: true });
    const answer = mapOrEmpty(await context.call("rsync.rsync", [source, name], map({ ...given, dryrun: isDry })));
    const [output, errors] = [str(answer.get("stdout") ?? ""), str(answer.get("stderr") ?? "")];
    if (answer.get("retcode") !== 0) return failState(name, errors);
    const changes = changesOf(output);
    if (!isDry) return { ...startResult(name), comment: summaryOf(output), changes };
    return { ...startResult(name, changes.size > 0 || !isThere ? null : true), comment: summaryOf(output), changes };
  },
});
