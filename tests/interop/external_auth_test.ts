/**
 * `external_auth` and `peer` with both implementations: Python's LocalClient and Resolver on our master, and a Python
 * minion that publishes through our master.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { OURS, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

/**
 * The code of a Python program that uses the master's options. Its first argument is the master's configuration
 * directory.
 */
const CLIENT = `
import json, sys
import salt.auth, salt.client, salt.config, salt.exceptions
path = sys.argv[1] + "/master"
client = salt.client.LocalClient(path)
client.key = ""
login = {"eauth": "file", "username": "fred", "password": "secret"}
def publish(fun, **proof):
    try:
        return sorted(client.pub("*", fun, **proof)["minions"])
    except salt.exceptions.SaltException as error:
        return type(error).__name__
resolver = salt.auth.Resolver(salt.config.client_config(path))
made = resolver.mk_token(dict(login))
print(json.dumps({
    "allowed": publish("test.ping", **login),
    "refused": publish("cmd.run", **login),
    "wrong": publish("test.ping", **{**login, "password": "x"}),
    "token": publish("test.ping", token=made["token"]),
    "bad_token": publish("test.ping", token="0" * 64),
    "no_token": resolver.mk_token({**login, "password": "x"}),
    "name": resolver.get_token(made["token"])["name"],
}))
`;

await testWithPython(
  "3008.3",
  "{}: LocalClient, Resolver and a minion's publish.publish on our master",
  async (python) => {
    await using site = new Site();
    const users = `${site.root}/users`;
    Deno.writeTextFileSync(users, "fred:secret\n");
    Deno.mkdirSync(`${site.root}/etc/salt/master.d`, { recursive: true });
    Deno.writeTextFileSync(
      `${site.root}/etc/salt/master.d/auth.conf`,
      JSON.stringify({
        external_auth: { file: { "^filename": users, fred: ["test.*"] } },
        peer: { py1: ["test.*"] },
        peer_run: { py1: ["test.arg"] },
      }),
    );
    await site.explain(async () => {
      await site.startMaster(OURS);
      site.startMinion(python, "py1");
      await site.keyComes("py1", "minions_pre");
      await site.acceptAll();
      await site.answers("py1");
      const [program] = python.command("salt");
      const interpreter = program.replace(/[^/]*$/, "python");
      const { out, err, code } = await run([interpreter, "-c", CLIENT, `${site.root}/etc/salt`]);
      assertEquals(code, 0, err);
      assertEquals(JSON.parse(out.trim().split("\n").at(-1) ?? ""), {
        allowed: ["py1"],
        refused: "AuthorizationError",
        wrong: "AuthenticationError",
        token: ["py1"],
        bad_token: "AuthenticationError",
        no_token: "",
        name: "fred",
      });
      assertEquals(await site.salt(["-t", "30", "py1", "publish.publish", "*", "test.ping"]), { py1: { py1: true } });
      assertEquals(await site.salt(["-t", "30", "py1", "publish.publish", "*", "cmd.run", "id"]), { py1: {} });
      assertEquals(await site.salt(["-t", "30", "py1", "publish.runner", "test.arg", "x"]), {
        py1: { args: ["x"], kwargs: {} },
      });
    });
  },
);
