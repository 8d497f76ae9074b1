import { bringJobs } from "#lib/cluster_banks/bring_jobs.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { clusterDirectory } from "#lib/config/master_paths.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { map } from "#lib/values/value.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("jobs that a database away does not take are brought by the next start", () =>
  withTemporaryDirectory(async (root) => {
    const { opts } = loadMasterConfig({
      configDir: `${root}/etc/salt`,
      overrides: {
        root_dir: root,
        user: "root",
        id: "master-1",
        cluster_id: "prod",
        master_job_cache: "postgresql",
        job_store_wait: 0,
        postgresql: map({ host: "127.0.0.1", port: freePort() }),
      },
    });
    const jobs = jobStore(opts.cachedir, { hashType: "sha256" }), jid = makeJid(), logged: string[] = [];
    jobs.prepare(jid);
    jobs.saveLoad(jid, map({ jid, fun: "test.ping", tgt: "web1", tgt_type: "glob", arg: [], user: "root" }), ["web1"]);
    for (let start = 1; start <= 2; start++) {
      await bringJobs(opts, recordingLogger(logged));
      assertEquals(
        logged.filter((line) => line.startsWith("ERROR: Not all jobs of this master's files")).length,
        start,
      );
    }
    assertStringIncludes(logged[0], "which the next start tries: ");
    assertEquals(lexistsOrThrow(`${clusterDirectory(opts.cachedir)}/jobs_brought`), false);
  }));
