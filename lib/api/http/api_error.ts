/**
 * An answer that is an error, with its status.
 * @module
 */

/** A request that is answered with an error. Its message is a sentence for the client. */
export class ApiError extends Error {
  override name = "ApiError";
  /** 400 to 599. */
  readonly status: number;
  /** Headers that the answer must have: `Allow`, `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where a page that shows it leads back to; `undefined`: nowhere. */
  readonly back: string | undefined;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, back?: string) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.back = back;
  }
}

/** The answer without a master. */
export function noMaster(): ApiError {
  return new ApiError(503, "Salt Master is not available.");
}
