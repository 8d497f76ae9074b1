import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { PreflightError } from "#lib/errors.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import {
  checkPorts,
  checkSocketPath,
  MAX_SOCKET_PATH,
  preflightMaster,
  preflightMinion,
} from "#lib/commands/daemons/preflight.ts";
import { userToBecome } from "#lib/programs/run_user.ts";
import { findUser } from "#lib/os/users.ts";

/** A root directory, and options with paths below it. */
class Root {
  readonly path = Deno.makeTempDirSync({ prefix: "preflight_" });

  #request(overrides: Record<string, string | number | boolean>) {
    return { configDir: `${this.path}/etc/salt`, overrides: { root_dir: this.path, id: "m", ...overrides } };
  }

  master(overrides: Record<string, string | number | boolean> = {}): MasterOpts {
    return loadMasterConfig(this.#request({ publish_port: 0, ret_port: 0, ...overrides })).opts;
  }

  minion(overrides: Record<string, string | number | boolean> = {}): MinionOpts {
    return loadMinionConfig(this.#request(overrides)).opts;
  }

  mode(path: string): string {
    return ((Deno.statSync(`${this.path}/${path}`).mode ?? 0) & 0o777).toString(8);
  }

  /** The names of the owners of entries: `root`, `nobody`. */
  owners(...paths: readonly string[]): (string | undefined)[] {
    return paths.map((path) => findUser(Deno.statSync(`${this.path}/${path}`).uid ?? -1)?.name);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

Deno.test("the master's directories are created with their modes, independent of the umask, and a second run changes nothing", () => {
  using root = new Root();
  const umask = Deno.umask(0o077);
  try {
    for (let i = 0; i < 2; i++) {
      const ready = preflightMaster(root.master());
      assertEquals([ready.user, ready.finish()], [undefined, []]);
      const paths = [
        "etc/salt/pki/master",
        "var/cache/salt/master",
        "var/run/salt/master",
        "var/log/salt",
        "var/cache",
      ];
      assertEquals(paths.map((path) => root.mode(path)), ["700", "700", "700", "755", "755"]);
      assertEquals(root.mode("var/log/salt/master"), "640");
      const keys = Array.from(Deno.readDirSync(`${root.path}/etc/salt/pki/master`), ({ name }) => name).sort();
      assertEquals(keys, ["minions", "minions_denied", "minions_pre", "minions_rejected"]);
      assertEquals(keys.map((name) => root.mode(`etc/salt/pki/master/${name}`)), ["700", "700", "700", "700"]);
    }
  } finally {
    Deno.umask(umask);
  }
});

Deno.test("the minion's directories are created with their modes", () => {
  using root = new Root();
  assertEquals(preflightMinion(root.minion()).finish(), []);
  const paths = ["etc/salt/pki/minion", "var/cache/salt/minion", "var/run/salt/minion"];
  assertEquals(paths.map((path) => root.mode(path)), ["700", "700", "700"]);
});

Deno.test("access of others to a pki directory is removed; 0750 is kept", () => {
  using root = new Root();
  const opts = root.master();
  Deno.mkdirSync(opts.pki_dir, { recursive: true });
  Deno.chmodSync(opts.pki_dir, 0o755);
  preflightMaster(opts).finish();
  assertEquals(root.mode("etc/salt/pki/master"), "700");
  Deno.chmodSync(opts.pki_dir, 0o750);
  preflightMaster(opts).finish();
  assertEquals([root.mode("etc/salt/pki/master"), root.mode("var/run/salt/master")], ["750", "700"]);
});

Deno.test("a file in place of a directory is one clear line", () => {
  using root = new Root();
  Deno.mkdirSync(`${root.path}/var/cache/salt`, { recursive: true });
  Deno.writeTextFileSync(`${root.path}/var/cache/salt/master`, "");
  const error = assertThrows(() => preflightMaster(root.master()).finish(), PreflightError);
  assertEquals(error.message, `cachedir: ${root.path}/var/cache/salt/master is no directory`);
});

Deno.test("a path below a file cannot be made", () => {
  using root = new Root();
  Deno.writeTextFileSync(`${root.path}/file`, "");
  const error = assertThrows(
    () => preflightMaster(root.master({ pidfile: `${root.path}/file/x/y.pid` })).finish(),
    PreflightError,
  );
  assert(error.message.startsWith(`pidfile: the directory ${root.path}/file/x cannot be made: `), error.message);
  assert(!error.message.includes("\n"));
});

Deno.test("with verify_env off nothing is created, and a missing directory is an error", () => {
  using root = new Root();
  const message = `pki_dir: nothing can be written in ${root.path}/etc/salt/pki/master: no such directory`;
  assertThrows(() => preflightMaster(root.master({ verify_env: false })).finish(), PreflightError, message);
});

Deno.test("a directory that is not writable is one clear line", { ignore: Deno.uid() === 0 }, () => {
  using root = new Root();
  Deno.mkdirSync(`${root.path}/var`, { mode: 0o500 });
  assertThrows(() => preflightMaster(root.master()).finish(), PreflightError, "no right to do so");
  Deno.chmodSync(`${root.path}/var`, 0o700);
});

Deno.test("a socket's path has at most 107 bytes", () => {
  const fits = "/" + "s".repeat(MAX_SOCKET_PATH - 7);
  checkSocketPath(fits, "x.ipc");
  assertThrows(() => checkSocketPath(fits + "s", "x.ipc"), PreflightError, `sock_dir: ${fits}s is too long`);
  assertThrows(() => checkSocketPath("/" + "ü".repeat(60), "x.ipc"), PreflightError, "makes 127 bytes");
  using root = new Root();
  const long = `${root.path}/${"d".repeat(90)}`;
  assertThrows(
    () => preflightMaster(root.master({ sock_dir: long, cachedir: long })).finish(),
    PreflightError,
    "sock_dir: ",
  );
  assertThrows(
    () => preflightMinion(root.minion({ sock_dir: long, cachedir: long })).finish(),
    PreflightError,
    "sock_dir: ",
  );
});

Deno.test("a port in use is an error with option, port and address; port 0 is never in use", () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  try {
    const error = assertThrows(() => checkPorts("127.0.0.1", { publish_port: 0, ret_port: port }), PreflightError);
    assertEquals(error.message, `ret_port: port ${port} on 127.0.0.1 is taken. Is another master running?`);
    assertThrows(() => checkPorts("0.0.0.0", { ret_port: port }), PreflightError, "is taken");
  } finally {
    listener.close();
  }
  checkPorts("127.0.0.1", { publish_port: 0, ret_port: port });
  checkPorts("127.0.0.1", { publish_port: 0, ret_port: 0 });
});

Deno.test("two options with the same port, and an address of another host, are errors", () => {
  assertThrows(
    () => checkPorts("127.0.0.1", { publish_port: 45061, ret_port: 45061 }),
    PreflightError,
    "ret_port: 45061 is the port of publish_port already",
  );
  assertThrows(
    () => checkPorts("192.0.2.1", { ret_port: 45062 }),
    PreflightError,
    "interface: 192.0.2.1 is no address of this host",
  );
  assertThrows(
    () => checkPorts("no address", { ret_port: 45062 }),
    PreflightError,
    "ret_port: cannot listen on port 45062 of no address: ",
  );
});

Deno.test("a missing file root is a warning if it is configured, not if it is the default", () => {
  using root = new Root();
  Deno.mkdirSync(`${root.path}/srv/empty`, { recursive: true });
  const opts = root.master();
  assertEquals(preflightMaster(opts).finish(), []);
  opts.file_roots = new Map([["base", [`${root.path}/srv`, `${root.path}/nowhere`]]]);
  assertEquals(preflightMaster(opts).finish(), [`file_roots: ${root.path}/nowhere (base) does not exist`]);
});

Deno.test("a file root that is no directory is an error", () => {
  using root = new Root();
  Deno.writeTextFileSync(`${root.path}/file`, "");
  const opts = root.master();
  opts.pillar_roots = new Map([["base", [`${root.path}/file`]]]);
  assertThrows(
    () => preflightMaster(opts).finish(),
    PreflightError,
    `pillar_roots: ${root.path}/file (base) cannot be read: `,
  );
});

Deno.test("too many accepted keys for the open-file limit are a warning", () => {
  using root = new Root();
  const opts = root.master({ max_open_files: 256 });
  Deno.mkdirSync(`${opts.pki_dir}/minions`, { recursive: true });
  assertEquals(preflightMaster(opts).finish(), []);
  const soft = Number(
    new TextDecoder().decode(new Deno.Command("sh", { args: ["-c", "ulimit -n"] }).outputSync().stdout),
  );
  if (soft > 20_000) return; // a host whose limit is high enough: no warning is expected
  for (let i = 0; i <= soft / 4; i++) Deno.writeTextFileSync(`${opts.pki_dir}/minions/m${i}`, "");
  assertEquals(preflightMaster(opts).finish().length, 1);
});

const asRoot = { ignore: Deno.uid() !== 0 };

Deno.test("root makes what the user cannot make, and gives it to the user", asRoot, () => {
  using root = new Root();
  Deno.mkdirSync(`${root.path}/var/log/salt`, { recursive: true });
  const opts = root.master({ user: "nobody" });
  const ready = preflightMaster(opts);
  assertEquals([ready.user?.name, ready.rootsPidFile], ["nobody", true]);
  const own = ["etc/salt/pki/master", "var/cache/salt/master", "var/run/salt/master"];
  assertEquals(root.owners(...own, "var/log/salt/master"), Array(4).fill("nobody"));
  // In a directory of the user, root makes nothing more: the user does.
  assertEquals([...Deno.readDirSync(opts.pki_dir)], []);
  // What was there, and what is on the way, is no place of the service's alone.
  assertEquals(root.owners("var/log/salt", "var/run", "etc/salt/pki"), ["root", "root", "root"]);
  assertEquals(root.mode("etc/salt/pki"), "755");
});

Deno.test("a pid file in a directory that the service's user made is that user's", asRoot, () => {
  using root = new Root();
  const opts = root.minion({ user: "nobody", pidfile: `${root.path}/own/minion.pid` });
  assertEquals([preflightMinion(opts).rootsPidFile, root.owners("own")], [false, ["nobody"]]);
});

Deno.test("root makes nothing where the user decides what a path leads to", asRoot, () => {
  using root = new Root();
  const nobody = findUser("nobody");
  const opts = root.minion({ user: "nobody", cachedir: `${root.path}/theirs/cache` });
  Deno.mkdirSync(`${root.path}/theirs`);
  Deno.chownSync(`${root.path}/theirs`, nobody?.uid ?? null, null);
  preflightMinion(opts);
  assertEquals([...Deno.readDirSync(`${root.path}/theirs`)], []);
});

Deno.test("with verify_env off root makes nothing for a user either", asRoot, () => {
  using root = new Root();
  preflightMinion(root.minion({ user: "nobody", verify_env: false }));
  assertEquals([...Deno.readDirSync(root.path)], []);
});

Deno.test("a directory with files of another user than the service's is an error with the remedy", asRoot, () => {
  using root = new Root();
  const opts = root.minion({ user: "nobody" });
  const ready = preflightMinion(opts);
  Deno.writeTextFileSync(`${opts.cachedir}/left`, "");
  const error = assertThrows(() => ready.finish(), PreflightError);
  assertEquals(
    error.message,
    `cachedir: ${opts.cachedir}/left belongs to another user than nobody; chown -R nobody ${opts.cachedir}`,
  );
});

Deno.test("root is told of a directory whose owner decides where a path leads", asRoot, () => {
  using root = new Root();
  const opts = root.minion();
  Deno.mkdirSync(`${opts.cachedir}/roots`, { recursive: true });
  Deno.writeTextFileSync(`${opts.cachedir}/grains`, "");
  for (const name of ["roots", "grains"]) Deno.chownSync(`${opts.cachedir}/${name}`, 4711, null);
  assertEquals(preflightMinion(opts).finish(), [
    `cachedir: ${opts.cachedir}/roots belongs to user 4711, who can redirect the paths of this service, ` +
    `which runs as root; chown -R root ${opts.cachedir}`,
  ]);
});

Deno.test("a log that cannot be opened, a key that others read, a mode that stays", asRoot, () => {
  using root = new Root();
  Deno.mkdirSync(`${root.path}/log`);
  const long = `${root.path}/log/${"x".repeat(300)}`;
  const refused = (overrides: Record<string, string>, prepare: (opts: MinionOpts) => void = () => {}) => {
    const opts = root.minion(overrides);
    prepare(opts);
    return assertThrows(() => preflightMinion(opts).finish(), PreflightError).message;
  };
  assertEquals(
    refused({ log_file: `${root.path}/log` }),
    `log_file: ${root.path}/log cannot be written: Is a directory`,
  );
  const name = `log_file: ${long} cannot be written: File name too long`;
  assertEquals([refused({ log_file: long }), refused({ log_file: long, user: "nobody" })], [name, name]);
  const key = (opts: MinionOpts) => Deno.writeTextFileSync(`${opts.pki_dir}/minion.pem`, "", { mode: 0o644 });
  Deno.chownSync(`${root.path}/etc/salt/pki/minion`, 0, null);
  assert(refused({}, key).startsWith(`pki_dir: ${root.path}/etc/salt/pki/minion/minion.pem: others may read`));
  const fixed = "/proc/self/task";
  assertEquals(refused({ cachedir: fixed }), `cachedir: the mode of ${fixed} cannot be set to 700: no right to do so`);
});

Deno.test("a minion without a master tells of file roots that are not there", () => {
  using root = new Root();
  const roots = (opts: MinionOpts) =>
    Object.assign(opts, { file_roots: new Map([["base", [`${root.path}/nowhere`]]]) });
  assertEquals(preflightMinion(roots(root.minion())).finish(), []);
  const warnings = preflightMinion(roots(root.minion({ file_client: "local" }))).finish();
  assertEquals(warnings, [`file_roots: ${root.path}/nowhere (base) does not exist`]);
});

Deno.test("the user to switch to: none for the current user, an error for an unknown user or without permission", () => {
  const passwd = Deno.readTextFileSync("/etc/passwd").split("\n").map((line) => line.split(":"));
  const root = passwd.find((fields) => fields[2] === "0")?.[0] ?? "root";
  const other = passwd.find((fields) => Number(fields[2]) > 0);
  assertEquals(userToBecome(root, 0), undefined);
  assertEquals(userToBecome("4711", 4711), undefined);
  assertThrows(() => userToBecome("no_such_user_here", 0), PreflightError, "there is no user no_such_user_here");
  if (other === undefined) return;
  assertEquals(userToBecome(other[0], 0)?.uid, Number(other[2]));
  assertThrows(() => userToBecome(root, Number(other[2])), PreflightError, `only root can run this as ${root}`);
});
