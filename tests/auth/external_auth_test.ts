/** @module */

import { type AttemptClock, Attempts, MAX_WAITING, TooManyAttemptsError } from "#lib/auth/attempts.ts";
import type { EauthModule } from "#lib/auth/eauth_module.ts";
import { ExternalAuth } from "#lib/auth/external_auth.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { RefusedError } from "#lib/errors.ts";
import { isMap, map, str, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { ownConnection } from "#tests/support/fleet/attempts.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";

/** A clock whose waits end at once, and that records them. */
function testClock(): AttemptClock & { readonly slept: number[] } {
  const slept: number[] = [];
  return { slept, now: () => 0, random: () => 0.5, sleep: (ms) => Promise.resolve(void slept.push(ms)) };
}

const SECRET = "correct horse";

/** An eauth module with the users fred and anna, who share a password. */
const SYSTEM: EauthModule = {
  authenticate: ({ username, password }) =>
    Promise.resolve(
      ["fred", "anna"].includes(username) && password === SECRET
        ? { groups: username === "anna" ? ["ops"] : [] }
        : undefined,
    ),
};

async function withAuth(
  options: Record<string, unknown>,
  act: (auth: ExternalAuth, seen: { readonly logged: string[]; readonly slept: number[] }) => Promise<void>,
  system: EauthModule = SYSTEM,
): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "eauth_" });
  try {
    const external_auth = { file: { fred: ["test.*"], "ops%": ["@jobs"], "*": ["test.ping"] } };
    const given = map({ root_dir: root, id: "m", external_auth, ...options });
    const { opts } = loadMasterConfig({
      configDir: `${root}/etc`,
      overrides: Object.fromEntries([...given].map(([key, value]) => [str(key), value])),
    });
    const logged: string[] = [];
    const clock = testClock();
    const log = recordingLogger(logged);
    const load = (name: string) => Promise.resolve(name === "file" || name === "rest" ? system : undefined);
    const auth = new ExternalAuth({
      opts,
      log,
      warn: log.warning,
      attempts: new Attempts(clock),
      load,
      onWait: ownConnection,
    });
    await act(auth, { logged, slept: clock.slept });
    assertEquals(logged.filter((line) => line.includes(SECRET)), []);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

const login = (username: unknown, password: unknown = SECRET, eauth: unknown = "file") =>
  map({ eauth, username, password });

async function refusal(promise: Promise<unknown>): Promise<string> {
  const { kind, message } = await assertRejects(() => promise, RefusedError);
  return `${kind}: ${message}`;
}

Deno.test("a user has the rules of the name or else of `*`, and the rules of the groups", async () => {
  await withAuth({}, async (auth, { slept }) => {
    assertEquals(await auth.identify(login("fred")), { user: "fred", rules: ["test.*"] });
    assertEquals(await auth.identify(login("anna")), { user: "anna", rules: ["@jobs", "test.ping"] });
    assertEquals(slept, []);
  });
});

Deno.test("rules that a system tells at the log-in go before those of the options, also none at all", async () => {
  const telling = (ownRules: readonly string[] | undefined): EauthModule => ({
    authenticate: () => Promise.resolve({ groups: ["ops"], ownRules }),
    rules: () => Promise.reject(new Error("asked again")),
  });
  for (const [own, rules] of [[["cmd.run"], ["cmd.run"]], [[], []], [undefined, ["test.*", "@jobs"]]] as const) {
    await withAuth({}, async (auth) => {
      assertEquals(await auth.identify(login("fred")), { user: "fred", rules });
    }, telling(own));
  }
});

Deno.test("CVE-2020-25592, CVE-2017-5192: wrong or missing credentials are refused", async () => {
  await withAuth({ external_auth: { file: { "*": [".*"] }, broken: null } }, async (auth) => {
    const long = "x".repeat(10_000);
    const wrong: ReturnType<typeof login>[] = [
      login("fred", "wrong"),
      login("fred", ""),
      login("", SECRET),
      login("eve"),
      login("fred", null),
      login(null),
      login(["fred"]),
      login("fred", SECRET, "auto"),
      login("fred", SECRET, "broken"),
      login("fred", SECRET, "../file"),
      login("fred", SECRET, "constructor"),
      login("fred", SECRET, null),
      login("fred", SECRET, ["file"]),
      login(`fred\0`),
      login(long),
      login("fred", long),
      map({}),
      map({ eauth: "file" }),
      map({ username: "fred", password: SECRET }),
      map({ eauth: "file", username: "fred" }),
    ];
    for (const load of wrong) {
      const text = await refusal(auth.identify(load));
      assert(
        text.startsWith('EauthAuthenticationError: Authentication failure of type "eauth" occurred for user '),
        text,
      );
      assertEquals(await refusal(auth.makeToken(load)), text);
    }
    for (const token of ["", "x", null, 7, "ab".repeat(32), ["a"]]) {
      // With a token, other credentials are ignored: CVE-2020-25592 looked for a token and continued without it.
      const load = map({ token, eauth: "file", username: "fred", password: SECRET });
      assertEquals(
        await refusal(auth.identify(load)),
        'TokenAuthenticationError: Authentication failure of type "token" occurred.',
      );
    }
  });
});

Deno.test("a text with a NUL names no user, password or system: it would be another name for a library in C than for the rules", async () => {
  const asked: string[] = [];
  const system: EauthModule = {
    authenticate({ username, password }) {
      asked.push(`${username.split("\0")[0]} ${password.split("\0")[0]}`);
      return Promise.resolve({ groups: [] });
    },
  };
  await withAuth({ external_auth: { file: { "*": [".*"] }, "file\0": { "*": [".*"] } } }, async (auth) => {
    for (
      const load of [login("fred\0x"), login("\0"), login("fred", `${SECRET}\0x`), login("fred", SECRET, "file\0")]
    ) {
      for (const attempt of [auth.identify(load), auth.makeToken(load)]) {
        assertMatch(await refusal(attempt), /^EauthAuthenticationError: /);
      }
    }
    assertEquals(asked, []);
    assertEquals((await auth.identify(login("fred"))).user, "fred");
    assertEquals(asked, [`fred ${SECRET}`]);
  }, system);
});

Deno.test("names of 1,024 characters and passwords of 4,096 are accepted, and no longer ones", async () => {
  const asked: number[][] = [];
  const system: EauthModule = {
    authenticate({ username, password }) {
      asked.push([username.length, password.length]);
      return Promise.resolve({ groups: [] });
    },
  };
  await withAuth({ external_auth: { file: { "*": ["test.*"] } } }, async (auth) => {
    const load = (name: number, password: number) => login("n".repeat(name), "p".repeat(password));
    for (const [name, password] of [[1_025, 1], [1, 4_097], [100_000, 1]]) {
      await refusal(auth.identify(load(name, password)));
    }
    assertEquals(asked, []);
    await auth.identify(load(1_024, 4_096));
    assertEquals(asked, [[1_024, 4_096]]);
  }, system);
});

Deno.test("a user who may choose how long a token lives chooses at most ten years", async () => {
  await withAuth({ token_expire_user_override: true }, async (auth) => {
    const load = login("fred").set("token_expire", 1e12);
    const expire = Number((await auth.makeToken(load)).get("expire"));
    const years = (expire - Date.now() / 1000) / (365 * 86_400);
    assertEquals(Math.round(years * 1000) / 1000, 10);
  });
});

Deno.test("a system that external_auth does not name is not asked, though it is built", async () => {
  let asked = 0;
  const system: EauthModule = { authenticate: () => (asked++, Promise.resolve({ groups: [] })) };
  await withAuth({ external_auth: { file: { "*": [".*"] }, rest: null } }, async (auth, { slept }) => {
    await refusal(auth.identify(login("fred", SECRET, "rest")));
    await refusal(auth.makeToken(login("fred", SECRET, "rest")));
    assertEquals([asked, slept], [0, []]);
  }, system);
});

Deno.test("a user of whom only a name that is no text, or a group of another name, is listed has the rules of `*`", async () => {
  const external_auth = { file: map({ fred: "test.*", "fred%": ["@wheel"], "*": ["test.ping"] }) };
  await withAuth({ external_auth }, async (auth) => {
    assertEquals((await auth.identify(login("fred"))).rules, ["test.ping"]);
  });
  // `*` is a name like any other to a user who has it.
  const every: EauthModule = { authenticate: () => Promise.resolve({ groups: [] }) };
  await withAuth({ external_auth: { file: { "*": ["test.ping"] } } }, async (auth) => {
    assertEquals((await auth.identify(login("*"))).rules, ["test.ping"]);
  }, every);
});

Deno.test("an attempt above the limit of those that wait is told so, and its eauth module is not called", async () => {
  assertEquals(MAX_WAITING, 128, "each holds a request of its thread");
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  const slow: EauthModule = { authenticate: () => (calls++, answered.then(() => ({ groups: [] }))) };
  await withAuth({}, async (auth, { logged }) => {
    const all = Array.from({ length: 4 + MAX_WAITING }, () => auth.identify(login("fred")));
    assertMatch(await refusal(auth.identify(login("fred"))), /^PublishError: Too many attempts .* Try again\.$/);
    assertEquals(logged.filter((line) => line.includes("too many attempts wait")).length, 1);
    assertEquals(calls, 4);
    resolve();
    await Promise.all(all);
    assertEquals(calls, 4 + MAX_WAITING);
  }, slow);
});

Deno.test("a failure takes about a second for every reason; few attempts are checked at the same time", async () => {
  await withAuth({}, async (auth, { slept }) => {
    await refusal(auth.identify(login("fred", "wrong")));
    await refusal(auth.identify(login("eve")));
    assertEquals(slept, [1000, 1000]);
  });
  const gate = Promise.withResolvers<undefined>();
  const attempts = new Attempts(testClock());
  let max = 0, now = 0;
  const running = Array.from({ length: 20 }, () =>
    attempts.make(async () => {
      max = Math.max(max, ++now);
      await gate.promise;
      now--;
      return true;
    }, ownConnection()));
  gate.resolve(undefined);
  assertEquals((await Promise.all(running)).length, 20);
  assertEquals(max, 4);
});

Deno.test("a failure that is delayed holds no place, but the next attempt of its connection waits for it", async () => {
  const delay = Promise.withResolvers<void>();
  const attempts = new Attempts({ ...testClock(), sleep: () => delay.promise });
  const released: string[] = [];
  const from = (connection: string) => ({ connection, release: () => void released.push(connection) });
  const wrong: Promise<undefined>[] = [];
  while (wrong.length < 500) {
    for (let i = 0; i < 100; i++) wrong.push(attempts.make(() => Promise.resolve(undefined), from(`c${wrong.length}`)));
    assertEquals(await attempts.make(() => Promise.resolve("right"), from("ann")), "right");
  }
  assertEquals(released.length, 500);
  let again = false;
  const second = attempts.make(() => Promise.resolve(again = true), from("c7"));
  assertEquals(await attempts.make(() => Promise.resolve("right"), from("ann")), "right");
  assertEquals(again, false);
  delay.resolve();
  assertEquals((await Promise.all(wrong)).filter((result) => result !== undefined), []);
  assertEquals([await second, again], [true, true]);
});

Deno.test("a connection with many attempts keeps no other out: it loses its newest, and others have their turn first", async () => {
  const gate = Promise.withResolvers<void>();
  const attempts = new Attempts(testClock());
  const turns: string[] = [];
  const from = (connection: string) =>
    attempts.make(async () => {
      turns.push(connection);
      await gate.promise;
      return connection;
    }, { connection, release: () => {} }).catch((error) => {
      assert(error instanceof TooManyAttemptsError);
      return "too many";
    });
  const full = ["a", "b", "c", "d"].map(from);
  const greedy = Array.from({ length: MAX_WAITING + 10 }, () => from("a"));
  const others = ["e", "f", "g"].map(from);
  gate.resolve();
  assertEquals(await Promise.all(others), ["e", "f", "g"]);
  assertEquals(await Promise.all(full), ["a", "b", "c", "d"]);
  assertEquals((await Promise.all(greedy)).filter((result) => result === "too many").length, 13);
  assert(turns.indexOf("g") <= 8, `${turns.slice(0, 20)}`);
});

Deno.test("4,096 refusals are delayed at a time, and those above are answered at once", async () => {
  const gate = Promise.withResolvers<undefined>(), delay = Promise.withResolvers<void>();
  const attempts = new Attempts({ ...testClock(), sleep: () => delay.promise });
  let refused = 0;
  const make = () =>
    attempts.make(() => gate.promise, ownConnection()).catch((error) => {
      assert(error instanceof TooManyAttemptsError);
      refused++;
    });
  const all = Array.from({ length: 4 + MAX_WAITING + 4_096 }, make);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(refused, 0);
  await make();
  assertEquals(refused, 1);
  delay.resolve();
  gate.resolve(undefined);
  await Promise.all(all);
  assertEquals(refused, 4_097);
});

Deno.test("an eauth module that fails refuses every user, and the reason is logged", async () => {
  const broken: EauthModule = { authenticate: () => Promise.reject(new Error("no route to host")) };
  await withAuth({}, async (auth, { logged, slept }) => {
    await refusal(auth.identify(login("fred")));
    assert(logged.some((line) => line.startsWith("ERROR") && line.includes("no route to host")), logged.join("\n"));
    assertEquals(slept.length, 1);
  }, broken);
});

Deno.test("a token gives its user the current rules and the groups of its creation; without its eauth module it gives nothing", async () => {
  await withAuth({}, async (auth) => {
    const data = await auth.makeToken(login("anna"));
    assertEquals([...data.keys()], ["start", "expire", "name", "eauth", "groups", "token"]);
    const token = map({ token: data.get("token") });
    assertEquals(await auth.identify(token), { user: "anna", rules: ["@jobs", "test.ping"] });
    auth.tokens.remove(data.get("token"));
    assertEquals(
      await refusal(auth.identify(token)),
      'TokenAuthenticationError: Authentication failure of type "token" occurred.',
    );
    const other = auth.tokens.make({ name: "root", eauth: "pam", groups: [] }, 60).data;
    await refusal(auth.identify(map({ token: other.get("token") })));
  });
});

Deno.test("token_expire applies; a user can choose another time only with token_expire_user_override", async () => {
  const lives = async (override: Value, wish: unknown): Promise<number> => {
    let seconds = 0;
    await withAuth({ token_expire: 100, token_expire_user_override: override }, async (auth) => {
      const data = await auth.makeToken(login("fred").set("token_expire", toValue(wish)));
      seconds = Math.round(Number(str(data.get("expire") ?? 0)) - Number(str(data.get("start") ?? 0)));
    });
    return seconds;
  };
  assertEquals(await lives(false, 5000), 100);
  assertEquals(await lives(true, 5000), 5000);
  assertEquals(await lives(true, -1), 100);
  assertEquals(await lives(true, "soon"), 100);
  assertEquals(await lives(map({ file: ["fred"] }), 5000), 5000);
  assertEquals(await lives(map({ file: ["anna"], pam: ["fred"] }), 5000), 100);
});

Deno.test("keep_acl_in_token stores the rules of the eauth module in the token, and rest always does", async () => {
  const system: EauthModule = { ...SYSTEM, rules: () => Promise.resolve(["cmd.run"]) };
  for (const options of [{ keep_acl_in_token: true }, { external_auth: { file: {}, rest: {} } }]) {
    await withAuth(options, async (auth) => {
      assertEquals((await auth.identify(login("fred"))).rules, ["cmd.run"]);
      const data = await auth.makeToken(login("fred"));
      assert(isMap(data));
      assertEquals(data.get("auth_list"), ["cmd.run"]);
      assertEquals((await auth.identify(map({ token: data.get("token") }))).rules, ["cmd.run"]);
    }, system);
  }
});
