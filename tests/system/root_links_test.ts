/**
 * Root's operations for a service with `user`, in directories of that user: they follow no link that the user has made.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { findUser } from "#lib/os/users.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";

const ROOT_ONLY = { ignore: Deno.uid() !== 0 };
const SECRET = "root's own\n";

/** Files that only root may access, beside a fleet's directories. */
class ProtectedFiles {
  readonly file: string;
  readonly directory: string;

  constructor(root: string) {
    this.file = `${root}/victim`;
    this.directory = `${root}/victims`;
    this.#make();
  }

  #make(): void {
    Deno.writeTextFileSync(this.file, SECRET, { mode: 0o600 });
    Deno.mkdirSync(this.directory);
    Deno.chmodSync(this.directory, 0o755);
  }

  /** Restores the files, so that each case begins in the same state. */
  restore(): void {
    Deno.removeSync(this.file);
    Deno.removeSync(this.directory, { recursive: true });
    this.#make();
  }

  /**
   * Everything that could have changed, one line for each; the time of the directory also shows files that were made
   * and removed.
   */
  look(): string[] {
    const owned = ({ uid, gid, mode }: Deno.FileInfo) => `${uid}:${gid} ${((mode ?? 0) & 0o7777).toString(8)}`;
    const inside = [...Deno.readDirSync(this.directory)].map(({ name }) => name);
    return [
      `${owned(Deno.statSync(this.file))} ${JSON.stringify(Deno.readTextFileSync(this.file))}`,
      `${owned(Deno.statSync(this.directory))} ${JSON.stringify(inside)} ${
        Deno.statSync(this.directory).mtime?.getTime()
      }`,
    ];
  }
}

/** Makes a link at `path` that belongs to the user nobody, as that user could in their own directory. */
async function makeLink(path: string, target: string): Promise<void> {
  try {
    Deno.renameSync(path, `${path}.old`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  Deno.symlinkSync(target, path);
  const { code } = await run(["chown", "-h", "nobody", path]);
  assertEquals(code, 0);
}

/** Restores the earlier file; a program that followed the link may have removed it. */
function restoreFile(path: string): void {
  for (const act of [() => Deno.removeSync(path), () => Deno.renameSync(`${path}.old`, path)]) {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/**
 * Starts the master, which may refuse to start, and ends it.
 * @returns The message of a refusal.
 */
async function tryMaster(fleet: ProcessFleet): Promise<string> {
  const message = await fleet.startMaster().then(() => "", String);
  await fleet.stopMaster();
  return message;
}

Deno.test("root follows no link that the service's user has made: starts of the master", ROOT_ONLY, async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 0, master: { user: "nobody" } });
  const victims = new ProtectedFiles(fleet.root);
  await fleet.stopMaster();
  const { log_file, pki_dir, cachedir, sock_dir } = fleet.masterOpts;
  const cases: [what: string, path: string, target: string][] = [
    ["the log file", log_file, victims.file],
    ["a log file that is not there yet", log_file, `${victims.directory}/log`],
    ["a directory of keys", `${pki_dir}/minions`, victims.directory],
    ["a directory of keys that is not there yet", `${pki_dir}/minions_denied`, `${victims.directory}/keys`],
    ["the job cache", `${cachedir}/jobs`, victims.directory],
    ["the private key", `${pki_dir}/master.pem`, victims.file],
    ["the file of the ports", `${sock_dir}/ports.json`, victims.file],
    ["an access key", accessKeyPath(cachedir, "nobody"), victims.file],
  ];
  for (const [what, path, target] of cases) {
    await t.step(what, async () => {
      const before = victims.look();
      await makeLink(path, target);
      try {
        await tryMaster(fleet);
        assertEquals(victims.look(), before);
      } finally {
        victims.restore();
        restoreFile(path);
      }
    });
  }
  await t.step("after all that, the master starts as usual", async () => {
    assertEquals(await tryMaster(fleet), "");
  });
});

Deno.test("root makes nothing in a directory of the service's user", ROOT_ONLY, async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 0, master: { user: "nobody" } });
  const victims = new ProtectedFiles(fleet.root);
  await fleet.stopMaster();
  const nobody = findUser("nobody");
  assert(nobody !== undefined);
  // The owner may not write there, but root may write everywhere: only root can have made a new file in it.
  const theirs = `${fleet.root}/master/theirs`; // below root_dir, the prefix of other paths
  Deno.mkdirSync(theirs);
  Deno.chownSync(theirs, nobody.uid, nobody.gid);
  Deno.chmodSync(theirs, 0o500);
  Deno.symlinkSync(victims.directory, `${theirs}/link`);
  const cases: Record<string, string>[] = [
    { pidfile: `${theirs}/master.pid` },
    { pidfile: `${theirs}/link/master.pid` },
    { pidfile: `${theirs}/link/run/master.pid` },
    { log_file: `${theirs}/log` },
    { log_file: `${theirs}/link/log` },
    { cachedir: `${theirs}/cache` },
    { cachedir: `${theirs}/link/cache` },
    { cachedir: `${theirs}/link` },
    { sock_dir: `${theirs}/link/s` },
    { pki_dir: `${theirs}/link/pki` },
  ];
  for (const options of cases) {
    const [[name, path]] = Object.entries(options);
    await t.step(`${name}: ${path.slice(fleet.root.length)}`, async () => {
      const before = victims.look();
      fleet.configure("master", options);
      const message = await tryMaster(fleet);
      assertStringIncludes(message, `${name}: `);
      try {
        assertEquals(victims.look(), before);
        assertEquals([...Deno.readDirSync(theirs)].map((entry) => entry.name), ["link"]);
      } finally {
        victims.restore();
      }
    });
  }
});

