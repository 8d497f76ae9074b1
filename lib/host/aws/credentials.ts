/**
 * Keys for Amazon's services: those that are configured, or those of the role of an instance of EC2.
 * Source: docs.aws.amazon.com, "Use IMDS to access instance metadata", "Retrieve security credentials"; AWS SDKs,
 * "IMDS credential provider".
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { CommandError, JsonError } from "#lib/errors.ts";
import { HttpError, httpRequest } from "#lib/host/network/http_request.ts";
import { quoteUrlPart } from "#lib/text/url_parts.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** A key, and of a role a token too. */
export interface AwsCredentials {
  readonly keyId: string;
  readonly key: string;
  readonly token?: string;
}

/** The word that stands for the key of the instance's role. */
const INSTANCE_ROLE = "use-instance-role-credentials";

/** Milliseconds for an answer: where there is no such service, nothing answers. */
const WAIT_MS = 5000;

/** The address of the service that an instance asks about itself. */
function metadataService(): string {
  return rstripChars(Deno.env.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") || "http://169.254.169.254", "/");
}

async function ask(method: string, path: string, headers: ReadonlyMap<string, string>, signal: AbortSignal) {
  const url = `${metadataService()}/latest/${path}`;
  try {
    const { status, body } = await httpRequest({ url, method, headers, verify: true, timeoutMs: WAIT_MS, signal });
    if (status !== 200) throw new CommandError(`The service of instance metadata answers ${status} to ${path}`);
    return new TextDecoder().decode(body);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const text = `No key is configured, and the service of instance metadata does not answer: ${error.message}`;
    throw new CommandError(text, { cause: error });
  }
}

/** Asks about the instance. */
async function metadata(path: string, signal: AbortSignal): Promise<string> {
  const wanted = new Map([["X-aws-ec2-metadata-token-ttl-seconds", "300"]]);
  const token = await ask("PUT", "api/token", wanted, signal);
  return await ask("GET", `meta-data/${path}`, new Map([["X-aws-ec2-metadata-token", token]]), signal);
}

/**
 * The configured key; without one that of the instance's role.
 * @throws {CommandError} If the service of the instance does not answer, or with no key.
 */
export async function awsCredentials(keyId: string, key: string, signal: AbortSignal): Promise<AwsCredentials> {
  const isConfigured = keyId !== "" && key !== "" && keyId !== INSTANCE_ROLE && key !== INSTANCE_ROLE;
  if (isConfigured) return { keyId, key };
  const role = (await metadata("iam/security-credentials/", signal)).trim();
  const given = fieldsOf(await metadata(`iam/security-credentials/${quoteUrlPart(role)}`, signal), role);
  const [id, secret, token] = ["AccessKeyId", "SecretAccessKey", "Token"].map((name) => str(given.get(name) ?? ""));
  if (id !== "" && secret !== "") return { keyId: id, key: secret, token };
  const reason = ["Code", "Message"].map((name) => str(given.get(name) ?? "")).filter((text) => text !== "").join(": ");
  throw new CommandError(
    `The service of instance metadata has no key of role '${role}': ${reason || "no reason given"}`,
  );
}

/** The fields of an answer about a role. It may have keys in it, so that no error shows it. */
function fieldsOf(answer: string, role: string): ValueMap {
  try {
    return mapOrEmpty(parseJson(answer));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(
      `The service of instance metadata has no key of role '${role}': its answer is no JSON: ${error.message}`,
      { cause: error },
    );
  }
}

/** The region of the instance; `undefined`: it is none, or does not say. */
export async function instanceRegion(signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await metadata("placement/region", signal)).trim() || undefined;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return undefined;
  }
}
