/**
 * What is done with files of packages: brought from elsewhere, downloaded, compared with what is installed; and waiting
 * for zypper's lock. No program runs; what Salt does with programs is in tests/corpus/program_calls.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import type { ChildRunner } from "#lib/programs/child_process.ts";
import { parseTargets } from "#lib/host/packages/package_targets.ts";
import { askForRefresh, wantsRefresh } from "#lib/host/packages/refresh_tag.ts";
import { diffPackageFiles, downloadedPackages } from "#lib/host/packages/rpm_files.ts";
import { packageFileInfo } from "#lib/host/packages/rpm.ts";
import { parseModified } from "#lib/host/packages/rpm_output.ts";
import { installYumPackages } from "#lib/host/packages/yum_install.ts";
import { runZypper, zypperXml } from "#lib/host/packages/zypper.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { ProgramNames } from "#tests/support/calls/program_calls.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Programs by the words that they are started with: what they print, or their return code. */
function programs(
  outputs: Readonly<Record<string, (words: string) => string | number>>,
  ran: string[] = [],
): ChildRunner {
  return ({ argv }) => {
    const words = argv.filter((word) => word !== "/usr/bin/env").join(" ").replace(/^.*?(?=\b(rpm|yum|zypper) )/s, "");
    ran.push(words);
    const [, answer] = Object.entries(outputs).find(([start]) => words.startsWith(start)) ?? [];
    const result = answer?.(words) ?? "";
    const [retcode, text] = typeof result === "number" ? [result, ""] : [0, result];
    const stdout = new TextEncoder().encode(text);
    const dropped = { stdout: 0, stderr: 0 };
    return Promise.resolve({ pid: 1, retcode, stdout, stderr: new Uint8Array(), timedOut: false, dropped });
  };
}

/** The programs are there, and never run. */
function installed(): ProgramNames {
  const names = new ProgramNames();
  names.set(["rpm", "yum", "zypper"]);
  return names;
}

/** A context in which files come from elsewhere as `cached` says; empty or False: not at all. */
function caching(cached: Value, runChild?: ChildRunner): TestContext {
  const context = testContext({ grains: map({ osarch: "x86_64", cpuarch: "x86_64" }), ...runChild && { runChild } });
  const { call } = context;
  return Object.assign(context, {
    call: (name: string, ...rest: [Value[]?]) =>
      name === "cp.cache_file" ? Promise.resolve(cached) : call(name, ...rest),
  });
}

const line = (name: string, version: string) => `${name}_|-(none)_|-${version}_|-1_|-x86_64_|-none_|-(none)\n`;

Deno.test("package files of URLs are brought, and those that cannot be are named", async () => {
  const sources = (context: TestContext, place: string) =>
    parseTargets({ name: null, sources: [map({ vim: place })] }, context);
  for (const url of ["salt://vim.rpm", "https://example.org/vim.rpm"]) {
    assertEquals(await sources(caching("/cache/vim.rpm"), url), {
      kind: "file",
      files: new Map([["vim", "/cache/vim.rpm"]]),
    });
    for (const nothing of [false, ""]) {
      const text = `Unable to cache source ${url} for package vim`;
      await assertRejects(() => sources(caching(nothing), url), CommandError, text);
    }
  }
});

Deno.test("the facts of a package file are rpm's, wherever it is from", async () => {
  const ran: string[] = [];
  const rpm = programs({ "rpm -qp": () => line("vim", "9.1") }, ran);
  using _names = installed();
  const { name, version } = (await packageFileInfo("salt://vim.rpm", "dev", caching("/cache/vim.rpm", rpm)))!;
  assertEquals([name, version, ran[0].endsWith(" /cache/vim.rpm")], ["vim", "9.1-1", true]);
  for (const nothing of [false, ""]) {
    const text = "Unable to retrieve salt://vim.rpm from saltenv 'dev'";
    await assertRejects(() => packageFileInfo("salt://vim.rpm", "dev", caching(nothing, rpm)), CommandError, text);
  }
  await assertRejects(
    () => packageFileInfo("/none.rpm", "base", caching("")),
    CommandError,
    "does not exist on minion",
  );
  await assertRejects(() => packageFileInfo("deno.json", "base", caching("")), InvocationError, "deno.json");
});

