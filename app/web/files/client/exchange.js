// One exchange with the service: a request, asked again while that makes sense, and its answer or its refusal.

import { FlipsetError, refusalOf, TimedOut, Unreachable } from "./errors.js";

/**
 * @typedef {object} Options
 * @property {string} [key] the key, if the service uses keys
 * @property {number} [timeout] how many seconds the service may be silent; it speaks at least every 10
 * @property {number} [retries] how often to ask again before an answer begins
 * @property {number} [longestWait] how many seconds to wait for that in all
 * @property {string} [language] what sentences and titles are in, such as `de`; a browser asks for its own otherwise
 * @property {typeof globalThis.fetch} [fetch] sends requests in place of the global one
 */

// Without word from the service: half a second, then twice as long each time.
const FIRST_WAIT = 0.5;
// A timer that is set for longer goes off at once.
const LONGEST_TIMER = 2 ** 31 - 1;

/** A request under way. It ends when it is aborted by the caller, closed, or when the service is silent for too long. */
export class Exchange {
  #abort = new AbortController();
  #timeout;
  #follow = () => {};

  /**
   * @param {number} timeout
   * @param {AbortSignal | undefined} signal
   */
  constructor(timeout, signal) {
    this.#timeout = timeout;
    if (!signal) return;
    const abort = () => this.#abort.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    this.#follow = () => signal.removeEventListener("abort", abort);
  }

  get signal() {
    return this.#abort.signal;
  }

  /**
   * Wait for the service, but not for longer than the timeout.
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   */
  async within(work) {
    const longest = Math.min(this.#timeout * 1000, LONGEST_TIMER);
    const timer = setTimeout(() => this.#abort.abort(new TimedOut()), longest);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What made the exchange end before its time, or else the error itself. @param {unknown} error */
  reason(error) {
    return this.signal.aborted ? this.signal.reason : error;
  }

  close() {
    this.#follow();
    this.#abort.abort();
  }
}

/**
 * The response, once the service has taken the request on. Nothing is asked again after that.
 * @param {Required<Options>} options
 * @param {Exchange} exchange
 * @param {string} address
 * @param {RequestInit} request
 */
export async function respond(options, exchange, address, request) {
  let waited = 0;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await attempted(options, exchange, address, request);
    if (outcome instanceof Response) return outcome;
    const seconds = outcome.retryAfter ?? FIRST_WAIT * 2 ** attempt;
    if (!outcome.isPassing || attempt >= options.retries || waited + seconds > options.longestWait) throw outcome;
    await pause(seconds, exchange.signal);
    waited += seconds;
  }
}

/**
 * @param {Required<Options>} options
 * @param {Exchange} exchange
 * @param {string} address
 * @param {RequestInit} request
 * @returns {Promise<Response | FlipsetError>}
 */
async function attempted({ fetch }, exchange, address, request) {
  try {
    const response = await exchange.within(fetch(address, { ...request, signal: exchange.signal }));
    return response.ok ? response : await exchange.within(refusalOf(response));
  } catch (error) {
    const reason = exchange.reason(error);
    if (exchange.signal.aborted) throw reason;
    return new Unreachable({ cause: error });
  }
}

/**
 * @param {number} seconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.min(seconds * 1000, LONGEST_TIMER));
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
