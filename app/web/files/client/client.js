// The client. `fetch` does the work, in a browser and in node alike.

import { Answer } from "./answer.js";
import { Unexpected } from "./errors.js";
import { Exchange, respond } from "./exchange.js";

/** @typedef {import("./schema.d.ts").CounterfactualsRequest} CounterfactualsRequest */
/** @typedef {import("./schema.d.ts").ConstraintsEntry} ConstraintsEntry */
/** @typedef {import("./schema.d.ts").LimitsBody} LimitsBody */
/** @typedef {import("./exchange.js").Options} Options */
/** @typedef {CounterfactualsRequest["instance"]} Instance */
/** @typedef {Partial<Omit<CounterfactualsRequest, "instance">> & ConstraintsEntry & LimitsBody} Question */
/** @typedef {import("./schema.d.ts").Example} Example */
/** @typedef {Pick<Question, "context" | "target">} Terms */
/** @typedef {{ signal?: AbortSignal | undefined }} Calling */

// These may be given by themselves, as well as inside of `constraints` and `limits`.
const INSIDE = {
  constraints: [
    ...["immutable", "directions", "max_step", "causal", "correlated", "exclusive", "required", "max_changes"],
    "formulas",
    "relations",
  ],
  limits: ["engine", "max_counterfactuals", "deadline_ms", "max_model_rows"],
};

/**
 * Asks a Flipset service. Every method may reject with `Refused` (and its kinds `InvalidRequest`, `NotAllowed`,
 * `NotFound`, `Erased`, `Busy`, `Unexpected`), `TimedOut` or `Unreachable`; with the signal's reason if you abort it.
 */
export class Client {
  #url;
  #options;