Deno.test("downloaded packages are those of all directories below, by name and version", async () => {
  using _names = installed();
  const root = Deno.makeTempDirSync({ prefix: "downloaded_" });
  try {
    Deno.mkdirSync(`${root}/x86_64/more`, { recursive: true });
    for (const file of ["vim-9.rpm", "x86_64/vim-8.rpm", "x86_64/more/odd.rpm", "notes.txt"]) {
      Deno.writeTextFileSync(`${root}/${file}`, file);
    }
    const rpm = programs({
      "rpm -qp": (words) => words.endsWith("odd.rpm") ? "not a package" : line("vim", /vim-(.)/.exec(words)![1]),
    });
    const packages = await downloadedPackages(root, caching("", rpm));
    const versionEntry = (version: string, path: string): [Value, Value] => {
      const seconds = Math.floor(Deno.statSync(path).ctime!.getTime() / 1000);
      const time = new Date(seconds * 1000).toISOString().slice(0, 19);
      const { size } = Deno.statSync(path);
      return [version, map({ path, size, creation_date_time_t: seconds, creation_date_time: time })];
    };
    const versions = new Map([
      versionEntry("8-1", `${root}/x86_64/vim-8.rpm`),
      versionEntry("9-1", `${root}/vim-9.rpm`),
    ]);
    assertEquals([...packages.keys()], ["vim"]);
    assertEquals(new Map([...packages.get("vim") as Map<Value, Value>].sort()), versions);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("files are compared with those of the packages that they are of, which are downloaded once", async () => {
  using _names = installed();
  const downloads: (readonly string[])[] = [];
  const compared: string[] = [];
  const rpm = programs({ "rpm -qf": (words) => words.endsWith("/mine") ? "file is not owned by any package" : "vim" });
  const context = caching("", rpm);
  const call = (name: string, args: Value[] = []) => {
    compared.push([name, ...args.map(str)].join(" "));
    return Promise.resolve(str(args[1]).endsWith("vimrc") ? "--- a\n+++ b\n" : "");
  };
  const download = (place: Value) => (names: readonly string[]) => {
    downloads.push(names);
    return Promise.resolve(map({ vim: place }));
  };
  const paths = ["/etc/vimrc", "/proc/none/mine", "/proc/mine", "/etc/vim.d"];
  const differences = map({
    "/proc/none/mine": "N/A",
    "/proc/mine": "N/A",
    "/etc/vimrc": "--- a\n+++ b\n",
    "/etc/vim.d": "Unchanged",
  });
  const wanted = { context: Object.assign(context, { call }) };
  assertEquals(
    await diffPackageFiles(paths, undefined, { ...wanted, download: download("/cache/vim.rpm") }),
    differences,
  );
  assertEquals(downloads, [["vim"]]);
  assertEquals(compared, ["lowpkg.diff /cache/vim.rpm /etc/vimrc", "lowpkg.diff /cache/vim.rpm /etc/vim.d"]);
  // zypper tells more of a file.
  const packageInfo = map({ path: "/cache/vim.rpm", "repository-alias": "oss" });
  assertEquals(await diffPackageFiles(paths, undefined, { ...wanted, download: download(packageInfo) }), differences);
});

Deno.test("what is downloaded alone is what has changed, and what is there already is reinstalled", async () => {
  const ran: string[] = [];
  const runChild = programs({ "rpm -qa": () => line("vim", "9") }, ran);
  using _names = installed();
  const listed: Value[] = [map({}), map({ vim: "9-1" })];
  const changes = await installYumPackages(
    { kind: "repository", packages: new Map([["vim", null]]) },
    caching("", runChild),
    {
      reinstall: true,
      ignoreEpoch: false,
      downloadonly: true,
      skipVerify: false,
      updateHolds: false,
      kwargs: map({}),
      available: () => Promise.resolve(map({})),
      advisories: () => Promise.resolve(new Map()),
      downloaded: () => Promise.resolve(listed.shift() as Map<Value, Value>),
    },
  );
  assertEquals(changes, map({ vim: { old: "", new: "9-1" } }));
  assertEquals(ran.filter((words) => words.startsWith("yum")), ["yum -y --downloadonly install vim"]);
});

Deno.test("packages that cannot be unheld are not updated, are named with the reason, and are held again", async () => {
  const ran: string[] = [];
  using _names = installed();
  const runChild = programs({
    "rpm -qa": () => line("vim", "9") + line("yum-plugin-versionlock", "1"),
    "yum versionlock list": () => "0:vim-9-1.*\n",
    "yum versionlock delete": () => {
      throw new CommandError("no more processes");
    },
  }, ran);
  const { message } = await assertRejects(
    () =>
      installYumPackages({ kind: "repository", packages: new Map([["vim", null]]) }, caching("", runChild), {
        reinstall: false,
        ignoreEpoch: false,
        downloadonly: false,
        skipVerify: false,
        updateHolds: true,
        kwargs: map({}),
        available: () => Promise.resolve(map({})),
        advisories: () => Promise.resolve(new Map()),
        downloaded: () => Promise.resolve(map({})),
      }),
    CommandError,
    "Error encountered unholding packages vim: Unable to run command ",
  );
  assertMatch(message, /no more processes$/);
  assertEquals(ran.filter((words) => words.startsWith("yum")), [
    ...["yum versionlock list", "yum versionlock list", "yum versionlock delete 0:vim-9-1.*", "yum versionlock list"],
  ]);
});

Deno.test("zypper is tried again while another one holds its lock, and the master is told", async () => {
  using _names = installed();
  const calls: string[] = [];
  let locked = 2;
  const context = caching("", programs({ zypper: () => locked-- > 0 ? 7 : "done" }));
  const call = (name: string, [data, tag]: Value[] = []) => {
    calls.push(`${name} ${str(tag)} ${str((data as Map<Value, Value>).get("success") ?? null)}`);
    return Promise.resolve(true);
  };
  const { stdout, retcode } = await runZypper(["refresh"], Object.assign(context, { call }), { lockWaitMs: 1 });
  assertEquals([stdout, retcode], ["done", 0]);
  const blocked = "event.fire_master zypper/blocked False";
  assertEquals(calls, [blocked, blocked, "event.fire_master zypper/released True"]);
});

Deno.test("zypper: a document that is none, and a failure without one, are failures with a reason", async () => {
  using _names = installed();
  const answering = (text: string | number) => testContext({ runChild: programs({ zypper: () => text }) });
  await assertRejects(() => zypperXml(["info"], answering("no xml")), CommandError, "zypper printed no XML: ");
  for (const [text, reason] of [["", "Check Zypper's logs."], ["<a", "Check Zypper's logs."]]) {
    const runChild: ChildRunner = async (...started) => {
      const outcome = await programs({ zypper: () => text })(...started);
      return { ...outcome, retcode: 104 };
    };
    const failed = () => zypperXml(["info"], testContext({ runChild }));
    await assertRejects(failed, CommandError, `Zypper command failure: ${reason}`);
  }
});

Deno.test("a wish to read the lists of packages again is noted once", () =>
  withTemporaryDirectory((root) => {
    const opts = testOpts({ root_dir: root, cachedir: `${root}/cache` });
    assertEquals(wantsRefresh(null, opts), false);
    askForRefresh(opts);
    const before = [...Deno.readDirSync(`${root}/cache`)].map(({ name }) => name);
    const { mtime } = Deno.statSync(`${root}/cache/${before[0]}`);
    askForRefresh(opts);
    assertEquals([wantsRefresh(null, opts), before.length], [true, 1]);
    assertEquals(Deno.statSync(`${root}/cache/${before[0]}`).mtime, mtime);
  }));

Deno.test("rpm's output about changed files is read with and without the configuration flag, and blank lines are left out", () => {
  const text = "S.5....T.  c /etc/x\n\n.M.......    /usr/bin/x\nmissing\n.......T  /old\n";
  assertEquals([...parseModified(text)], [
    ["/etc/x", ["size", "checksum", "time", "config"]],
    ["/usr/bin/x", ["mode"]],
    ["/old", ["time"]],
  ]);
});
