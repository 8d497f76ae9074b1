/**
 * The answers of dpkg and apt that a job caches, and their invalidation. No program runs.
 * @module
 */
import { debianPackages, latestAptVersions, refreshPackages } from "#lib/host/debian_packages/apt.ts";
import { selections } from "#lib/host/debian_packages/dpkg.ts";
import { aptStamp } from "#lib/host/debian_packages/package_stamps.ts";
import { runApt } from "#lib/host/debian_packages/run_apt.ts";
import type { ChildRunner } from "#lib/programs/child_process.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** dpkg's directory with a list of packages, and programs that answer from maps and record their calls. */
class Host implements Disposable {
  readonly directory = Deno.makeTempDirSync({ prefix: "kept_answers_" });
  readonly candidates = new Map([["aa", "1.0"], ["bb", "2.0"], ["cc", "3.0"]]);
  installed = "install ok installed vim 9.0 amd64\n";
  update = "Hit:1 http://example.org stable InRelease\n";
  policyCode = 0;
  #calls: string[] = [];
  readonly #get = Deno.env.get;

  constructor() {
    this.touch();
    const get = this.#get.bind(Deno.env);
    // Only in this file's thread: other tests share the process environment.
    const own = new Map([["DPKG_ADMINDIR", this.directory], ["DPKG_ROOT", undefined], ["APT_CONFIG", undefined]]);
    Deno.env.get = (name) => own.has(name) ? own.get(name) : get(name);
  }

  /** Replaces the list of packages, as dpkg does. */
  touch(): void {
    Deno.writeTextFileSync(`${this.directory}/status-new`, `${Math.random()}`);
    Deno.renameSync(`${this.directory}/status-new`, `${this.directory}/status`);
  }

