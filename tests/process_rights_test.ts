/**
 * What only real processes have: whose rights they run with, and who may read what they write.
 * @module
 */

import { ProcessFleet } from "../chaos/process_fleet.ts";
import { findUser, groupIdsOf } from "../lib/users.ts";
import { assert, assertEquals, assertStringIncludes } from "./assert.ts";
import { ifThere } from "./tree.ts";

const ROOT_ONLY = { ignore: Deno.uid() !== 0 };

/** Users and capabilities of every thread of a process. */
function rightsOf(pid: number): Set<string> {
  const rights = new Set<string>();
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    const status = ifThere(() => Deno.readTextFileSync(`/proc/${pid}/task/${name}/status`));
    if (status === undefined) continue; // a thread that has ended
    rights.add(
      [...status.matchAll(/^(?:Uid|Gid|Groups|CapPrm|CapEff|CapAmb):.*$/gm)].map(([line]) => line.trim()).join("\n"),
    );
  }
  return rights;
}

/** All that a process shows whose rights are those of `user`, and can be no others any more. */
function droppedTo(name: string): string {
  const user = findUser(name);
  if (user === undefined) throw new Error(`this host has no user ${name}`);
  const four = (id: number) => Array(4).fill(id).join("\t");
  const groups = groupIdsOf(user).sort((a, b) => a - b).join(" ");
  const none = "0".repeat(16);
  const caps = ["CapPrm", "CapEff", "CapAmb"].map((cap) => `${cap}:\t${none}`);
  return [`Uid:\t${four(user.uid)}`, `Gid:\t${four(user.gid)}`, `Groups:\t${groups}`, ...caps].join("\n");
}

/** Files and directories below `path` with the bits that group and others have. */
function open(path: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const { name, isDirectory, isSymlink } of ifThere(() => [...Deno.readDirSync(path)]) ?? []) {
    const inner = `${path}/${name}`;
    if (isSymlink) continue;
    const bits = (ifThere(() => Deno.lstatSync(inner))?.mode ?? 0) & 0o077;
    if (bits !== 0) found.set(inner, bits);
    // What lies in a directory that nobody else enters is nobody else's.
    if (isDirectory && (bits & 0o011) !== 0) { for (const [file, mode] of open(inner)) found.set(file, mode); }
    else if (isDirectory) { for (const [file, mode] of open(inner)) if ((mode & 0o022) !== 0) found.set(file, mode); }
  }
  return found;
}

Deno.test(
  "user: master and minion drop their rights in every thread, for good, before their sockets are there",
  ROOT_ONLY,
  async () => {
    await using fleet = await ProcessFleet.start({ minions: 0, master: { user: "nobody", auto_accept: true } });
    assertEquals([...rightsOf(fleet.master.pid)], [droppedTo("nobody")]);
    const nobody = findUser("nobody")?.uid;
    const { sock_dir } = fleet.masterOpts;
    for (const { name } of Deno.readDirSync(sock_dir)) {
      assertEquals(Deno.statSync(`${sock_dir}/${name}`).uid, nobody, name);
    }
    const minion = fleet.startStranger("m1", { user: "nobody" });
    await fleet.allPresent(["m1"]);
    assertEquals([...rightsOf(minion.pid)], [droppedTo("nobody")]);
    const ran = await fleet.salt("salt", "--out=json", "m1", "cmd.run", "id -u; cat /etc/shadow", "shell=/bin/sh");
    assertStringIncludes(ran.out, `${nobody}\\n`);
    assertStringIncludes(ran.out, "Permission denied");
    // Nobody becomes root again, by no way that a job has.
    const back = await fleet.salt("salt", "--out=json", "m1", "cmd.run", "id -u", "runas=root", "shell=/bin/sh");
    assertEquals(/"m1": "0"/.test(back.out), false, back.out);
    // The operator is root; what salt-key writes is the master's all the same, and the master can read it.
    const rejected = await fleet.salt("salt-key", "-y", "--include-accepted", "-r", "m1");
    assertEquals(rejected.code, 0, rejected.err);
    assertEquals(Deno.statSync(`${fleet.masterOpts.pki_dir}/minions_rejected/m1`).uid, nobody);
  },
);

