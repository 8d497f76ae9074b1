/**
 * Functions of the execution module `postgres` for Debian's family: its clusters, which pg_createcluster makes.
 * Source: Salt 3006.28 `salt/modules/deb_postgres.py`, which Salt 3008 has no longer.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, type ProgramResult, requireProgram, runProgram } from "#lib/programs/run_program.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { int, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "postgres",
  serves: [{
    programs: ["pg_createcluster"],
    otherwise: "postgres execution module not loaded: pg_createcluste command not found.",
  }],
};

/** The two words that name a cluster. */
function clusterWords(version: Value, name: string): string[] {
  return [checkedWord(str(version), "version"), checkedWord(name, "cluster")];
}

/** What `cmd.run_all` returns. */
function asMap({ pid, retcode, stdout, stderr }: ProgramResult): ValueMap {
  return map({ pid, retcode, stdout, stderr });
}

export const cluster_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a cluster. Return what pg_createcluster prints, or False if it failed.",
    "postgres.cluster_create '9.3'",
    "postgres.cluster_create '9.3' 'main'",
    "postgres.cluster_create '9.3' locale='fr_FR'",
    "postgres.cluster_create '11' data_checksums=True wal_segsize='32'",
  ),
  permissions: "all",
  params: {
    version: p.any(),
    name: p.str("main"),
    port: p.any(null),
    locale: p.str(null),
    encoding: p.str(null),
    datadir: p.str(null),
    allow_group_access: p.any(null),
    data_checksums: p.any(null),
    wal_segsize: p.any(null),
  },
  async run({ version, name, port, allow_group_access, data_checksums, wal_segsize, ...texts }, context) {
    const option = (word: string, value: Value): string[] => truthy(value) ? [word, str(value)] : [];
    const initdb = [
      ...allow_group_access === true ? ["--allow-group-access"] : [],
      ...data_checksums === true ? ["--data-checksums"] : [],
      ...option("--wal-segsize", wal_segsize),
    ];
    const words = [
      requireProgram("pg_createcluster"),
      ...option("--port", port),
      ...option("--locale", texts.locale),
      ...option("--encoding", texts.encoding),
      ...option("--datadir", texts.datadir),
      ...clusterWords(version, name),
      ...[allow_group_access, data_checksums, wal_segsize].some(truthy) ? ["--", ...initdb] : [],
    ];
    const result = await runProgram(words, context, { setsRetcode: true });
    if (result.retcode === 0) return asMap(result);
    context.log("error", `Error creating a Postgresql cluster ${str(version)}/${name}`);
    return false;
  },
});

/** The clusters that pg_lsclusters lists, by version and name. */
async function clusters(context: JobContext): Promise<ValueMap> {
  const words = [requireProgram("pg_lsclusters"), "--no-header"];
  const { retcode, stdout } = await runProgram(words, context, { setsRetcode: true });
  if (retcode !== 0) context.log("error", "Error listing clusters");
  const found: ValueMap = new Map();
  for (const line of splitLines(stdout)) {
    const [version, name, port, status, user, datadir, log] = splitWhitespace(line);
    if (log === undefined) continue;
    found.set(`${version}/${name}`, map({ port: int(BigInt(port)), status, user, datadir, log }));
  }
  return found;
}

export const cluster_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the clusters, `<version>/<name>`. With verbose=True, a map of them with port, status, user, datadir and log.",
    "postgres.cluster_list",
    "postgres.cluster_list verbose=True",
  ),
  permissions: "all",
  params: { verbose: p.bool(false) },
  async run({ verbose }, context) {
    const found = await clusters(context);
    return verbose ? found : [...found.keys()];
  },
});

export const cluster_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether there is a cluster.",
    "postgres.cluster_exists '9.3'",
    "postgres.cluster_exists '9.3' 'main'",
  ),
  permissions: "all",
  params: { version: p.any(), name: p.str("main") },
  run: async ({ version, name }, context) => (await clusters(context)).has(`${str(version)}/${name}`),
});

export const cluster_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a cluster; stop=True stops it first. Return what pg_dropcluster prints.",
    "postgres.cluster_remove '9.3'",
    "postgres.cluster_remove '9.3' 'main'",
    "postgres.cluster_remove '9.3' 'main' stop=True",
  ),
  permissions: "all",
  params: { version: p.any(), name: p.str("main"), stop: p.bool(false) },
  async run({ version, name, stop }, context) {
    const words = [requireProgram("pg_dropcluster"), ...stop ? ["--stop"] : [], ...clusterWords(version, name)];
    const result = await runProgram(words, context, { setsRetcode: true });
    const returned = asMap(result);
    if (result.retcode === 0) return returned.set("changes", `Successfully removed cluster ${str(version)}/${name}`);
    context.log("error", `Error removing a Postgresql cluster ${str(version)}/${name}`);
    return returned;
  },
});
