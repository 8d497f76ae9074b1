/**
 * libpam: authenticates a user, and asks whether the account may be used (locked, expired, wrong time), which Salt
 * forgot once (CVE-2022-22967). Blocks, and calls back into this isolate: use it in a separate process
 * (auth_process.ts). Source: Linux-PAM's manual, pam_start(3), pam_conv(3), pam_authenticate(3), pam_acct_mgmt(3).
 * @module
 */

import { cString } from "#lib/libc/c_string.ts";
import type { EauthCredentials } from "./eauth_module.ts";

/** The user who signs in, and the PAM service. */
export interface PamQuestion {
  /** The service: a file in `/etc/pam.d`. */
  readonly service: string;
  /** Another directory of such files. */
  readonly confdir?: string;
  readonly credentials: EauthCredentials;
}

const SYMBOLS = {
  pam_start: { parameters: ["buffer", "buffer", "buffer", "buffer"], result: "i32" },
  pam_authenticate: { parameters: ["pointer", "i32"], result: "i32" },
  pam_acct_mgmt: { parameters: ["pointer", "i32"], result: "i32" },
  pam_end: { parameters: ["pointer", "i32"], result: "i32" },
  pam_strerror: { parameters: ["pointer", "i32"], result: "pointer" },
} as const;

/** Since Linux-PAM 1.4. */
const CONFDIR_SYMBOLS = {
  pam_start_confdir: { parameters: ["buffer", "buffer", "buffer", "buffer", "buffer"], result: "i32" },
} as const;

const LIBC_SYMBOLS = {
  calloc: { parameters: ["usize", "usize"], result: "pointer" },
  strdup: { parameters: ["buffer"], result: "pointer" },
} as const;

const CONVERSATION = { parameters: ["i32", "pointer", "pointer", "pointer"], result: "i32" } as const;

const PAM_SUCCESS = 0;
const PAM_BUF_ERR = 5;
const PAM_CONV_ERR = 19;
const PAM_PROMPT_ECHO_OFF = 1;
const PAM_PROMPT_ECHO_ON = 2;
/** An empty password is refused, also for an account without a password. */
const PAM_DISALLOW_NULL_AUTHTOK = 1;
/** Maximum number of messages of one conversation: PAM_MAX_NUM_MSG. */
const MAX_MESSAGES = 32;
/** `struct pam_response` on 64 bits: a pointer, an int, and room. */
const RESPONSE_BYTES = 16;

/**
 * Asks PAM.
 * @returns Whether the user is known and may sign in; PAM's message if not.
 * @throws If there is no libpam.
 */
export function authenticateByPam(
  { service, confdir, credentials }: PamQuestion,
): { known: boolean; problem?: string } {
  // The libraries stay open: the process ends soon.
  const pam = Deno.dlopen("libpam.so.0", SYMBOLS);
  const libc = Deno.dlopen("libc.so.6", LIBC_SYMBOLS);
  using conversation = closing(
    new Deno.UnsafeCallback(CONVERSATION, (count, messages, response) => converse(count, messages, response)),
  );

  function converse(count: number, messages: Deno.PointerValue, response: Deno.PointerValue): number {
    if (count < 1 || count > MAX_MESSAGES || messages === null || response === null) return PAM_CONV_ERR;
    const answers = libc.symbols.calloc(BigInt(count), BigInt(RESPONSE_BYTES));
    if (answers === null) return PAM_BUF_ERR;
    const pointers = new Deno.UnsafePointerView(messages);
    const written = new DataView(Deno.UnsafePointerView.getArrayBuffer(answers, count * RESPONSE_BYTES));
    for (let i = 0; i < count; i++) {
      const message = pointers.getPointer(i * 8);
      const style = message === null ? 0 : new Deno.UnsafePointerView(message).getInt32();
      // PAM's texts (errors, information) need no answer.
      const text = style === PAM_PROMPT_ECHO_OFF
        ? credentials.password
        : style === PAM_PROMPT_ECHO_ON
        ? credentials.username
        : undefined;
      if (text === undefined) continue;
      written.setBigUint64(i * RESPONSE_BYTES, Deno.UnsafePointer.value(libc.symbols.strdup(cString(text))), true);
    }
    new DataView(Deno.UnsafePointerView.getArrayBuffer(response, 8)).setBigUint64(
      0,
      Deno.UnsafePointer.value(answers),
      true,
    );
    return PAM_SUCCESS;
  }

  const handle = new BigUint64Array(1);
  const conv = new BigUint64Array([Deno.UnsafePointer.value(conversation.callback.pointer), 0n]);
  const start = [cString(service), cString(credentials.username), conv] as const;
  let status: number;
  if (confdir === undefined) {
    status = pam.symbols.pam_start(...start, handle);
  } else {
    const withConfdir = Deno.dlopen("libpam.so.0", CONFDIR_SYMBOLS);
    status = withConfdir.symbols.pam_start_confdir(...start, cString(confdir), handle);
  }
  if (status !== PAM_SUCCESS) return { known: false, problem: `PAM cannot be started for ${service} (${status})` };
  const session = Deno.UnsafePointer.create(handle[0]);
  let step = "pam_authenticate";
  status = pam.symbols.pam_authenticate(session, PAM_DISALLOW_NULL_AUTHTOK);
  if (status === PAM_SUCCESS) {
    step = "pam_acct_mgmt";
    status = pam.symbols.pam_acct_mgmt(session, PAM_DISALLOW_NULL_AUTHTOK);
  }
  const detail = status === PAM_SUCCESS ? null : pam.symbols.pam_strerror(session, status);
  const problem = detail === null ? undefined : `${step}: ${new Deno.UnsafePointerView(detail).getCString()}`;
  pam.symbols.pam_end(session, status);
  return problem === undefined ? { known: status === PAM_SUCCESS } : { known: false, problem };
}

/** A callback that is closed at the end of the block. */
function closing<C extends { close(): void }>(callback: C): Disposable & { readonly callback: C } {
  return { callback, [Symbol.dispose]: () => callback.close() };
}
