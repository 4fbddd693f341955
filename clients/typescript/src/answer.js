// An answer on its way: plans as they are found. To close it, or to leave its loop, cancels the search.

import { AnswerFailed, CutStream, FlipsetError, StillSearching, Unexpected } from "./errors.js";

/** @typedef {import("./schema.d.ts").Counterfactual} Counterfactual */
/** @typedef {import("./schema.d.ts").Start} Start */
/** @typedef {import("./schema.d.ts").Progress} Progress */
/** @typedef {import("./schema.d.ts").Summary} Summary */
/** @typedef {Start | Counterfactual | Progress | Summary} Line */
/** @typedef {import("./exchange.js").Exchange} Exchange */

const KNOWN = ["start", "counterfactual", "progress", "summary"];

/**
 * Plans as they are found. Iterating may throw `AnswerFailed`, `CutStream` or `TimedOut`; the plans that came before are
 * right. Use `for await`, or `lines` to see the progress too.
 */
export class Answer {
  /** @type {Start} */
  start;
  /** @type {Progress | null} How far the search was when it last said so. */
  progress = null;
  /** Names this request in the log of the service. */
  requestId;
  /** @type {Summary | null} */
  #summary = null;
  #incoming;
  #exchange;
  #isClosed = false;
  #isBegun = false;
  /** @type {Promise<{ start: Start, plans: Counterfactual[], summary: Summary }> | undefined} */
  #whole;

  /**
   * @param {Start} start
   * @param {Incoming} incoming
   * @param {Exchange} exchange
   * @param {string} requestId
   */
  constructor(start, incoming, exchange, requestId) {
    this.start = start;
    this.requestId = requestId;
    this.#incoming = incoming;
    this.#exchange = exchange;
  }

  /**
   * Read the first line of a response.
   * @param {Response} response
   * @param {Exchange} exchange
   */
  static async open(response, exchange) {
    try {
      // A proxy may answer in place of the service, such as with a page to log in.
      if (!response.headers.get("Content-Type")?.startsWith("application/x-ndjson")) throw new Unexpected(response.status);
      const incoming = new Incoming(response, exchange);
      const start = await incoming.next();
      if (start?.type !== "start") throw new Unexpected(response.status);
      return new Answer(start, incoming, exchange, response.headers.get("X-Request-ID") ?? "");
    } catch (error) {
      exchange.close();
      throw error;
    }
  }

  /** What was found, and whether that is all; throws `StillSearching` until the last plan has been read. */
  get summary() {
    if (!this.#summary) throw new StillSearching();
    return this.#summary;
  }

  /** @returns {AsyncGenerator<Counterfactual, void, undefined>} */
  async *[Symbol.asyncIterator]() {
    for await (const line of this.#rest()) if (line.type === "counterfactual") yield line;
  }

  /**
   * Every line as it comes: start, plans, progress and summary.
   * @returns {AsyncGenerator<Line, void, undefined>}
   */
  async *lines() {
    yield this.start;
    yield* this.#rest();
  }

  /** Read all plans, and keep them. */
  read() {
    return (this.#whole ??= this.#readAll());
  }

  async #readAll() {
    if (this.#isBegun)
      throw new Error("some plans have been taken already: keep them yourself, or read the answer as a whole");
    const plans = [];
    for await (const plan of this) plans.push(plan);
    return { start: this.start, plans, summary: this.summary };
  }

  /** Stop reading. If the search is under way, the service ends it. */
  close() {
    this.#isClosed = true;
    this.#exchange.close();
  }

  /** @returns {AsyncGenerator<Line, void, undefined>} */
  async *#rest() {
    try {
      while (!this.#isClosed) {
        const line = await this.#incoming.next();
        if (!line) return;
        if (line.type === "counterfactual") this.#isBegun = true;
        if (line.type === "progress") this.progress = line;
        if (line.type === "summary") this.#summary = line;
        yield line;
      }
    } catch (error) {
      if (!this.#isClosed) throw error;
    } finally {
      this.close();
    }
  }
}

/** What has come of an answer so far: bytes in, lines out. */
class Incoming {
  #exchange;
  #reader;
  #rest = "";
  /** @type {string[]} The lines that have arrived, the next one last. */
  #lines = [];
  #hasEnded = false;
  #isWhole = false;

  /**
   * @param {Response} response
   * @param {Exchange} exchange
   */
  constructor(response, exchange) {
    if (!response.body) throw new Unexpected(response.status);
    this.#exchange = exchange;
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * The next line that this version knows; null after the last.
   * @returns {Promise<Line | null>}
   */
  async next() {
    for (;;) {
      while (!this.#lines.length && !this.#hasEnded) await this.#receive();
      const text = this.#lines.pop();
      if (text === undefined) break;
      const line = this.#parsed(text);
      if (line.type === "error") throw new AnswerFailed(line.problem);
      if (line.type === "summary") this.#isWhole = true;
      if (KNOWN.includes(line.type)) return line;
    }
    if (!this.#isWhole) throw new CutStream();
    return null;
  }

  async #receive() {
    try {
      const { value, done } = await this.#exchange.within(this.#reader.read());
      this.#hasEnded = done;
      const lines = (this.#rest + (done ? "\n" : value)).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#lines = lines.filter((line) => line.trim()).reverse();
    } catch (error) {
      this.#hasEnded = true;
      // After the last line that is no loss.
      if (!this.#isWhole) throw this.#failed(error);
    }
  }

  /** @param {unknown} error */
  #failed(error) {
    const reason = this.#exchange.reason(error);
    return this.#exchange.signal.aborted || reason instanceof FlipsetError ? reason : new CutStream({ cause: error });
  }

  /** @param {string} text */
  #parsed(text) {
    try {
      const line = JSON.parse(text);
      if (typeof line?.type !== "string") throw new TypeError("it has no type");
      return line;
    } catch (error) {
      // The last piece of a stream that was cut is half a line.
      throw this.#hasEnded && !this.#lines.length ? new CutStream({ cause: error }) : new Unexpected(200);
    }
  }
}
