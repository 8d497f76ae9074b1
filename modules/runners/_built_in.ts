/**
 * The built-in runners, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "#lib/plugins/loader.ts";

/** The table of built-in runners. */
export const RUNNERS: ModuleTable = {
  audit: () => import("./audit.ts"),
  auth: () => import("./auth.ts"),
  batch: () => import("./batch.ts"),
  bridge: () => import("./bridge.ts"),
  bus: () => import("./bus.ts"),
  cache: () => import("./cache.ts"),
  cluster: () => import("./cluster.ts"),
  config: () => import("./config.ts"),
  database: () => import("./database.ts"),
  doc: () => import("./doc.ts"),
  engines: () => import("./engines.ts"),
  error: () => import("./error.ts"),
  event: () => import("./event.ts"),
  fileserver: () => import("./fileserver.ts"),
  flow: () => import("./flow.ts"),
  git_pillar: () => import("./git_pillar.ts"),
  http: () => import("./http.ts"),
  jobs: () => import("./jobs.ts"),
  manage: () => import("./manage.ts"),
  match: () => import("./match.ts"),
  mine: () => import("./mine.ts"),
  network: () => import("./network.ts"),
  overview: () => import("./overview.ts"),
  pillar: () => import("./pillar.ts"),
  pki: () => import("./pki.ts"),
  queue: () => import("./queue.ts"),
  reactor: () => import("./reactor.ts"),
  returners: () => import("./returners.ts"),
  salt: () => import("./salt.ts"),
  saltutil: () => import("./saltutil.ts"),
  sdb: () => import("./sdb.ts"),
  ssh: () => import("./ssh.ts"),
  state: () => import("#modules/runners/state/mod.ts"),
  survey: () => import("./survey.ts"),
  test: () => import("./test.ts"),
};
