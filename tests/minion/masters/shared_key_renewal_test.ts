/** A master's next shared key, of a master that gives it, does not, or answers something else. */

import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { RequestTimeoutError, WireError } from "#lib/errors.ts";
import { SharedKeyRenewal } from "#lib/minion/masters/shared_key_renewal.ts";
import type { SignInCredentials } from "#lib/minion/masters/sign_in.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";

/** A link whose master answers as `answer` says, and whose sign-ins are counted. */
function openLink(answer: () => Promise<Value>, canRekey = true) {
  const { log, lines } = memoryLog();
  const credentials = { sharedKey: "before", sessionKey: "session", canRekey } as unknown as SignInCredentials;
  const anew: SignInCredentials = { ...credentials, sharedKey: "signed in" };
  const closing = new AbortController(), taken: string[] = [];
  const asked = { requests: 0, signIns: 0 };
  const link = {
    address: "tcp://master:4506",
    credentials,
    isSigningIn: false,
    request: () => {
      asked.requests++;
      return answer();
    },
    signIn: () => {
      asked.signIns++;
      return asked.signIns > 1 ? Promise.reject(new WireError("no sign-in")) : Promise.resolve(anew);
    },
  };
  const renewal = new SharedKeyRenewal(link, {
    log,
    closing: closing.signal,
    take: ({ sharedKey }) => void taken.push(sharedKey),
  });
  return { renewal, lines, taken, asked, closing };
}

const OPEN = new AbortController().signal;

Deno.test("a master that gives no key, or none that is one, is signed in to instead", async () => {
  const answers: (() => Promise<Value>)[] = [
    () => Promise.resolve("no map"),
    () => Promise.resolve(map({ aes: 5 })),
    () => Promise.resolve(map({ aes: "no key" })),
    () => Promise.reject(new WireError("bad load")),
    () => Promise.reject(new RequestTimeoutError("tcp://master:4506", 1)),
  ];
  for (const [n, answer] of answers.entries()) {
    const { renewal, taken, asked } = openLink(answer);
    assertEquals((await renewal.renew(OPEN)).sharedKey, "signed in", `answer ${n}`);
    assertEquals([taken, asked], [[], { requests: 1, signIns: 1 }], `answer ${n}`);
  }
});

Deno.test("a fault of the minion, or its end, is no reason to sign in", async () => {
  const broken = openLink(() => Promise.reject(new TypeError("a fault")));
  await assertRejects(() => broken.renewal.renew(OPEN), TypeError, "a fault");
  const ending = new AbortController(), ends = openLink(() => Promise.reject(new WireError("closed")));
  ending.abort(new Error("the minion ends"));
  await assertRejects(() => ends.renewal.renew(ending.signal), Error, "the minion ends");
  assertEquals([broken.asked.signIns, ends.asked.signIns], [0, 0]);
});

Deno.test("a master that does not give keys is asked for none", async () => {
  const { renewal, asked } = openLink(() => Promise.resolve(map({})), false);
  renewal.expectNext(0, OPEN);
  assertEquals((await renewal.renew(OPEN)).sharedKey, "signed in");
  assertEquals(asked, { requests: 0, signIns: 1 });
});

Deno.test("an old session key is replaced within ten minutes; if that fails it stays, and the log says so", async () => {
  using time = new SkippedTime();
  const sharedKey = generateKeyString();
  const { renewal, lines, taken, asked } = openLink(() => Promise.resolve(map({ aes: sharedKey, renew: true })));
  assertEquals((await renewal.renew(OPEN)).sharedKey, sharedKey);
  assertEquals([taken, asked.signIns], [[sharedKey], 0]);
  await time.to(700_000);
  await eventually(() => asked.signIns === 1, { what: "the sign-in" });
  await renewal.renew(OPEN);
  await time.to(1_400_000);
  await eventually(() => lines.some((line) => line === "ERROR The session key stays as it is: no sign-in"), {
    what: "the word",
  });
});
