/**
 * What a master and a minion of two implementations must do together, from the first sight of a key to its deletion.
 *
 * The same list for either side: the operator's commands are those of the master's implementation.
 * @module
 */

import { dataCache } from "../support/fleet/job_store.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { dumpJson } from "../../lib/values/json.ts";
import { sameBytes } from "../../lib/crypto/same_bytes.ts";
import { samePem } from "../../lib/crypto/pem.ts";
import { isThere } from "../../lib/os/file_kind.ts";
import { eventually } from "../support/eventually.ts";
import { run } from "../support/processes.ts";
import type { Salt } from "./salts.ts";
import { jsonDocuments, Site } from "./site.ts";

/** Who meets whom. */
export interface Pair {
  /** The master's, and the operator's commands'. */
  readonly master: Salt;
  /** The minions', and `salt-call`'s. */
  readonly minion: Salt;
}

/** With what a rejected minion ends: EX_NOPERM, which 3008 forgets on its way out. */
function exitOfRejected({ version }: Salt): number {
  return version?.startsWith("3008.") ? 0 : 77;
}

/** Grains with one right value on a host, which both programs must compute. */
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

/** Proves the whole list, a step for each entry. */
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

  // The rejected minion takes 10 to 20 seconds to give up: it does so beside the other steps.
  const rejected = site.startMinion(minion, "bad1");

  await step("a rejected minion is told so", async () => {
    await site.keyComes("bad1", "minions_pre");
    const { out } = await site.operate("salt-key", ["-y", "-r", "bad1"]);
    assertStringIncludes(out, "Key for minion bad1 rejected.");
    const { minions, minions_rejected } = await site.keys();
    assertEquals({ minions, minions_rejected }, { minions: [id], minions_rejected: ["bad1"] });
  });

  await step("test.ping, and nobody else answers", async () => {
    assertEquals(await site.salt(["*", "test.ping"]), { [id]: true });
    assertEquals(await site.salt(["-E", "web[0-9]", "test.ping"]), { [id]: true });
    assertEquals(await site.salt(["-L", id, "test.ping"]), { [id]: true });
  });

  await step("targets by grains, addresses and several conditions mean the same to master and minion", async () => {
    const nearest = [
      ["-G", "kernel:l*x"],
      ["-S", "127.0.0.0/8"],
      ["-C", "( E@web[0-9] or nobody ) and P@kernel:(Linux|BSD) and not G@id:bad*"],
    ];
    for (const words of nearest) {
      assertEquals(await site.salt([...words, "test.ping"]), { [id]: true }, words.join(" "));
    }
    assertEquals(await site.salt(["-C", "* and not G@kernel:Linux", "test.ping"], 2), {});
  });

  await step("cmd.run gives what the command wrote", async () => {
    assertEquals(await site.salt([id, "cmd.run", "echo 'ä €'; uname -s"]), { [id]: "ä €\nLinux" });
    const all = (await site.salt([id, "cmd.run_all", "echo out; echo err >&2"]))[id];
    const { pid, ...rest } = all as Record<string, unknown>;
    assertEquals(typeof pid, "number");
    assertEquals(rest, { retcode: 0, stdout: "out", stderr: "err" });
  });

  await step("arguments arrive as what they are", async () => {
    const words = ["1", "1.0", "1e3", "0644", "yes", "None", "{a: 1}", "[1, 2]", "1234567890123456789", "2014-01-02"];
    const { out } = await site.operate("salt", ["--out=json", id, "test.arg", ...words, "key=value", "n=2"]);
    const { args, kwargs } = JSON.parse(out)[id];
    assertEquals(args, [1, 1, "1e3", 644, true, null, { a: 1 }, [1, 2], 1234567890123456789, "2014-01-02"]);
    assertEquals({ key: kwargs.key, n: kwargs.n }, { key: "value", n: 2 });
    assertMatch(out, /\b1\.0,/);
    assertMatch(out, /\b1234567890123456789,/);
  });

  await step("grains.items tells the host", async () => {
    const grains = (await site.salt([id, "grains.items"]))[id] as Record<string, unknown>;
    assertEquals(grains.id, id);
    assertEquals(grains.master, "127.0.0.1");
    assertEquals(grains.kernel, "Linux");
    assertEquals(grains.num_cpus, navigator.hardwareConcurrency);
    if (minion.version !== undefined) assertEquals(grains.saltversion, minion.version);
    // The other implementation, asked on the same host, says the same.
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
    // A minion of Python's has answered before its master has.
    await eventually(async () => "id" in Object((await site.salt([id, "pillar.raw"]))[id]), {
      what: "the minion's pillar",
    });
    // Python's minions have a schedule in theirs.
    const { schedule: _schedule, ...raw } = Object((await site.salt([id, "pillar.raw"]))[id]);
    assertEquals(raw, pillar);
    assertEquals(await site.salt(["-I", "in:c:kernel:L*", "test.ping"]), { [id]: true });
    assertEquals(await site.saltRun(["pillar.show_pillar", id]), pillar);
  });

  await step("an unknown function is an error", async () => {
    assertEquals(await site.salt([id, "no.such"], 1), { [id]: "'no.such' is not available." });
  });

  await step("a job that fails says so in the exit code and in the jobs cache", async () => {
    assertEquals(await site.salt([id, "cmd.run", "echo no; exit 3"], 1), { [id]: "no" });
    const thrown = (await site.salt([id, "test.exception", "boom"], 1))[id];
    assertStringIncludes(String(thrown), "The minion function caused an exception");
    const jid = await site.publish([id, "cmd.run", "exit 3"]);
    const { Result } = await jobWithResult(site, jid, id);
    assertEquals(Result[id].retcode, 3);
    assertEquals(Result[id].success, false);
  });

  await step("a long job is waited for, because saltutil.find_job finds it", async () => {
    assertEquals(await site.salt(["-t", "1", id, "test.sleep", "4"]), { [id]: true });
  });

  await step("a running job is seen from everywhere", async () => {
    const gate = `${site.root}/gate`;
    const command = `while [ ! -e ${gate} ]; do sleep 0.1; done; echo over`;
    const jid = await site.publish([id, "cmd.run", command]);
    const found = await eventually(async () => {
      const answer = (await site.salt([id, "saltutil.find_job", jid]))[id] as Record<string, unknown>;
      return "pid" in answer ? answer : undefined;
    }, { what: "the job, as saltutil.find_job finds it," });
    assertEquals([found.jid, found.fun, found.arg], [jid, "cmd.run", [command]]);
    const active = await site.saltRun(["jobs.active"]) as Record<string, Record<string, unknown>>;
    assertEquals(active[jid]?.Function, "cmd.run");
    assertEquals(JSON.stringify(active[jid]?.Running).includes(id), true);
    Deno.writeTextFileSync(gate, "");
    const { Result } = await jobWithResult(site, jid, id);
    assertEquals(Result[id].return, "over");
  });

  await step("salt-run manage.up knows who is there", async () => {
    assertEquals(await site.saltRun(["manage.up"]), [id]);
  });

  await step("salt-run manage.present knows who is connected", async () => {
    // Whether an id is known by its address takes its grains, which came with the pillar.
    await eventually(async () => {
      assertEquals(await site.saltRun(["manage.present"]), [id]);
      assertEquals(await site.saltRun(["manage.not_present"]), []);
      return true;
    }, { what: `the presence of ${id}` });
  });

  if (master.version === undefined && minion.version !== undefined) {
    await step(
      "salt --live shows what a minion returns that cannot send its output, and asks it for nothing",
      async () => {
        assertEquals(await site.salt(["--live", id, "cmd.run", "echo one; echo two"]), { [id]: "one\ntwo" });
      },
    );
  }

  if (master.version === undefined) {
    await step(
      "salt --no-log leaves nothing on the master, also where a minion is asked whether it is still at it",
      async () => {
        const secret = "canary-of-interop";
        // Longer than the timeout: a Python minion is asked, and tells the arguments of what it runs.
        assertEquals(await site.salt(["--no-log", id, "cmd.run", `sleep 6; echo ${secret}`]), { [id]: secret });
        for (const place of ["cache", "log"]) {
          const found = await run(["grep", "-rl", secret, `${site.root}/var/${place}/salt/master`]);
          assertEquals([found.code, found.out], [1, ""]);
        }
      },
    );
  }

  await step("salt-cp copies a file, whole and in pieces", async () => {
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

  await step("files and own modules come from the master's file server, and a file goes to the master", async () => {
    const path = (name: string) => `${site.root}/srv/${name}`;
    Deno.mkdirSync(path("_modules"), { recursive: true });
    Deno.mkdirSync(path("sub/empty"), { recursive: true });
    // Several pieces, and bytes of all kinds.
    const big = new Uint8Array(2_500_000).map((_byte, i) => (i * 31 + (i >> 8)) & 0xff);
    Deno.writeFileSync(path("sub/big.bin"), big);
    Deno.writeTextFileSync(path("ä.txt"), "ä €\n");
    Deno.writeTextFileSync(path("_modules/own.py"), "def hello():\n    return 'hello'\n");
    Deno.writeTextFileSync(path("_modules/ours.js"), "export const hello = () => 'hello';\n");
    const dest = `${site.root}/fetched`;
    const funs = ["cp.get_dir", "cp.get_file", "cp.get_file_str", "cp.list_master", "cp.push", "saltutil.sync_modules"];
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
  });

  await step("the documentation and the list of functions come across", async () => {
    const functions = (await site.salt([id, "sys.list_functions", "test"]))[id] as string[];
    assert(functions.includes("test.ping"), `no test.ping in ${functions}`);
    const { out } = await site.operate("salt", ["-d", id, "test.ping"]);
    assertStringIncludes(out, "test.ping:");
  });

  await step("salt-call beside the minion works through the master, which keeps the job", async () => {
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

  await step("a restarted master is found again, and the next job arrives", async () => {
    // Our side of the pair writes down each sign-in, whichever side that is.
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
    // Python's sign in when they cannot open what is published, and then still run it.
    await site.answers(id);
    assert(signIns() > before, `${id} signed in again`);
  });

  await step("a rejected minion ends", async () => {
    assertEquals(await rejected.ended(120_000), exitOfRejected(minion));
  });

  await step("after the AES key is rotated, the next job arrives all the same", async () => {
    // Deleting any key rotates the shared one: its minion must not read what is published from now on.
    const { out } = await site.operate("salt-key", ["-y", "-d", "bad1"]);
    assertStringIncludes(out, "Key for minion bad1 deleted.");
    const dropfile = `${site.cacheDir}/.dfn`;
    await eventually(() => !isThere(dropfile), { what: "a new key of the master" });
    assertEquals(await site.salt(["-t", "30", id, "test.ping"]), { [id]: true });
  });

  await step("a minion whose key was deleted is a stranger again", async () => {
    await site.operate("salt-key", ["-y", "-d", id]);
    assertEquals(await site.salt([id, "test.ping"], 2), {});
    await site.stopMinion(id);
    site.startMinion(minion, id);
    await site.keyComes(id, "minions_pre");
    await site.operate("salt-key", ["-y", "-a", id]);
    await site.answers(id);
  });
}

/** The grains that the minion sent with its request for the pillar, as the master keeps them. */
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