  /**
   * @param {string | URL} url where the service is, such as `http://127.0.0.1:8000`
   * @param {Options} [options]
   */
  constructor(url, options = {}) {
    this.#url = String(url).replace(/\/*$/, "/");
    if (!/^https?:$/.test(new URL(this.#url, globalThis.location?.href).protocol))
      throw new TypeError("the address of the service begins with http:// or https://");
    // Called as a function of its own: a browser's fetch is nobody's method.
    const fetch = options.fetch ?? ((...given) => globalThis.fetch(...given));
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    this.#options = { key: "", timeout: 60, retries: 3, longestWait: 30, language: "", ...given, fetch };
    // What refuses such a header later would quote it.
    if (!/^[!-~]*$/.test(this.#options.key))
      throw new TypeError("the key holds a character that no key has, such as a line end");
  }

  /** The models that you may use. */
  async models(/** @type {Calling} */ calling = {}) {
    /** @type {import("./schema.d.ts").ModelList} */
    const { models } = await this.#call("v1/models", undefined, calling);
    return models;
  }

  /**
   * One model: features, units, ranges, classes, versions.
   * @param {string} name
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").ModelDetails>}
   */
  model(name, calling) {
    return this.#call(path("v1/models", name), undefined, calling);
  }

  /**
   * Example requests that come with a model.
   * @param {string} model
   * @param {Calling} [calling]
   */
  async examples(model, calling) {
    /** @type {import("./schema.d.ts").ExampleList} */
    const { examples } = await this.#call(path("v1/models", model, "examples"), undefined, calling);
    return examples;
  }

  /**
   * One registry of normal ranges.
   * @param {string} registry
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").RegistryDetails>}
   */
  normalRanges(registry, calling) {
    return this.#call(path("v1/normal-ranges", registry), undefined, calling);
  }

  /**
   * What the model says of one instance.
   * @param {string} model
   * @param {Instance} instance
   * @param {Terms} [terms]
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").SinglePrediction>}
   */
  prediction(model, instance, terms, calling) {
    return this.#call(path("v1/models", model, "predictions"), { instance, ...terms }, calling);
  }

  /**
   * What the model says of several instances, in their order.
   * @param {string} model
   * @param {Instance[]} instances
   * @param {Terms} [terms]
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").SeveralPredictions>}
   */
  predictions(model, instances, terms, calling) {
    return this.#call(path("v1/models", model, "predictions"), { instances, ...terms }, calling);
  }

  /**
   * All subsets of at most 10 movable features, with the model's score of each.
   * @param {string} model
   * @param {Instance | Example} instance
   * @param {Question} [question]
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").Subsets>}
   */
  subsets(model, instance, question = {}, calling = {}) {
    return this.#call(path("v1/models", model, "subsets"), bodyOf(instance, question), calling);
  }

  /**
   * What the decision rests on: at most four reasons. Constraints are set aside.
   * @param {string} model
   * @param {Instance | Example} instance
   * @param {Question} [question]
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").Reasons>}
   */
  reasons(model, instance, question = {}, calling = {}) {
    return this.#call(path("v1/models", model, "reasons"), bodyOf(instance, question), calling);
  }

  /**
   * One record, by the id in `start.record`. It is there a moment after the last line of its answer.
   * @param {string} record
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").RecordDetails>}
   */
  record(record, calling) {
    return this.#call(path("v1/records", record), undefined, calling);
  }

  /**
   * The records of a subject, the oldest first, 100 at a time: `after` is the one of the last list.
   * @param {string} subject
   * @param {{ after?: number | null }} [place]
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").RecordList>}
   */
  records(subject, { after } = {}, calling = {}) {
    const query = new URLSearchParams({ subject, ...(after != null && { after: String(after) }) });
    return this.#call(`v1/records?${query}`, undefined, calling);
  }

  /**
   * A signed receipt of one record. Write `JSON.stringify` of it to a file, and `flipset verify` checks it.
   * @param {string} record
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").Receipt>}
   */
  receipt(record, calling) {
    return this.#call(path("v1/records", record, "receipt"), undefined, calling);
  }

  /**
   * Ask a recorded question again, and compare the answers. `Erased` if the question is no longer known.
   * @param {string} record
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").ReplayResult>}
   */
  replay(record, calling) {
    return this.#call(path("v1/records", record, "replay"), undefined, calling, "POST");
  }

  /**
   * Say what became of a plan: accepted, declined (with a reason), tried, achieved or failed.
   * @param {string} record
   * @param {import("./schema.d.ts").FeedbackBody} feedback
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").FeedbackKept>}
   */
  feedback(record, feedback, calling) {
    return this.#call(path("v1/records", record, "feedback"), feedback, calling);
  }

  /**
   * Erase what is personal in all records of a subject.
   * @param {string} subject
   * @param {Calling} [calling]
   * @returns {Promise<import("./schema.d.ts").Erasure>}
   */
  erase(subject, calling) {
    return this.#call(path("v1/subjects", subject), undefined, calling, "DELETE");
  }

  /**
   * Ask for every minimal set of changes that turns the decision about `instance`, or about the one of an example.
   * Constraints and limits are keys of their own, or of `constraints` and `limits`. `record: { subject }` keeps a record,
   * with the id `start.record`.
   * @param {string} model
   * @param {Instance | Example} instance
   * @param {Question} [question]
   * @param {Calling} [calling]
   */
  async counterfactuals(model, instance, question = {}, { signal } = {}) {
    const exchange = new Exchange(this.#options.timeout, signal);
    const where = path("v1/models", model, "counterfactuals");
    return Answer.open(await this.#respond(exchange, where, bodyOf(instance, question), "application/x-ndjson"), exchange);
  }

  /**
   * @param {string} where
   * @param {object | undefined} body
   * @param {Calling} [calling]
   * @param {string} [method]
   */
  async #call(where, body, { signal } = {}, method = body ? "POST" : "GET") {
    const exchange = new Exchange(this.#options.timeout, signal);
    const response = await this.#respond(exchange, where, body, "application/json", method);
    try {
      return await exchange.within(response.json());
    } catch (error) {
      throw error instanceof SyntaxError ? new Unexpected(response.status) : exchange.reason(error);
    } finally {
      exchange.close();
    }
  }

  /**
   * @param {Exchange} exchange
   * @param {string} where
   * @param {object | undefined} body
   * @param {string} accept
   * @param {string} [method]
   */
  async #respond(exchange, where, body, accept, method = "POST") {
    const { key, language } = this.#options;
    const headers = {
      Accept: accept,
      ...(body && { "Content-Type": "application/json" }),
      ...(language && { "Accept-Language": language }),
      ...(key && { Authorization: `Bearer ${key}` }),
    };
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    try {
      // A redirect would carry the body, with the person's values, to wherever it points.
      return await respond(this.#options, exchange, this.#url + where, { ...request, cache: "no-store", redirect: "manual" });
    } catch (error) {
      exchange.close();
      throw error;
    }
  }
}

/**
 * @param {Instance | Example} instance
 * @param {Question} question
 */
function bodyOf(instance, question) {
  // No value of an instance is an object.
  const isExample = typeof instance["request"] === "object" && instance["request"] !== null;
  /** @type {Record<string, unknown>} */
  const body = { .../** @type {object} */ (isExample ? instance["request"] : { instance }), ...question };
  for (const [group, names] of Object.entries(INSIDE)) {
    const alone = Object.entries(body).filter(([name, value]) => names.includes(name) && value !== undefined);
    if (alone.length) body[group] = { .../** @type {object} */ (body[group]), ...Object.fromEntries(alone) };
    for (const name of names) delete body[name];
  }
  return body;
}

/** @param {string[]} parts */
function path(first = "", ...parts) {
  return [first, ...parts.map(encodeURIComponent)].join("/");
}