Deno.test("salt-key -u becomes that user, as Salt's does", ROOT_ONLY, async () => {
  await using fleet = await ProcessFleet.start({ minions: 0 });
  const dir = `${fleet.root}/keys`;
  Deno.mkdirSync(dir);
  const nobody = findUser("nobody");
  assert(nobody !== undefined);
  Deno.chownSync(dir, nobody.uid, nobody.gid);
  const made = await fleet.salt("salt-key", "-u", "nobody", "--gen-keys", "k", "--gen-keys-dir", dir);
  assertEquals(made.code, 0, made.err);
  assertEquals(Deno.statSync(`${dir}/k.pem`).uid, nobody.uid);
  const listed = await fleet.salt("salt-key", "-u", "nobody", "-L");
  assertEquals(listed.code, 77, listed.out + listed.err);
  const stranger = await fleet.salt("salt-key", "-u", "no-such-user", "-L");
  assertEquals(stranger.code, 1);
  assertStringIncludes(stranger.err, "user: there is no user no-such-user on this host");
});

Deno.test("what master and minion write is their owner's alone, but for public keys and the directories of others", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  for (const words of [["test.ping"], ["cmd.run", "echo x"], ["saltutil.sync_all"]]) {
    const ran = await fleet.salt("salt", "m00", ...words);
    assertEquals(ran.code, 0, ran.err);
  }
  await fleet.salt("salt-run", "jobs.list_jobs");
  const allowed =
    /\/(etc|etc\/salt|etc\/salt\/(master|minion)|etc\/salt\/pki|var|var\/(cache|run|log)(\/salt)?|output|srv.*)$|\.(pub|pid)$/;
  for (const node of ["master", "m00"]) {
    const wide = [...open(`${fleet.root}/${node}`)].filter(([file, bits]) =>
      !allowed.test(file) && !(isLog(file) && bits === 0o040)
    );
    assertEquals(wide.map(([file, bits]) => `${file} ${bits.toString(8)}`), []);
    const private_ = node === "master" ? "master/master.pem" : "minion/minion.pem";
    assertEquals(
      ((Deno.statSync(`${fleet.root}/${node}/etc/salt/pki/${private_}`).mode ?? 0) & 0o777).toString(8),
      "400",
    );
  }
  const inSocks = [...Deno.readDirSync(fleet.masterOpts.sock_dir)].map(({ name }) => name).sort();
  assert(inSocks.includes("publish_pull.ipc"));
});

function isLog(file: string): boolean {
  return /\/var\/log\/salt\/(master|minion|key)$/.test(file);
}

Deno.test("with publisher_acl others reach their key and the sockets, and nothing else", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1, master: { publisher_acl: { nobody: ["test.*"] } } });
  assertEquals((await fleet.salt("salt", "m00", "test.ping")).code, 0);
  const wide = [...open(fleet.cacheDir)].map(([file]) => file);
  assertEquals(wide, []);
});

Deno.test("a service does not start on a private key that others may read, and says which", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  await fleet.stopMinion("m00");
  await fleet.stopMaster();
  const cases = [
    ["master", `${fleet.root}/master/etc/salt/pki/master/master.pem`],
    ["minion", `${fleet.root}/m00/etc/salt/pki/minion/minion.pem`],
  ] as const;
  for (const [program, key] of cases) {
    Deno.chmodSync(key, 0o644);
    const node = program === "master" ? "master" : "m00";
    const ran = await fleet.runToEnd(node);
    assertEquals(ran.code, 1);
    const said =
      `salt-${program}: pki_dir: ${key}: others may read or write this private key (mode 0644); chmod 0400 ${key}\n`;
    assertEquals(ran.err, said);
    Deno.chmodSync(key, 0o400);
  }
});
