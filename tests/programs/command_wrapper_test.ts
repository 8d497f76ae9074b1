/** @module */
import { unwrapCommand, wrapCommand } from "#lib/programs/command_wrapper.ts";
import { findUser } from "#lib/os/users.ts";
import { assertEquals } from "#tests/support/assert.ts";

const PLAIN = { user: undefined, group: undefined, umask: undefined, joinOutput: false, env: {} };
const WRAPPINGS = {
  "nothing": PLAIN,
  "a umask": { ...PLAIN, umask: "027" },
  "joined outputs": { ...PLAIN, joinOutput: true },
  "a user": { ...PLAIN, user: findUser("nobody") },
  "all": { ...PLAIN, user: findUser("nobody"), umask: "0", joinOutput: true },
};
const COMMANDS = [["getent", "passwd"], ["/bin/sh", "-c", "dpkg -l"], ["sh", "-c", 'exec "$@"', "sh2", "x"], ["a"]];

for (const [what, wrapping] of Object.entries(WRAPPINGS)) {
  Deno.test(`unwrapCommand() returns the arguments of wrapCommand(), with ${what}`, () => {
    for (const words of COMMANDS) assertEquals(unwrapCommand(wrapCommand(words, wrapping).argv), words);
  });
}
