/**
 * Requests to S3: Amazon's, or another service with its interface.
 * Source: docs.aws.amazon.com, "Amazon S3 API Reference"; Salt 3006.28 `salt/utils/s3.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { HttpError, httpRequest, type HttpResponse } from "#lib/host/network/http_request.ts";
import { xmlValue } from "#lib/host/network/xml_value.ts";
import { quoteUrlPart } from "#lib/text/url_parts.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { str } from "#lib/values/value.ts";
import type { AwsCredentials } from "./credentials.ts";
import { sha256Hex, signedHeaders } from "./signature.ts";

/** Milliseconds for a request. */
const WAIT_MS = 300_000;

/** Where the service is, and as whom it is asked. */
export interface S3Place {
  readonly credentials: AwsCredentials;
  /** The host of the service, with its port if it has one. */
  readonly serviceUrl: string;
  readonly region: string;
  readonly verify: boolean;
  /** Whether the bucket is a step of the path, in place of a part of the host. */
  readonly pathStyle: boolean;
  readonly https: boolean;
}

/** What is asked about a bucket, or about what is in it. */
export interface S3Request {
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
  /** Empty: about all buckets. */
  readonly bucket: string;
  readonly path: string;
  readonly headers?: ReadonlyMap<string, string>;
  readonly body?: Uint8Array;
  readonly now?: Date;
}

/** The host of a request: the bucket is a part of it, unless it is in the path. */
function hostOf({ serviceUrl, pathStyle }: S3Place, bucket: string): string {
  if (!/^[\w.-]+(:\d+)?$/.test(serviceUrl)) throw new InvocationError(`Invalid service_url: ${serviceUrl}`);
  if (bucket === "" || pathStyle) return serviceUrl;
  if (!/^[\w.-]+$/.test(bucket)) throw new InvocationError(`Invalid bucket: ${bucket}`);
  return `${bucket}.${serviceUrl}`;
}

/**
 * The path of a request, quoted.
 * @throws {InvocationError} If a step of it leads to another path.
 */
function pathOf({ pathStyle }: S3Place, { bucket, path }: S3Request): string {
  const steps = (pathStyle && bucket !== "" ? `${bucket}/${path}` : path).split("/");
  if (steps.some((step) => step === "." || step === "..")) throw new InvocationError(`Invalid path: ${path}`);
  return `/${steps.map(quoteUrlPart).join("/")}`;
}

/**
 * Asks the service.
 * @throws {CommandError} If it does not answer.
 */
export async function askS3(place: S3Place, request: S3Request, signal: AbortSignal): Promise<HttpResponse> {
  const { method, bucket, headers = new Map(), body = new Uint8Array(), now = new Date() } = request;
  const [host, path] = [hostOf(place, bucket), pathOf(place, request)];
  const { region, credentials, verify, https } = place;
  const payloadHash = await sha256Hex(joinBytes([body]));
  const toSign = { method, host, path, headers, payloadHash, region, service: "s3" };
  const signed = await signedHeaders(toSign, credentials, now);
  const sent = method === "PUT" ? { body, headers: new Map([...signed, ["Content-Length", String(body.length)]]) } : {
    headers: signed,
  };
  try {
    const url = `${https ? "https" : "http"}://${host}${path}`;
    return await httpRequest({ url, method, ...sent, verify, timeoutMs: WAIT_MS, signal });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new CommandError(`${host} does not answer: ${error.message}`, { cause: error });
  }
}

/** The reason of a refusal: the service's code and words. */
export function s3Refusal({ status, body }: HttpResponse): string {
  const text = new TextDecoder().decode(body);
  try {
    const fields = new Map(xmlValue(text).flatMap((item) => [...mapOrEmpty(item)]));
    const [code, message] = [fields.get("Code"), fields.get("Message")];
    if (code !== undefined && message !== undefined) return `${str(code)}: ${str(message)}`;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return `http-${status}: ${text || "Unknown error"}`;
}
