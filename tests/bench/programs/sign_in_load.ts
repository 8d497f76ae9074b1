/**
 * Simulates minions that all sign in at once. The requests are made before and the replies are decrypted after the
 * measured time, so that it is the master's time.
 *
 * Arguments: the master's host and `ret_port`, its `pki_dir`, how many. Writes `{"signIns": …, "seconds": …}`.
 * @module
 */

import { KeyStore } from "#lib/keys/store.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel, tcpAddress } from "#lib/sockets/request_channel.ts";
import { SignIn } from "#lib/minion/masters/sign_in.ts";
import { map } from "#lib/values/value.ts";
import { keyPool } from "#tests/bench/fleets/key_pool.ts";
import { applicantOf } from "#tests/support/fleet/applicant.ts";

const TIMEOUTS = { timeoutMs: 120_000, tries: 1 };

if (import.meta.main) {
  const [host, port, masterPki, count] = Deno.args;
  const pkiDir = Deno.makeTempDirSync({ prefix: "sign_in_" });
  const keys = await keyPool(16, 2048);
  const store = new KeyStore(masterPki);
  const applicants = Array.from({ length: Number(count) }, (_, i) => {
    const applicant = applicantOf(`signer-${i}`, keys[i % keys.length], pkiDir);
    store.put(applicant.id, "accepted", applicant.key.publicKey.pem);
    return applicant;
  });
  const channels = applicants.map(() => new RequestChannel(tcpAddress(host, Number(port))));
  await Promise.all(channels.map((channel) => channel.request(clearRequest(map({ cmd: "ping" })), TIMEOUTS)));
  // The first sign-in stores the master's key, so that the others send a token, as returning minions do.
  const first = new SignIn(applicants[0]);
  first.accept(await channels[0].request(first.request(), TIMEOUTS));

  const attempts = applicants.map((applicant) => new SignIn(applicant));
  const requests = attempts.map((attempt) => attempt.request());
  const started = performance.now();
  const replies = await Promise.all(channels.map((channel, i) => channel.request(requests[i], TIMEOUTS)));
  const seconds = (performance.now() - started) / 1000;

  const accepted = attempts.filter((attempt, i) => attempt.accept(replies[i]).kind === "accepted").length;
  for (const channel of channels) channel.close();
  Deno.removeSync(pkiDir, { recursive: true });
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ signIns: accepted, seconds })));
  Deno.exit(0);
}
