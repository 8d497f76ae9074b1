/**
 * Properties that only real processes have: the rights that they run with, and the modes of the files that they write.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

import { accessKeyPath } from "#lib/config/master_paths.ts";
import { findUser, groupIdsOf } from "#lib/os/users.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { OtherUser } from "#tests/support/other_user.ts";
import { ifThere } from "#tests/support/tree.ts";

const ROOT_ONLY = { ignore: Deno.uid() !== 0 };

/** Users and capabilities of every thread of a process. */
function rightsOf(pid: number): Set<string> {
  const rights = new Set<string>();
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    const status = ifThere(() => Deno.readTextFileSync(`/proc/${pid}/task/${name}/status`));
    if (status === undefined) continue; // the thread has ended
    rights.add(
      [...status.matchAll(/^(?:Uid|Gid|Groups|CapPrm|CapEff|CapAmb):.*$/gm)].map(([line]) => line.trim()).join("\n"),
    );
  }
  return rights;
}

/** The rights of a process that runs as `user` and can never have others. */
function droppedTo(name: string): string {
  const user = findUser(name);
  if (user === undefined) throw new Error(`this host has no user ${name}`);
  const four = (id: number) => Array(4).fill(id).join("\t");
  const groups = groupIdsOf(user).sort((a, b) => a - b).join(" ");
  const none = "0".repeat(16);
  const caps = ["CapPrm", "CapEff", "CapAmb"].map((cap) => `${cap}:\t${none}`);
  return [`Uid:\t${four(user.uid)}`, `Gid:\t${four(user.gid)}`, `Groups:\t${groups}`, ...caps].join("\n");
}

/** Files and directories below `path` with the mode bits of group and others. */
function open(path: string): Map<string, number> {
  const descriptors = new Map<string, number>();
  for (const { name, isDirectory, isSymlink } of ifThere(() => [...Deno.readDirSync(path)]) ?? []) {
    const inner = `${path}/${name}`;
    if (isSymlink) continue;
    const bits = (ifThere(() => Deno.lstatSync(inner))?.mode ?? 0) & 0o077;
    if (bits !== 0) descriptors.set(inner, bits);
    // Files in a directory that no other user can enter are not accessible.
    if (isDirectory && (bits & 0o011) !== 0) { for (const [file, mode] of open(inner)) descriptors.set(file, mode); }
    else if (isDirectory) {
      for (const [file, mode] of open(inner)) if ((mode & 0o022) !== 0) descriptors.set(file, mode);
    }
  }
  return descriptors;
}

Deno.test(
  "user: master and minion drop their rights in every thread, permanently, before their sockets exist",
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
    // No job can become root again.
    const back = await fleet.salt("salt", "--out=json", "m1", "cmd.run", "id -u", "runas=root", "shell=/bin/sh");
    assertEquals(/"m1": "0"/.test(back.out), false, back.out);
    // The operator is root, but files that salt-key writes belong to the master's user, and the master can read them.
    const rejected = await fleet.salt("salt-key", "-y", "--include-accepted", "-r", "m1");
    assertEquals(rejected.code, 0, rejected.err);
    assertEquals(Deno.statSync(`${fleet.masterOpts.pki_dir}/minions_rejected/m1`).uid, nobody);
  },
);

