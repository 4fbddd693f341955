// Everything that can go wrong, as one small tree. No message quotes a value of an instance.
//
// FlipsetError
// ├── Refused             the service said no before the answer began; `problem` says why
// │   ├── InvalidRequest  the request must change; `fields` says what and how
// │   ├── NotAllowed      there is no key, or it does not allow this
// │   ├── NotFound        there is no such model, registry, record or path
// │   ├── Erased          what the record held of a person was erased
// │   ├── Busy            the service is full or stopping, or you ask too often; `retryAfter` says when to come back
// │   └── Unexpected      anything else, such as a defect of the service or the page of a proxy
// ├── AnswerFailed        the answer broke down after it had begun; `problem` says why
// ├── CutStream           the answer ended without its last line
// ├── TimedOut            the service was silent for longer than `timeout`
// ├── Unreachable         there is no connection to the service
// └── StillSearching      you asked for the summary before the last plan

/** @typedef {import("./schema.d.ts").Problem} Problem */
/** @typedef {import("./schema.d.ts").ProblemField} ProblemField */

export class FlipsetError extends Error {
  /** @type {Problem | null} */
  problem = null;
  // Of the response; 0 if there was none.
  status = 0;
  // Whether the same request may succeed a little later.
  isPassing = false;
  /** @type {number | null} How many seconds the service asks to wait. */
  retryAfter = null;

  get name() {
    return this.constructor.name;
  }

  /** @returns {string} the kind of problem, such as `unknown-model`; empty if the service gave no reason */
  get kind() {
    return this.problem?.type.split(":").at(-1) ?? "";
  }

  /** @returns {ProblemField[]} the fields that were refused, and how to fix each */
  get fields() {
    return this.problem?.errors ?? [];
  }
}

export class Refused extends FlipsetError {
  /**
   * @param {number} status
   * @param {Problem | null} [problem]
   * @param {number | null} [retryAfter]
   */
  constructor(status, problem = null, retryAfter = null) {
    super(problem?.detail ?? problem?.title ?? untold(status));
    this.status = status;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

export class InvalidRequest extends Refused {}

export class NotAllowed extends Refused {}

export class NotFound extends Refused {}

export class Erased extends Refused {}

export class Busy extends Refused {
  isPassing = true;
}

export class Unexpected extends Refused {}

export class AnswerFailed extends FlipsetError {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export class CutStream extends FlipsetError {
  /** @param {ErrorOptions} [options] */
  constructor(options) {
    super("The answer was cut off. It has no last line.", options);
  }
}

export class TimedOut extends FlipsetError {
  constructor() {
    super("The service was silent for longer than the client's timeout.");
  }
}

export class Unreachable extends FlipsetError {
  isPassing = true;

  /** @param {ErrorOptions} [options] */
  constructor(options) {
    super("The service cannot be reached. Is it running, and are you connected to it?", options);
  }
}

export class StillSearching extends FlipsetError {
  constructor() {
    super("The summary comes after the last plan: read all plans first.");
  }
}

/** @param {number} status */
function untold(status) {
  if (status < 300) return "The service sent something that this client cannot read.";
  return `The service answered with ${status}, and said nothing more.`;
}

/** @type {Record<number, typeof Refused>} */
const BY_STATUS = { 401: NotAllowed, 403: NotAllowed, 404: NotFound, 410: Erased, 429: Busy, 503: Busy };

/**
 * The error that fits a response.
 * @param {Response} response
 * @returns {Promise<Refused>}
 */
export async function refusalOf(response) {
  const usual = response.status >= 400 && response.status < 500 ? InvalidRequest : Unexpected;
  const problem = await response.json().catch(() => null);
  return new (BY_STATUS[response.status] ?? usual)(
    response.status,
    typeof problem?.type === "string" ? problem : null,
    secondsOf(response.headers.get("Retry-After")),
  );
}

/**
 * The seconds that the header asks to wait: it holds a number, or a date.
 * @param {string | null} header
 */
export function secondsOf(header) {
  if (!header) return null;
  const seconds = Number.isNaN(Number(header)) ? (Date.parse(header) - Date.now()) / 1000 : Number(header);
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
