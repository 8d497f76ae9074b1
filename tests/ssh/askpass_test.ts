/** What `salt-ssh` answers to ssh's questions, and to those of hosts. */

import { makeSshDirectory } from "#lib/ssh/connection.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PHRASE = "the passphrase", WORD = "the password", KEY = "/srv/keys/fleet";

/** What the program for questions prints, and its exit code, asked by a process of this kind. */
async function answer(prompt: string, { key = KEY, jump = false } = {}): Promise<string> {
  const directory = makeSshDirectory();
  try {
    const ask = '"$0" "$1"; exit $?';
    const { code, stdout } = await new Deno.Command("/bin/sh", {
      // The ssh to a jump host is a child of the ssh that salt-ssh started.
      args: ["-c", `SALT_SSH_PID=$$; export SALT_SSH_PID; ${jump ? `/bin/sh -c '${ask}' "$0" "$1"; exit $?` : ask}`]
        .concat([`${directory}/askpass`, prompt]),
      env: { SALT_SSH_KEY: key, SALT_SSH_PASSPHRASE: PHRASE, SALT_SSH_PASSWORD: WORD },
    }).output();
    return code === 0 ? new TextDecoder().decode(stdout).trimEnd() : `code ${code}`;
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

Deno.test("ssh's questions are answered: of the passphrase of the key, and of the password", async () => {
  assertEquals(await answer(`Enter passphrase for key '${KEY}': `), PHRASE);
  assertEquals(await answer("op@web1's password: "), WORD);
  assertEquals(await answer("(op@web1) Password: "), WORD);
  // Of a path with words that ssh replaces, the beginning of the question must do.
  assertEquals(await answer("Enter passphrase for key '/home/op/.ssh/x': ", { key: "" }), PHRASE);
});

Deno.test("a host gets no passphrase by questions of its own, whatever they say", async () => {
  for (const prompt of ["Enter passphrase for key '/srv/keys/fleet': ", "passphrase", "Enter passphrase: "]) {
    assertEquals(await answer(`(op@web1) ${prompt}`), "no", prompt);
  }
  assertEquals(await answer("Enter passphrase for key '/srv/keys/other': "), "no");
  assertEquals(await answer("passphrase of fleet"), "no");
  assertEquals(await answer("Are you sure you want to continue connecting (yes/no/[fingerprint])? "), "no");
  assertEquals(await answer("(op@web1) Verification code: "), "no");
});

Deno.test("the ssh to a jump host gets neither the passphrase nor the host's password", async () => {
  assertEquals(await answer("op@gate's password: ", { jump: true }), "code 1");
  assertEquals(await answer(`Enter passphrase for key '${KEY}': `, { jump: true }), "code 1");
});

Deno.test("the directory for sockets is in the user's own, unless that is missing or its path too long", () =>
  withTemporaryDirectory((root) => {
    const before = Deno.env.get("XDG_RUNTIME_DIR");
    const placeWith = (given: string) => {
      Deno.env.set("XDG_RUNTIME_DIR", given);
      const directory = makeSshDirectory();
      assertEquals((Deno.statSync(directory).mode ?? 0) & 0o777, 0o700);
      Deno.removeSync(directory, { recursive: true });
      return directory.slice(0, directory.lastIndexOf("/"));
    };
    try {
      const long = `${root}/${"x".repeat(40)}`;
      Deno.mkdirSync(long);
      assertEquals([placeWith(root), placeWith(`${root}/none`), placeWith(long)], [root, "/tmp", "/tmp"]);
    } finally {
      if (before === undefined) Deno.env.delete("XDG_RUNTIME_DIR");
      else Deno.env.set("XDG_RUNTIME_DIR", before);
    }
  }));