Deno.test("salt-key -u changes to that user, as Salt's does", ROOT_ONLY, async () => {
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

Deno.test("only their owner can read what master and minion write, except public keys and directories of others", async () => {
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

/** A directory and everything below it. */
function pathsBelow(path: string): string[] {
  const inner = ifThere(() => [...Deno.readDirSync(path)]) ?? [];
  return [
    path,
    ...inner.flatMap(({ name, isDirectory }) => isDirectory ? pathsBelow(`${path}/${name}`) : [`${path}/${name}`]),
  ];
}

const LINUX_ROOT = { ignore: Deno.uid() !== 0 || Deno.build.os !== "linux" };

Deno.test(
  "with publisher_acl, other users can access their key and the bus, and nothing else, on a master that runs as root",
  LINUX_ROOT,
  (t) => aclUsersOf("root", t),
);

Deno.test(
  "with publisher_acl, other users can access their key and the bus, and nothing else, on a master that runs as nobody",
  LINUX_ROOT,
  (t) => aclUsersOf("nobody", t),
);

async function aclUsersOf(owner: string, t: Deno.TestContext): Promise<void> {
  using daemon = new OtherUser("daemon");
  using games = new OtherUser("games");
  const publisher_acl = { daemon: ["test.*"] };
  const master = { user: owner, auto_accept: true, timeout: 2, gather_job_timeout: 2 };
  await using fleet = await ProcessFleet.start({ minions: 0, master: { ...master, publisher_acl } });
  fleet.startStranger("m00");
  await fleet.allPresent(["m00"]);
  assertEquals((await fleet.salt("salt", "m00", "test.ping")).code, 0);
  const { pki_dir, cachedir, sock_dir, pidfile } = fleet.masterOpts;
  const paths = [...[pki_dir, cachedir, sock_dir].flatMap(pathsBelow), accessKeyPath(cachedir, "daemon")];
  for (
    const name of [
      "publish_pull.ipc",
      "event_bus_pull.ipc",
      "event_bus_pub.ipc",
      "master_event_pull.ipc",
      "master_event_pub.ipc",
      "ports.json",
    ]
  ) {
    assert(paths.includes(`${sock_dir}/${name}`), name);
  }
  assert(paths.some((path) => path.endsWith("/return.p")), "a return in the job cache");
  const reach = async (user: OtherUser): Promise<Record<string, string[]>> => {
    const { code, out, err } = await user.deno("tests/support/reach.ts", JSON.stringify([...new Set(paths)]));
    assertEquals(code, 0, err);
    return JSON.parse(out);
  };

  await t.step("a user with an entry gets answers", async () => {
    const ran = await daemon.salt("salt", fleet.configDir, "--out=json", "m00", "test.echo", "hello");
    assertEquals([ran.code, ran.err], [0, ""], ran.out);
    assertEquals(JSON.parse(ran.out), { m00: "hello" });
  });
  await t.step("and jobs have the user's name", async () => {
    const listed = await fleet.salt("salt-run", "--out=json", "jobs.list_jobs", "search_function=test.echo");
    const users = Object.values<{ User: string }>(JSON.parse(listed.out)).map(({ User }) => User);
    assertEquals(users, ["daemon"]);
  });
  await t.step("and --live shows what comes as an event: the stored output is not for this user", async () => {
    const live = await daemon.salt("salt", fleet.configDir, "--live", "--out=txt", "m00", "test.echo", "hello");
    assertEquals([live.code, live.err, live.out], [0, "", "m00: hello\n"]);
  });
  await t.step("and all other requests are denied", async () => {
    for (const words of [["m00", "cmd.run", "id"], ["m00", "test.ping,cmd.run", ",id"], ["*", "state.apply"]]) {
      const ran = await daemon.salt("salt", fleet.configDir, ...words);
      assertEquals(ran.code, 77, ran.out + ran.err);
      assertStringIncludes(ran.out, "Authorization error occurred.");
    }
    for (const program of ["salt-run", "salt-key"] as const) {
      const words = program === "salt-run" ? ["jobs.list_jobs"] : ["-L"];
      const ran = await daemon.salt(program, fleet.configDir, ...words);
      assertEquals([ran.code === 0, ran.out.includes("m00")], [false, false], ran.out + ran.err);
    }
  });
  await t.step("and the output names minions that do not answer, and targets without a minion", async () => {
    const nobody = await daemon.salt("salt", fleet.configDir, "no-such-minion", "test.ping");
    assertEquals([nobody.code, nobody.err], [2, "ERROR: No return received\n"], nobody.out);
    // A target of grains: the user may not read what the master knows, so there is no advice.
    const unmatched = await daemon.salt("salt", fleet.configDir, "-G", "os:none", "test.ping");
    assertEquals([unmatched.code, unmatched.err], [2, "ERROR: No return received\n"], unmatched.out);
    Deno.kill(fleet.minion("m00").pid, "SIGSTOP");
    const silent = await daemon.salt("salt", fleet.configDir, "m00", "test.ping");
    Deno.kill(fleet.minion("m00").pid, "SIGCONT");
    assertEquals(silent.code, 1, silent.out + silent.err);
    assertStringIncludes(silent.out, "Minion did not return. [No response]");
  });
  await t.step("and the user can access the own key, the ports and the socket of events", async () => {
    assertEquals(await reach(daemon), {
      [accessKeyPath(cachedir, "daemon")]: ["read"],
      [`${sock_dir}/event_bus_pub.ipc`]: ["connect"],
      [`${sock_dir}/master_event_pub.ipc`]: ["connect"],
      [`${sock_dir}/ports.json`]: ["read"],
    });
    const pid = await daemon.deno("tests/support/reach.ts", JSON.stringify([pidfile]));
    assertEquals(JSON.parse(pid.out), { [pidfile]: ["read"] });
  });
  await t.step("a user without an entry can access nothing", async () => {
    assertEquals(await reach(games), {});
    const ran = await games.salt("salt", fleet.configDir, "m00", "test.ping");
    assertEquals(ran.code, 77, ran.out + ran.err);
    assertStringIncludes(ran.err, "no right to reach the master");
  });
  await t.step("the same after a restart", async () => {
    await fleet.stopMaster();
    await fleet.startMaster();
    await fleet.allPresent(["m00"]);
    assertEquals((await daemon.salt("salt", fleet.configDir, "m00", "test.ping")).code, 0);
  });
  await t.step("a user whose entry was removed can access nothing", async () => {
    await fleet.stopMaster();
    fleet.configure("master", { publisher_acl: { games: ["test.*"] } });
    await fleet.startMaster();
    await fleet.allPresent(["m00"]);
    assertEquals(await reach(daemon), {});
    assertEquals((await daemon.salt("salt", fleet.configDir, "m00", "test.ping")).code, 77);
    assertEquals((await games.salt("salt", fleet.configDir, "m00", "test.ping")).code, 0);
    await fleet.stopMaster();
    fleet.configure("master", { publisher_acl: {} });
    await fleet.startMaster();
    assertEquals([await reach(daemon), await reach(games)], [{}, {}]);
  });
}

Deno.test("a service does not start if others can read its private key, and names the file", async () => {
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
    const message =
      `salt-${program}: pki_dir: ${key}: others may read or write this private key (mode 0644); chmod 0400 ${key}\n`;
    assertEquals(ran.err, message);
    Deno.chmodSync(key, 0o400);
  }
});