Deno.test("root follows no link that the service's user has made: the commands", ROOT_ONLY, async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 0, master: { user: "nobody", auto_accept: true } });
  fleet.startStranger("m00", { user: "nobody" });
  await fleet.allPresent(["m00"]);
  const victims = new ProtectedFiles(fleet.root);
  const { log_file, key_logfile, cachedir } = fleet.masterOpts;
  const minionRoot = `${fleet.root}/m00/var`;
  const made = `${victims.directory}/made`;
  const levels = ["--log-file-level=debug"];
  const cases: [what: string, path: string, target: string, act: () => Promise<unknown>][] = [
    ["salt, its log", log_file, made, () => fleet.salt("salt", ...levels, "m00", "test.ping")],
    ["salt-run, its log", log_file, made, () => fleet.salt("salt-run", ...levels, "manage.present")],
    ["salt-cp, its log", log_file, made, () => fleet.salt("salt-cp", ...levels, "m00", "/etc/hostname", "/tmp/x")],
    ["salt-key, its log", key_logfile, made, () => fleet.salt("salt-key", ...levels, "-L")],
    ["salt-run, the job cache", `${cachedir}/jobs`, victims.directory, () => fleet.salt("salt-run", "manage.present")],
    ["salt-run, proc", `${cachedir}/proc`, victims.directory, () => fleet.salt("salt-run", "manage.present")],
    ["salt-call, its log", `${minionRoot}/log/salt/minion`, made, () => fleet.saltCall("m00", "test.ping")],
    [
      "salt-call --local, its log",
      `${minionRoot}/log/salt/minion`,
      made,
      () => fleet.saltCall("m00", "--local", ...levels, "test.ping"),
    ],
    [
      "salt-call -g, its log",
      `${minionRoot}/log/salt/minion`,
      made,
      () => fleet.saltCall("m00", ...levels, "-g"),
    ],
    [
      "salt-call, proc",
      `${minionRoot}/cache/salt/minion/proc`,
      victims.directory,
      () => fleet.saltCall("m00", "test.ping"),
    ],
  ];
  for (const [what, path, target, act] of cases) {
    await t.step(what, async () => {
      const before = victims.look();
      await makeLink(path, target);
      try {
        await act();
        assertEquals(victims.look(), before);
      } finally {
        victims.restore();
        restoreFile(path);
      }
    });
  }
  await t.step("no file of root is read instead of a key", async () => {
    const path = accessKeyPath(cachedir, "nobody");
    Deno.writeTextFileSync(made, Deno.readTextFileSync(path), { mode: 0o600 });
    await makeLink(path, made);
    const copied = `${minionRoot}/cache/salt/minion/copied`;
    const commands = [
      ["salt", "m00", "test.ping"],
      ["salt-run", "manage.status"],
      ["salt-cp", "m00", "/etc/passwd", copied],
      ["salt-cp", "--chunked", "m00", "/etc/passwd", copied],
    ] as const;
    for (const [program, ...words] of commands) {
      const refused = await fleet.salt(program, ...words);
      assertEquals([program, refused.code], [program, program === "salt-run" ? 1 : 77], refused.out + refused.err);
    }
    restoreFile(path);
    for (const [program, ...words] of commands) {
      const taken = await fleet.salt(program, ...words);
      assertEquals([program, taken.code], [program, 0], taken.out + taken.err);
    }
  });
  await t.step("root runs no module of the service's user as root", async () => {
    const code = `export const who = { doc: "Who.", run: () => Deno.uid() };\n`;
    for (const [directory, command] of [[`${cachedir}/extmods/runners`, "run"]] as const) {
      Deno.mkdirSync(directory, { recursive: true });
      Deno.writeTextFileSync(`${directory}/mine.js`, code + "if (Deno.uid() === 0) Deno.exit(99);\n");
      Deno.chmodSync(`${directory}/mine.js`, 0o644);
      const ran = await fleet.salt(`salt-${command}`, "--out=json", "mine.who");
      assertEquals([ran.code, ran.out.trim()], [0, String(findUser("nobody")?.uid)], ran.err);
    }
    const grains = `${minionRoot}/cache/salt/minion/extmods/grains`;
    Deno.mkdirSync(grains, { recursive: true });
    Deno.writeTextFileSync(`${grains}/mine.js`, "if (Deno.uid() === 0) Deno.exit(99);\nexport default () => ({});\n");
    const nobody = findUser("nobody");
    for (const path of [`${minionRoot}/cache/salt/minion/extmods`, grains]) {
      Deno.chownSync(path, nobody?.uid ?? 0, nobody?.gid ?? 0);
    }
    for (const words of [["-g"], ["--local", "test.ping"], ["test.ping"]]) {
      const ran = await fleet.saltCall("m00", ...words);
      assertEquals(ran.code, 0, ran.out + ran.err);
    }
  });
});

