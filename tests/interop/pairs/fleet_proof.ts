/**
 * Checks what a master and a minion of two implementations must do together, from the first pending key to its
 * deletion.
 *
 * The list is the same for both directions: the operator's commands are those of the master's implementation.
 * @module
 */

import { dataCache } from "#tests/support/fleet/job_store.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { dumpJson } from "#lib/values/json.ts";
import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { samePem } from "#lib/crypto/pem.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { eventually } from "#tests/support/eventually.ts";
import { run } from "#tests/support/processes.ts";
import type { Salt } from "#tests/interop/salts.ts";
import { jsonDocuments, Site } from "#tests/interop/site.ts";

export interface Pair {
  /** The implementation of the master and of the operator's commands. */
  readonly master: Salt;
  /** The implementation of the minions and of `salt-call`. */
  readonly minion: Salt;
}

/** The exit code of a rejected minion: EX_NOPERM, except in 3008, which loses the code. */
function exitOfRejected({ version }: Salt): number {
  return version?.startsWith("3008.") ? 0 : 77;
}

/** Grains that have exactly one correct value on a host: both programs must compute it. */
const HOST_GRAINS = [
  "kernel",
  "kernelrelease",
  "os",
  "os_family",
  "osrelease",
  "osarch",
  "cpuarch",
  "num_cpus",
  "host",
];

