/**
 * The lock of a remote's updates: who holds it, which lock is a left one, and what an operator is told. The answers are
 * those of Salt 3008.3's `salt-run cache.clear_git_lock` and `fileserver.lock`.
 * @module
 */

import { UpdateLock } from "#lib/files/git/update_lock.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

/** Above the largest number of a process: pid_max of proc_sys_kernel(5). */
const NO_PROCESS = 4_194_305;

async function withLock(act: (lock: UpdateLock, root: string) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "update_lock_" });
  try {
    const url = "https://u:secret@git.example.org/x";
    await act(new UpdateLock(`${root}/work/update.lk`, { id: `main ${url}`, url }), root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** The second line of a lock of this machine. */
async function machineId(lock: UpdateLock): Promise<string> {
  const held = await lock.take();
  assert(held !== undefined);
  const [, machine] = Deno.readTextFileSync(lock.path).split("\n");
  await held.release();
  return machine;
}

Deno.test("a lock of a process of this machine that has ended is taken over; each other one holds", () =>
  withLock(async (lock) => {
    const machine = await machineId(lock);
    for (
      const [text, isTaken] of [
        [`${NO_PROCESS}\n${machine}\n`, true],
        [`${NO_PROCESS}\nanother\n`, false],
        [`1\n${machine}\n`, false],
        [`${Deno.pid}\n${machine}\n`, false],
        [`0\n${machine}\n`, false], // an operator's
        [`x\n${machine}\n`, false],
        ["", false], // it is being written
      ] as const
    ) {
      Deno.writeTextFileSync(lock.path, text);
      const held = await lock.take();
      assertEquals(held !== undefined, isTaken, JSON.stringify(text));
      assertEquals(Deno.readTextFileSync(lock.path), isTaken ? `${Deno.pid}\n${machine}\n` : text);
      Deno.removeSync(lock.path);
    }
  }));

Deno.test("a link to nothing in place of a lock is no lock", () =>
  withLock(async (lock, root) => {
    Deno.mkdirSync(`${root}/work`);
    Deno.symlinkSync(`${root}/nothing`, lock.path);
    const held = await lock.take();
    assert(held !== undefined);
    assert(Deno.lstatSync(lock.path).isFile);
    await held.release();
    await held.release(); // an operator may have removed it
  }));

Deno.test("an operator's lock is set and removed once, and no answer has a password", () =>
  withLock(async (lock) => {
    const machine = await machineId(lock);
    const shown = `main https://<redacted>@git.example.org/x' on machine_id '${machine}'`;
    assertEquals(await lock.set(), { done: [`Set update lock for gitfs remote '${shown}`], errors: [] });
    assertEquals(await lock.set(), { done: [], errors: [] });
    assertEquals(await lock.take(), undefined);
    assertEquals(await lock.clear(), { done: [`Removed update lock for gitfs remote '${shown}`], errors: [] });
    assertEquals(await lock.clear(), { done: [], errors: [] });
  }));

Deno.test("a lock that cannot be written or removed is an error of the answer", () =>
  withLock(async (lock, root) => {
    Deno.writeTextFileSync(`${root}/work`, "a file");
    const { done, errors: [text, ...others] } = await lock.set();
    assertEquals([done, others], [[], []]);
    assertStringIncludes(
      text,
      `Unable to set update lock for main https://<redacted>@git.example.org/x (${lock.path}): `,
    );
    Deno.removeSync(`${root}/work`);
    Deno.mkdirSync(`${lock.path}/in_its_place`, { recursive: true });
    const { done: removed, errors: [reason] } = await lock.clear();
    assertEquals(removed, []);
    assertStringIncludes(
      reason,
      `Unable to remove update lock for https://<redacted>@git.example.org/x (${lock.path}): `,
    );
  }));

Deno.test({
  name: "the machine of a lock is that of D-Bus on a host without /etc/machine-id, and Salt's words without both",
  ignore: whyNoMountNamespace() !== undefined,
  fn: async () => {
    const place = new URL("../../../lib/files/git/update_lock.ts", import.meta.url).href;
    const program = `import { UpdateLock } from "${place}";
      const root = Deno.makeTempDirSync();
      await new UpdateLock(root + "/update.lk", { id: "x", url: "x" }).set();
      console.log(Deno.readTextFileSync(root + "/update.lk"));
      Deno.removeSync(root, { recursive: true });`;
    const script = Deno.makeTempFileSync({ suffix: ".ts" });
    Deno.writeTextFileSync(script, program);
    for (const [made, machine] of [["", "no_machine_id_available"], ["echo beef > /var/lib/dbus/machine-id", "beef"]]) {
      const mounts = "mount -t tmpfs none /etc; mount -t tmpfs none /var/lib; mkdir /var/lib/dbus";
      const run = `set -e; ${mounts}; ${made}
        exec "$0" "$@"`;
      const [unshare, ...words] = UNSHARE_MOUNTS;
      const args = [...words, "sh", "-c", run, Deno.execPath(), ...DENO_RUN, "--config", TREE_CONFIG, script];
      const { stdout, stderr } = await new Deno.Command(unshare, { args }).output();
      assertEquals(new TextDecoder().decode(stdout).trim(), `0\n${machine}`, new TextDecoder().decode(stderr));
    }
    Deno.removeSync(script);
  },
});