Deno.test(
  "files that root's commands write belong to the master's user: it starts again, and authenticates the caller",
  ROOT_ONLY,
  async () => {
    await using fleet = await ProcessFleet.start({ minions: 0, master: { user: "nobody", auto_accept: true } });
    fleet.startStranger("m00");
    await fleet.allPresent(["m00"]);
    const nobody = findUser("nobody")?.uid;
    // With an empty cache.
    const present = await fleet.salt("salt-run", "--out=json", "manage.present");
    assertEquals([present.code, JSON.parse(present.out)], [0, ["m00"]], present.err);
    const ping = await fleet.salt("salt", "--out=json", "m00", "test.ping");
    assertEquals([ping.code, JSON.parse(ping.out)], [0, { m00: true }], ping.err);
    // A file that only root may read, copied to a directory where only root's minion may write; and an output file that
    // only root may write.
    const source = `${fleet.root}/only-roots`, copy = `${fleet.root}/copied`, output = `${fleet.root}/output.json`;
    Deno.writeTextFileSync(source, "secret", { mode: 0o600 });
    for (const words of [[], ["--chunked"]]) {
      const copied = await fleet.salt("salt-cp", ...words, "m00", source, copy);
      assertEquals([copied.code, Deno.readTextFileSync(copy)], [0, "secret"], copied.err);
      Deno.removeSync(copy);
    }
    const commands = [["salt", "m00", "test.ping"], ["salt-run", "manage.present"], ["salt-key", "-L"]] as const;
    for (const [program, ...words] of commands) {
      const ran = await fleet.salt(program, `--out-file=${output}`, "--out=json", ...words);
      assertEquals(ran.code, 0, ran.err);
      const { uid } = Deno.statSync(output);
      assertEquals([uid, Deno.readTextFileSync(output) !== ""], [0, true]);
      Deno.removeSync(output);
    }
    const listed = await fleet.salt("salt-run", "--out=json", "jobs.list_jobs");
    assertEquals(listed.code, 0, listed.err);
    const users = Object.values<{ User: string }>(JSON.parse(listed.out)).map(({ User }) => User);
    assertEquals(new Set(users), new Set(["root"]));
    await fleet.stopMaster();
    for (const { name } of Deno.readDirSync(fleet.cacheDir)) {
      assertEquals([name, Deno.lstatSync(`${fleet.cacheDir}/${name}`).uid], [name, nobody]);
    }
    await fleet.startMaster();
    await fleet.allPresent(["m00"]);
    assertEquals((await fleet.salt("salt", "m00", "test.ping")).code, 0);
  },
);