/** Checks the whole list, one step for each entry. */
export async function proveFleet(t: Deno.TestContext, { master, minion }: Pair): Promise<void> {
  await using site = new Site();
  const step = (name: string, prove: () => Promise<void>) => t.step(name, () => site.explain(prove));
  const id = "web1";

  const met = await step("a new minion's key is pending until salt-key accepts it", async () => {
    await site.startMaster(master);
    site.startMinion(minion, id);
    await site.keyComes(id, "minions_pre");
    assertEquals((await site.keys()).minions_pre, [id]);
    assertEquals(await site.salt([id, "test.ping"], 2), {});
    const { code, out } = await site.operate("salt-key", ["-y", "-a", id]);
    assertEquals(code, 0);
    assertStringIncludes(out, `Key for minion ${id} accepted.`);
    const own = Deno.readTextFileSync(`${site.minionRoot(id)}/etc/salt/pki/minion/minion.pub`);
    assert(samePem(Deno.readTextFileSync(`${site.pkiDir}/minions/${id}`), own), "the accepted key is the minion's");
    await site.answers(id);
  });
  if (!met) return;

  // The rejected minion needs 10 to 20 seconds to end, so it runs during the other steps.
  const rejected = site.startMinion(minion, "bad1");

  await step("a rejected minion gets the rejection", async () => {
    await site.keyComes("bad1", "minions_pre");
    const { out } = await site.operate("salt-key", ["-y", "-r", "bad1"]);
    assertStringIncludes(out, "Key for minion bad1 rejected.");
    const { minions, minions_rejected } = await site.keys();
    assertEquals({ minions, minions_rejected }, { minions: [id], minions_rejected: ["bad1"] });
  });

  await step("test.ping is answered by the target only", async () => {
    assertEquals(await site.salt(["*", "test.ping"]), { [id]: true });
    assertEquals(await site.salt(["-E", "web[0-9]", "test.ping"]), { [id]: true });
    assertEquals(await site.salt(["-L", id, "test.ping"]), { [id]: true });
  });

  await step(
    "targets by grains, addresses and several conditions match the same minions on master and minion",
    async () => {
      const nearest = [
        ["-G", "kernel:l*x"],
        ["-S", "127.0.0.0/8"],
        ["-C", "( E@web[0-9] or nobody ) and P@kernel:(Linux|BSD) and not G@id:bad*"],
      ];
      for (const words of nearest) {
        assertEquals(await site.salt([...words, "test.ping"]), { [id]: true }, words.join(" "));
      }
      assertEquals(await site.salt(["-C", "* and not G@kernel:Linux", "test.ping"], 2), {});
    },
  );

  await step("cmd.run returns the command's output", async () => {
    assertEquals(await site.salt([id, "cmd.run", "echo 'ä €'; uname -s"]), { [id]: "ä €\nLinux" });
    const all = (await site.salt([id, "cmd.run_all", "echo out; echo err >&2"]))[id];
    const { pid, ...rest } = all as Record<string, unknown>;
    assertEquals(typeof pid, "number");
    assertEquals(rest, { retcode: 0, stdout: "out", stderr: "err" });
  });

  await step("arguments keep their types", async () => {
    const words = ["1", "1.0", "1e3", "0644", "yes", "None", "{a: 1}", "[1, 2]", "1234567890123456789", "2014-01-02"];
    const { out } = await site.operate("salt", ["--out=json", id, "test.arg", ...words, "key=value", "n=2"]);
    const { args, kwargs } = JSON.parse(out)[id];
    assertEquals(args, [1, 1, "1e3", 644, true, null, { a: 1 }, [1, 2], 1234567890123456789, "2014-01-02"]);
    assertEquals({ key: kwargs.key, n: kwargs.n }, { key: "value", n: 2 });
    assertMatch(out, /\b1\.0,/);
    assertMatch(out, /\b1234567890123456789,/);
  });

  await step("grains.items describes the host", async () => {
    const grains = (await site.salt([id, "grains.items"]))[id] as Record<string, unknown>;
    assertEquals(grains.id, id);
    assertEquals(grains.master, "127.0.0.1");
    assertEquals(grains.kernel, "Linux");
    assertEquals(grains.num_cpus, navigator.hardwareConcurrency);
    if (minion.version !== undefined) assertEquals(grains.saltversion, minion.version);
    // The other implementation gives the same values on the same host.
    const { out } = await site.call(minion.version === undefined ? master : minion, id, [
      "--local",
      "--out=json",
      "grains.items",
    ]);
    const theirs = JSON.parse(out).local;
    const pick = (all: Record<string, unknown>) => Object.fromEntries(HOST_GRAINS.map((name) => [name, all[name]]));
    assertEquals(pick(grains), pick(theirs));
    assertEquals(pick(await cachedGrains(site, master, id)), pick(theirs), "what the master keeps of them");
  });

  await step("the minion has the pillar that the master compiles for it", async () => {
    const roots = `${site.root}/pillar`;
    Deno.mkdirSync(roots, { recursive: true });
    const files = {
      "top.sls": "base:\n  'G@kernel:Linux': [a]\n  'nobody': [b]\n",
      "a.sls": "include:\n  - c: {key: 'in:c'}\nid: {{ grains.id }}\nlist: [1, {b: null}]\ntext: 'ä €'\n",
      "b.sls": "secret: 1\n",
      "c.sls": "kernel: {{ salt['grains.get']('kernel') }}\n",
    };
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${roots}/${name}`, text);
    const pillar = { in: { c: { kernel: "Linux" } }, id, list: [1, { b: null }], text: "ä €", of: id };
    await site.salt([id, "saltutil.refresh_pillar"]);
    // A Python minion may answer before its master has stored the pillar.
    await eventually(async () => "id" in Object((await site.salt([id, "pillar.raw"]))[id]), {
      what: "the minion's pillar",
    });
    // The pillar of Python minions contains a schedule.
    const { schedule: _schedule, ...raw } = Object((await site.salt([id, "pillar.raw"]))[id]);
    assertEquals(raw, pillar);
    assertEquals(await site.salt(["-I", "in:c:kernel:L*", "test.ping"]), { [id]: true });
    assertEquals(await site.saltRun(["pillar.show_pillar", id]), pillar);
  });

  await step("an unknown function is an error", async () => {
    assertEquals(await site.salt([id, "no.such"], 1), { [id]: "'no.such' is not available." });
  });

  await step("the failure of a job is in the exit code and in the jobs cache", async () => {
    assertEquals(await site.salt([id, "cmd.run", "echo no; exit 3"], 1), { [id]: "no" });
    const thrown = (await site.salt([id, "test.exception", "boom"], 1))[id];
    assertStringIncludes(String(thrown), "The minion function caused an exception");
    const jid = await site.publish([id, "cmd.run", "exit 3"]);
    const { Result } = await jobWithResult(site, jid, id);
    assertEquals(Result[id].retcode, 3);
    assertEquals(Result[id].success, false);
  });

  await step("salt waits for a long job, because saltutil.find_job finds it", async () => {
    assertEquals(await site.salt(["-t", "1", id, "test.sleep", "4"]), { [id]: true });
  });

  await step("a running job is found by all functions that list jobs", async () => {
    const gate = `${site.root}/gate`;
    const command = `while [ ! -e ${gate} ]; do sleep 0.1; done; echo over`;
    const jid = await site.publish([id, "cmd.run", command]);
    const job = await eventually(async () => {
      const answer = (await site.salt([id, "saltutil.find_job", jid]))[id] as Record<string, unknown>;
      return "pid" in answer ? answer : undefined;
    }, { what: "the job, as saltutil.find_job finds it," });
    assertEquals([job.jid, job.fun, job.arg], [jid, "cmd.run", [command]]);
    const active = await site.saltRun(["jobs.active"]) as Record<string, Record<string, unknown>>;
    assertEquals(active[jid]?.Function, "cmd.run");
    assertEquals(JSON.stringify(active[jid]?.Running).includes(id), true);
    Deno.writeTextFileSync(gate, "");
    const { Result } = await jobWithResult(site, jid, id);
    assertEquals(Result[id].return, "over");
  });

  await step("salt-run manage.up lists the minions that answer", async () => {
    assertEquals(await site.saltRun(["manage.up"]), [id]);
  });

  await step("salt-run manage.present lists the connected minions", async () => {
    // An id is found by its address only with its grains, which came with the pillar request.
    await eventually(async () => {
      assertEquals(await site.saltRun(["manage.present"]), [id]);
      assertEquals(await site.saltRun(["manage.not_present"]), []);
      return true;
    }, { what: `the presence of ${id}` });
  });

  if (master.version === undefined && minion.version !== undefined) {
    await step(
      "salt --live shows the return of a minion that cannot send live output, and sends it no request for output",
      async () => {
        assertEquals(await site.salt(["--live", id, "cmd.run", "echo one; echo two"]), { [id]: "one\ntwo" });
      },
    );
  }

  if (master.version === undefined) {
    await step(
      "salt --no-log leaves nothing on the master, even if a minion is asked whether the job still runs",
      async () => {
        const secret = "canary-of-interop";
        // Longer than the timeout: a Python minion is asked with find_job, and its reply has the arguments of the
        // running job.
        assertEquals(await site.salt(["--no-log", id, "cmd.run", `sleep 6; echo ${secret}`]), { [id]: secret });
        for (const place of ["cache", "log"]) {
          const search = await run(["grep", "-rl", secret, `${site.root}/var/${place}/salt/master`]);
          assertEquals([search.code, search.out], [1, ""]);
        }
      },
    );
  }

  await step("salt-cp copies a file, whole and in chunks", async () => {
    const source = `${site.root}/source`;
    Deno.writeTextFileSync(source, "ä €\n".repeat(20_000));
    for (const words of [[], ["--chunked"], ["--chunked", "-n"]]) {
      const dest = `${site.root}/copy${words.length}`;
      const { out, err, code } = await site.operate("salt-cp", ["--out=json", ...words, id, source, dest]);
      assertEquals(code, 0, err);
      assertEquals(jsonDocuments(out), { [id]: { [dest]: true } });
      assertEquals(Deno.readTextFileSync(dest), Deno.readTextFileSync(source));
    }
  });

  await step(
    "files and custom modules come from the master's file server, and a file is pushed to the master",
    async () => {
      const path = (name: string) => `${site.root}/srv/${name}`;
      Deno.mkdirSync(path("_modules"), { recursive: true });
      Deno.mkdirSync(path("sub/empty"), { recursive: true });
      // Several chunks, and all byte values.
      const big = new Uint8Array(2_500_000).map((_byte, i) => (i * 31 + (i >> 8)) & 0xff);
      Deno.writeFileSync(path("sub/big.bin"), big);
      Deno.writeTextFileSync(path("ä.txt"), "ä €\n");
      Deno.writeTextFileSync(path("_modules/own.py"), "def hello():\n    return 'hello'\n");
      Deno.writeTextFileSync(path("_modules/ours.js"), "export const hello = () => 'hello';\n");
      const dest = `${site.root}/fetched`;
      const funs = [
        "cp.get_dir",
        "cp.get_file",
        "cp.get_file_str",
        "cp.list_master",
        "cp.push",
        "saltutil.sync_modules",
      ];
      const words = [["salt://sub", dest], ["salt://sub/big.bin", `${dest}/zip`, "gzip=5"], ["salt://ä.txt"], [], [
        path("sub/big.bin"),
        "upload_path=/up/big.bin",
      ], ["refresh=True"]];
      Deno.mkdirSync(dest);
      const returned = await site.salt([
        id,
        funs.join(","),
        ...words.flatMap((each, i) => i === 0 ? each : [",", ...each]),
      ]);
      const modules = minion.version === undefined ? ["modules.ours", "modules.own"] : ["modules.own"];
      assertEquals(returned[id], {
        "cp.get_dir": [`${dest}/sub/big.bin`, `${dest}/sub/empty`],
        "cp.get_file": `${dest}/zip`,
        "cp.get_file_str": "ä €\n",
        "cp.list_master": ["_modules/ours.js", "_modules/own.py", "sub/big.bin", "ä.txt"],
        "cp.push": true,
        "saltutil.sync_modules": modules,
      });
      const copies = [`${dest}/sub/big.bin`, `${dest}/zip`, `${site.cacheDir}/minions/${id}/files/up/big.bin`];
      for (const copy of copies) assert(sameBytes(Deno.readFileSync(copy), big), `${copy} is what was sent`);
      const own = minion.version === undefined ? "ours.hello" : "own.hello";
      assertEquals(await site.salt([id, own]), { [id]: "hello" });
    },
  );

  await step("the documentation and the list of functions are returned", async () => {
    const functions = (await site.salt([id, "sys.list_functions", "test"]))[id] as string[];
    assert(functions.includes("test.ping"), `no test.ping in ${functions}`);
    const { out } = await site.operate("salt", ["-d", id, "test.ping"]);
    assertStringIncludes(out, "test.ping:");
  });

  await step("salt-call beside the minion uses the master, which stores the job", async () => {
    const { code, out, err } = await site.call(minion, id, ["--out=json", "test.arg", "called"]);
    assertEquals(code, 0, err);
    assertEquals(JSON.parse(out).local.args, ["called"]);
    await eventually(async () => {
      const jobs = await site.saltRun(["jobs.list_jobs"]) as Record<string, Record<string, unknown>>;
      return Object.values(jobs).some(({ Function, Arguments, Target }) =>
        Function === "test.arg" && Target === id && JSON.stringify(Arguments) === '["called"]'
      );
    }, { what: "the job of salt-call in the jobs cache" });
  });

  await step("the minion reconnects to a restarted master, and the next job arrives", async () => {
    // Our program logs each sign-in, whether it is the master or the minion.
    const [log, signIn] = master.version === undefined
      ? [`${site.root}/var/log/salt/master`, `Authentication request from ${id}: accepted`]
      : [`${site.minionRoot(id)}/var/log/salt/minion`, "Signed in to the master"];
    const signIns = () => Deno.readTextFileSync(log).split(signIn).length - 1;
    await site.stopMaster();
    const before = signIns();
    await site.startMaster(master);
    if (minion.version === undefined) {
      await eventually(() => signIns() > before, { what: `the sign-in of ${id}, which nobody called,` });
    }
    // Python minions sign in again when they cannot decrypt a published job, and then still run it.
    await site.answers(id);
    assert(signIns() > before, `${id} signed in again`);
  });

  await step("a rejected minion ends", async () => {
    assertEquals(await rejected.ended(120_000), exitOfRejected(minion));
  });

  await step("the next job arrives after a rotation of the AES key", async () => {
    // Deleting any minion's key rotates the shared key: that minion must not be able to read later publishes.
    const { out } = await site.operate("salt-key", ["-y", "-d", "bad1"]);
    assertStringIncludes(out, "Key for minion bad1 deleted.");
    const dropfile = `${site.cacheDir}/.dfn`;
    await eventually(() => !lexistsOrThrow(dropfile), { what: "a new key of the master" });
    assertEquals(await site.salt(["-t", "30", id, "test.ping"]), { [id]: true });
  });

  await step("a minion whose key was deleted is unknown again", async () => {
    await site.operate("salt-key", ["-y", "-d", id]);
    assertEquals(await site.salt([id, "test.ping"], 2), {});
    await site.stopMinion(id);
    site.startMinion(minion, id);
    await site.keyComes(id, "minions_pre");
    await site.operate("salt-key", ["-y", "-a", id]);
    await site.answers(id);
  });
}

/** The grains that the minion sent with its pillar request, as the master stored them. */
async function cachedGrains(site: Site, master: Salt, id: string): Promise<Record<string, unknown>> {
  if (master.version === undefined) {
    const grains = dataCache(site.cacheDir).get(id)?.grains ?? new Map();
    return JSON.parse(dumpJson(grains));
  }
  return (await site.saltRun(["cache.grains", id]) as Record<string, Record<string, unknown>>)[id];
}

interface Job {
  readonly Result: Record<string, { return: unknown; retcode: unknown; success: unknown }>;
}

async function jobWithResult(site: Site, jid: string, id: string): Promise<Job> {
  return await eventually(async () => {
    const job = await site.saltRun(["jobs.list_job", jid]) as Partial<Job>;
    return job.Result !== undefined && id in job.Result ? { Result: job.Result } : undefined;
  }, { what: `the return of ${id} for job ${jid} in the jobs cache` });
}