  /** The programs started since the last call, a line each. */
  calls(): string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  readonly #run: ChildRunner = (spec) => {
    const words = spec.argv.slice(spec.argv.indexOf("sh") + 1);
    this.#calls.push(words.join(" ").replace(/--showformat .* -W/s, "-W"));
    const [stdout, retcode] = this.#answer(words);
    const dropped = { stdout: 0, stderr: 0 };
    const [out, err] = [new TextEncoder().encode(stdout), new Uint8Array()];
    return Promise.resolve({ pid: 1, retcode, stdout: out, stderr: err, dropped, timedOut: false });
  };

  #answer(words: readonly string[]): [string, number] {
    if (words[0] === "dpkg-query") return [this.installed, 0];
    if (words[0] === "dpkg") return ["vim\tinstall\n", 0];
    if (words[0] !== "apt-cache") return [words.includes("update") ? this.update : "", 0];
    const known = words.slice(3).filter((name) => this.candidates.has(name));
    if (this.policyCode !== 0 && words.length > 4) return ["", this.policyCode];
    return [known.map((name) => `${name}:\n  Candidate: ${this.candidates.get(name)}\n`).join(""), this.policyCode];
  }

  /** A job; `chunks` are those of its state run. */
  job(chunks?: readonly ValueMap[]): JobContext {
    const job = testContext({ grains: map({ osarch: "amd64", cpuarch: "x86_64" }), runChild: this.#run });
    return chunks === undefined ? job : { ...job, chunks };
  }

  [Symbol.dispose](): void {
    Deno.env.get = this.#get;
    Deno.removeSync(this.directory, { recursive: true });
  }
}

const chunk = (fun: string, more: Record<string, Value>) => map({ state: "pkg", fun, name: "x", ...more });

Deno.test("a job calls dpkg once, and again when dpkg's list has changed or a program changes packages", async () => {
  using host = new Host();
  const job = host.job();
  for (let i = 0; i < 3; i++) assertEquals([...(await debianPackages(job)).installed.keys()], ["vim"]);
  for (let i = 0; i < 3; i++) assertEquals((await selections(job)).get("install"), ["vim"]);
  assertEquals(host.calls(), ["dpkg-query -W", "dpkg --get-selections *"]);
  host.installed += "install ok installed nano 7.2 amd64\n";
  host.touch();
  assertEquals([...(await debianPackages(job)).installed.keys()], ["vim", "nano"]);
  assertEquals(host.calls(), ["dpkg-query -W"]);
  await runApt(["apt-get", "-q", "-y", "install", "aa"], job, { scope: false });
  await debianPackages(job);
  assertEquals(host.calls(), ["apt-get -q -y install aa", "dpkg-query -W"]);
  await debianPackages(host.job());
  assertEquals(host.calls(), ["dpkg-query -W"], "another job asks itself");
  Deno.removeSync(`${host.directory}/status`);
  for (let i = 0; i < 2; i++) await debianPackages(job);
  assertEquals(host.calls(), ["dpkg-query -W", "dpkg-query -W"], "without a list nothing tells of changes");
});

Deno.test("a job calls apt once for all packages of the run's states, and again when the lists have changed", async () => {
  using host = new Host();
  const chunks = [
    chunk("installed", { name: "aa" }),
    chunk("installed", { pkgs: [map({ bb: "2.*" }), "nosuch", "-o"] }),
    chunk("installed", { name: "vim" }),
    chunk("latest", { name: "vim" }),
    chunk("removed", { name: "cc" }),
    map({ state: "service", fun: "running", name: "cc" }),
  ];
  const job = host.job(chunks);
  assertEquals(await latestAptVersions(["aa"], job), "1.0");
  assertEquals(host.calls(), ["dpkg-query -W", "apt-cache -q policy aa bb nosuch vim"]);
  assertEquals(await latestAptVersions(["bb", "nosuch"], job), map({ bb: "2.0", nosuch: "" }));
  assertEquals(host.calls(), []);
  assertEquals(await latestAptVersions(["cc"], job), "3.0");
  assertEquals(host.calls(), ["apt-cache -q policy cc"]);
  assertEquals(await latestAptVersions(["cc"], job, { fromrepo: "sid" }), "3.0");
  assertEquals(host.calls(), ["apt-cache -q policy cc aa bb nosuch vim -o APT::Default-Release=sid"]);

  await refreshPackages(job);
  assertEquals(await latestAptVersions(["aa"], job), "1.0");
  assertEquals(host.calls(), ["apt-get -q update"], "the lists are the same");
  host.update = "Get:1 http://example.org stable InRelease [5 kB]\n";
  host.candidates.set("aa", "1.1");
  await refreshPackages(job);
  assertEquals(await latestAptVersions(["aa"], job), "1.1");
  assertEquals(host.calls(), ["apt-get -q update", "dpkg-query -W", "apt-cache -q policy aa bb nosuch vim"]);
});

Deno.test("a package that was not requested cannot change an answer", async () => {
  using host = new Host();
  const job = host.job([chunk("installed", { name: "bb" })]);
  host.policyCode = 100;
  assertEquals(await latestAptVersions(["aa"], job), "1.0");
  assertEquals(host.calls(), ["dpkg-query -W", "apt-cache -q policy aa bb", "apt-cache -q policy aa"]);
});

Deno.test("the stamp of apt changes with each of its files, and no other", () =>
  withTemporaryDirectory((root) => {
    for (const name of ["dpkg/updates", "lists/partial", "apt/sources.list.d", "apt/preferences.d"]) {
      Deno.mkdirSync(`${root}/${name}`, { recursive: true });
    }
    const stamp = () => aptStamp(`${root}/dpkg`, { lists: `${root}/lists`, config: `${root}/apt` });
    assertEquals(stamp(), undefined, "without dpkg's list");
    let before: string | undefined;
    const files = ["dpkg/status", "dpkg/arch", "lists/x_Packages", "apt/sources.list", "apt/sources.list.d/a.list"];
    for (const file of [...files, "apt/preferences", "apt/preferences.d/a", "dpkg/updates/0001"]) {
      for (const text of ["one", "more"]) {
        Deno.writeTextFileSync(`${root}/${file}`, text);
        const now = stamp();
        assert(now !== undefined && now !== before, `${file} was written to`);
        assertEquals(stamp(), now);
        before = now;
      }
    }
    Deno.writeTextFileSync(`${root}/lists/partial/x`, "one");
    Deno.writeTextFileSync(`${root}/dpkg/lock`, "");
    assertEquals(stamp(), before);
  }));
