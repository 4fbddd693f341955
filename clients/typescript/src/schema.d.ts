// What the service takes and sends, from its /openapi.json. `make clients` writes this file.

/** An effect that moves along with the cause: by as much, or by a multiple of it. */
export interface AmountEntry {
  feature: string;
  /** same: by as much as the cause moves; a number: by so many times as much */
  change: "same" | number;
  /** in a file: it may move although it is immutable */
  even_if_immutable?: boolean;
}

/** What became of a plan. */
export type Became = "accepted" | "declined" | "tried" | "achieved" | "failed";

/** What a person may plausibly have: beyond it the page asks, and an answer warns or is refused. */
export interface BoundsEntry {
  low?: number | null;
  high?: number | null;
  outside?: "warn" | "refuse";
}

/** A measurement within three standard deviations that breaks a plan. */
export interface BreakingMeasurement {
  /** the noisy features; all others are as the plan has them */
  measured: Record<string, number>;
  prediction: Judgement;
}

/** If the cause changes, every effect is normal afterwards, or moves along with it. */
export interface CausalEntry {
  cause: string;
  effects: Array<string | {
    feature: string;
    /** same: by as much as the cause moves; a number: by so many times as much */
    change: "same" | number;
    /** in a file: it may move although it is immutable */
    even_if_immutable?: boolean;
  }>;
}

/** One feature moved to its target. */
export interface Change {
  feature: string;
  title: string | null;
  /** null if the value is missing */
  from: number | string | null;
  to: number | string | null;
  unit: string | null;
  /** null for a category, and for a missing value */
  direction: Direction | null;
  /** which of the feature's steps; absent if it has one target */
  step?: number | null;
  /** how many steps there are; absent if it has one target */
  steps?: number | null;
  /** with `least`: where the decision turns if the other changes stay; null for a category, a missing value, or if there was no time */
  enough?: number | null;
  /** with `least`: how often the decision was seen to turn on the way to the target */
  turns?: number | null;
}

/** A value that follows from the changes: of a derived feature, or of one that moves along with its causes. */
export interface Consequence {
  feature: string;
  title: string | null;
  /** null if the value is missing */
  from: number | string | null;
  to: number | string | null;
  unit: string | null;
  /** what it follows from directly, as far as that has moved */
  because_of: Array<string>;
}

/** What cannot or may not change, and what goes together. */
export interface ConstraintsEntry {
  /** features that never change */
  immutable?: Array<string>;
  /** the only direction in which a feature may move */
  directions?: Record<string, "increase" | "decrease">;
  /** how far a feature may move, in its unit */
  max_step?: Record<string, number>;
  /** if the cause changes, its effects are normal afterwards, or move along with it */
  causal?: Array<CausalEntry>;
  /** features of which the abnormal ones change all together or not at all */
  correlated?: Array<Array<string>>;
  /** features of which at most one changes */
  exclusive?: Array<Array<string>>;
  /** features that must be normal afterwards */
  required?: Array<string>;
  /** most features that may change */
  max_changes?: number | null;
  /** Boolean expressions, such as: ALT xor AST */
  formulas?: Array<string>;
  /** comparisons between values of the changed row, such as: ALT <= 2 * AST + 5 */
  relations?: Array<string>;
}

/** One minimal set of changes, and what the model says of the changed row. */
export interface Counterfactual {
  type: "counterfactual";
  rank: number;
  /** the changes as a person would say them */
  sentence: string;
  changes: Array<Change>;
  /** what follows from the changes; absent where nothing can follow */
  consequences?: Array<Consequence> | null;
  cost: number;
  prediction: Prediction;
  instance: Record<string, number | string | null>;
  /** absent where neither the request nor the registry asks; null where it is not told */
  stability?: Stability | null;
}

/** The whole answer as one object; `error` replaces `summary` if it failed midway. */
export interface Counterfactuals {
  start: Start;
  counterfactuals: Array<Counterfactual>;
  summary?: Summary | null;
  error?: ErrorLine | null;
}

/** One person, and what an answer must satisfy. */
export interface CounterfactualsRequest {
  /** every feature of the model, by its name */
  instance: Record<string, number | string | null>;
  /** other facts that decide which range applies, such as sex and age */
  context?: Record<string, string | number | boolean>;
  /** a registry other than the model's own; null: no ranges */
  registry?: string | null;
  /** a target other than the model's own */
  target?: TargetBody;
  /** ranges that replace the registry's */
  normal_ranges?: Record<string, RangeBody>;
  /** values to move to, for features without a range */
  guide?: Record<string, number | string | null>;
  constraints?: ConstraintsEntry;
  /** how hard a change is; 1 by default */
  weights?: Record<string, number>;
  /** whether the plans hold */
  robustness?: RobustnessBody | null;
  /** tell of each changed number how little would be enough */
  least?: boolean;
  limits?: LimitsBody;
  /** keep a record of the answer */
  record?: RecordBody | null;
}

/** The direction in which a value moves. */
export type Direction = "increase" | "decrease";

/** Milliseconds in total, in the search, in the model and in the solver. */
export interface Elapsed {
  total: number;
  search: number;
  model: number;
  solver: number;
}

/** The search that a request asks for, or that answered. */
export type Engine = "auto" | "lattice" | "cemsp" | "through";

/** What was erased. */
export interface Erasure {
  /** records whose values were erased */
  records: number;
}

/** The last line of a stream that failed midway. */
export interface ErrorLine {
  type: "error";
  problem: Problem;
}

/** A request that shows the model at work. */
export interface Example {
  name: string;
  request: Record<string, unknown>;
}

/** The examples of a model. */
export interface ExampleList {
  examples: Array<Example>;
}

/** A feature of a model, with what its own registry says of it. */
export interface FeatureListing {
  name: string;
  title: string | null;
  short: string | null;
  unit: string | null;
  type: string;
  /** what a person may plausibly have; beyond it the page asks, and an answer warns or is refused */
  bounds: BoundsEntry | null;
  categories: Array<string | number>;
  may_be_missing: boolean;
  default: string | number | null;
  move_to: string | Record<string, unknown> | null;
  allowed: Array<string | number>;
  ranges: Array<RangeListing>;
  if_missing: string | Record<string, string | number> | null;
  /** the error of a measurement: sd or relative, and its source */
  noise: Record<string, string | number> | null;
  /** how a notice states the feature as a reason, and by which code */
  reason: ReasonEntry | null;
  /** the codes of an Observation of it */
  loinc: Array<string>;
  /** its unit in UCUM */
  ucum: string | null;
  /** how it is computed from others, which are sent in its place; null: it is sent */
  derived: string | null;
}

/** One value: its normal range, the target it would move to, and why it may not move. */
export interface FeatureState {
  name: string;
  title: string | null;
  value: number | string | null;
  /** the default used for a missing value */
  filled: number | string | null;
  unit: string | null;
  low: number | null;
  high: number | null;
  /** allowed values of a category; null for a number */
  allowed: Array<number | string | null> | null;
  /** the condition of the chosen range */
  when: Record<string, unknown> | null;
  status: Status;
  target: number | string | null;
  movable: boolean;
  why_not: WhyNot | null;
  /** how to let a missing value move; absent otherwise */
  hint?: string | null;
  /** the values that it may stop at, the nearest first; absent if there is one target */
  steps?: Array<number | string | null> | null;
  /** the values that it may move to, each a way of its own; absent otherwise */
  any_of?: Array<number | string | null> | null;
  /** that the value is outside of the bounds that the model gives; absent otherwise */
  warning?: string | null;
}

/** What became of a plan of a recorded answer. */
export interface FeedbackBody {
  /** the rank of the plan */
  plan: number;
  outcome: Became;
  /** why it was declined; needed then, and only then */
  reason?: WhyDeclined | null;
}

/** What became of a plan, as it is kept. */
export interface FeedbackKept {
  /** the id of the record */
  record: string;
  /** the rank of the plan */
  plan: number;
  outcome: Became;
  reason: WhyDeclined | null;
  /** when it was told first */
  at: string;
}

/** What was wrong with a file. */
export interface FlawOfFile {
  file: string;
  field: string;
  reason: string;
}

/** Whether the plan still holds if further movable features come into range too. */
export interface FurtherChanges {
  holds: boolean;
  /** further changes that undo it: with them it is a smallest feasible superset that is unfavourable */
  breaks_with: Array<string> | null;
}

/** Whether a search is exact for any model, or assumes that the model is monotone. */
export type Guarantee = "exact" | "assumes_monotone";

/** The state of the service. */
export interface Health {
  status: "alive" | "ready";
}

/** The same of a row that no plan leads to. */
export interface Judgement {
  label: string | null;
  /** of the favourable side; null if the model gives no finite score */
  score: number | null;
  favourable: boolean;
}

/** What holds for callers with this key: all of these policies, and these constraints. */
export interface KeyListing {
  policies: Array<PolicyEntry>;
  constraints: ConstraintsEntry;
}

/** The keys that receipts are checked with, those of former years included. */
export interface KeySet {
  keys: Array<ReceiptKey>;
}

/** What was read in a model's graph. */
export type Kind = "linear" | "trees" | "network" | "opaque";

/** When files were last read anew, what came of it, and what was wrong with them. */
export interface LastReload {
  at: string;
  result: "loaded" | "refused";
  flaws: Array<FlawOfFile>;
  warnings: Array<FlawOfFile>;
}

/** The limits in force, after lowering them to what the server allows. */
export interface LimitsApplied {
  engine: Engine;
  max_counterfactuals: number | null;
  deadline_ms: number;
  max_model_rows: number;
}

/** What the search may cost. The server lowers limits that exceed its own. */
export interface LimitsBody {
  engine?: Engine;
  max_counterfactuals?: number | null;
  deadline_ms?: number | null;
  max_model_rows?: number | null;
}

export type MissingEntry = Array<unknown>;

/** Everything about one model. */
export interface ModelDetails {
  name: string;
  title: string;
  version: string;
  sha256: string | null;
  description_sha256: string;
  classes: Array<string>;
  target: Record<string, unknown>;
  features: Array<FeatureListing>;
  normal_ranges: string | null;
  registries: Array<string>;
  examples: Array<string>;
  /** how far Flipset sees through the model */
  structure: StructureListing;
  prototype: Record<string, number | string>;
  training: Record<string, unknown>;
  /** what the person, the decision and a range are called in the model's field */
  words: WordsEntry;
  constraints: ConstraintsEntry;
  /** features that are never stated as a reason */
  protected: Array<string>;
  policy: PolicyEntry;
  /** what the rules of the key add to that, where one was sent */
  key: KeyListing | null;
}

/** Which model it was, to the last bit. */
export interface ModelIdentity {
  name: string;
  version: string;
  /** of model.onnx; null where the model lives elsewhere */
  sha256: string | null;
  /** of model.toml */
  description_sha256: string;
}

/** All models. */
export interface ModelList {
  models: Array<ModelListing>;
}

/** A model in the list of all. */
export interface ModelListing {
  name: string;
  title: string;
  version: string;
  sha256: string | null;
  description_sha256: string;
}

/** What is asked of further improvements: to tell whether they undo a plan, or that they never do. */
export type More = "tell" | "require";

/** How the target is chosen inside a range; `amount` belongs to `margin` and `value`. `steps` are the values on the way, the nearest first, or the `count` of them if they are evenly spaced. `any_of` has its values in `steps` too. The values of a category are its names in a file, and its codes here. */
export interface MoveTo {
  policy?: Policy;
  amount?: number;
  steps?: Array<unknown>;
  count?: number;
}

/** How many of the minimal sets hold the feature. */
export interface Necessity {
  /** share of all minimal sets, rounded to four digits */
  share: number;
  sets: number;
  /** all: nothing turns the decision without this feature */
  holds: "all" | "some";
}

/** Why nothing was found. If the outcome is `unknown`, there may still be an answer. */
export interface NoRecourse {
  /** why there is no answer; null if the outcome is unknown or the budget ran out first */
  reason: Reason | null;
  /** whether every subset was checked, feasible or not */
  complete: boolean;
  /** sets of rules to give up, smallest first; minimal among the subsets that were checked. If the outcome is unknown, there may be an answer that gives up none */
  relax: Array<Relaxation>;
  /** number of further ways that are not listed */
  more: number;
  /** the closest set of changes within the rules; null if none was scored */
  best: Unsent | null;
  /** the closest set without the rules, if it is closer than best and giving up rules does not help; null otherwise */
  best_without_rules: Unsent | null;
  /** what the score must reach; null: the favourable class must win */
  threshold: number | null;
}

/** A feature that could not become a reason, whatever it does to the decision. */
export interface NotConsidered {
  feature: string;
  why: "no_range" | "missing" | "protected";
}

/** The Observation that a value is from. */
export interface ObservationUsed {
  feature: string;
  /** reference to the Observation */
  observation: string | null;
  /** when it was measured, as written there */
  effective: string | null;
  /** the unit it came in; `value` of the feature is in the model's */
  unit: string | null;
  /** whose range held; null: neither has one */
  range: "observation" | "registry" | null;
}

/** The order of the plans of an answer; the last two need the whole answer first. */
export type Order = "size" | "cost" | "stability";

/** What another model says of the changed row, by its own target. */
export interface OtherModelSays {
  label: string | null;
  /** of the favourable side; null if the model gives no finite score */
  score: number | null;
  favourable: boolean;
  name: string;
}

/** What came of looking for reasons; `none`: no set of features, brought into range, turns the decision. */
export type Outcome = "found" | "already_favourable" | "none" | "unknown";

/** The point of a normal range that an abnormal value is moved to. */
export type Policy = "nearest" | "midpoint" | "margin" | "value" | "steps" | "any_of";

/** A `[policy]`. A request may choose whatever it does not name. */
export interface PolicyEntry {
  registries?: Array<string> | null;
  without_registry?: boolean | null;
  target?: "free" | "fixed";
  least_threshold?: number | null;
  normal_ranges?: "free" | "fixed";
  guide?: "free" | "fixed";
}

/** The decision, and the score of the favourable side. */
export interface Prediction {
  label: string | null;
  score: number;
  favourable: boolean;
}

/** One instance, or several. */
export interface PredictionsRequest {
  instance?: Record<string, number | string | null> | null;
  instances?: Array<Record<string, number | string | null>> | null;
  /** accepted as in a request for counterfactuals; predictions ignore it */
  context?: Record<string, string | number | boolean>;
  target?: TargetBody;
}

/** Why a request was refused (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** urn:flipset:request: and the request's X-Request-ID */
  instance?: string | null;
  errors: Array<ProblemField>;
}

/** A field that was refused, and how to fix it. */
export interface ProblemField {
  field: string;
  message: string;
  /** line of a mistake in a formula, from 1; absent otherwise */
  line?: number | null;
  /** column of a mistake in a formula, in characters from 1; absent otherwise */
  column?: number | null;
}

/** Why the answer holds for this model. */
export interface Proof {
  /** rows that the model scored, or what was read in its graph */
  by: ProvedBy;
  /** number of sets of changes that were looked at */
  nodes: number;
  /** movable features that no answer can need */
  inert: Array<string>;
}

/** What a proof rests on: rows that the model scored, or what was read in its graph. */
export type ProvedBy = "rows" | "linear" | "trees" | "network";

/** The request's own normal range; it replaces the registry's. */
export interface RangeBody {
  low?: number | null;
  high?: number | null;
  /** for a category, instead of low and high */
  allowed?: Array<number | string> | null;
  /** where in the range a value moves, or the steps on the way; by default as the registry says. Alone, it leaves the registry's range in force */
  move_to?: "nearest" | "midpoint" | {
    margin: number;
  } | {
    value: number;
  } | {
    steps: Array<number | string> | number;
  } | {
    any_of: Array<number | string>;
  } | null;
  /** what a missing value would become: a value, or target for where the range or guide leads; by default as the registry says; null: it stays missing. Alone, it leaves the registry's range in force */
  if_missing?: "target" | {
    value: number | string;
  } | null;
}

/** One normal range, and those for whom it holds. */
export interface RangeListing {
  low: number | null;
  high: number | null;
  when: Record<string, unknown>;
  source: string | null;
}

/** What is served, and since when. */
export interface Readiness {
  status: "ready";
  since: string;
  models: Array<ModelIdentity>;
  normal_ranges: Array<RegistryIdentity>;
  reloads: ReloadCounts;
  last_reload: LastReload | null;
}

/** Why there is no answer. */
export type Reason = "constraints" | "ranges";

/** How a notice states the feature as a reason for a decision, by which code, and where these words are from. */
export interface ReasonEntry {
  text: string;
  code?: string | null;
  source?: string | null;
}

/** One feature that the decision rests on. */
export interface ReasonStated {
  rank: number;
  feature: string;
  title: string | null;
  value: number | string | null;
  unit: string | null;
  low: number | null;
  high: number | null;
  allowed: Array<number | string | null> | null;
  /** the condition of the chosen range */
  when: Record<string, unknown> | null;
  status: Status;
  /** what the registry says a notice should state */
  text: string | null;
  /** the registry's code for it */
  code: string | null;
  /** where the registry has text and code from */
  source: string | null;
  necessity: Necessity;
  sufficiency: Sufficiency;
  variation: Variation;
}

/** What a decision rests on. */
export interface Reasons {
  model: ModelIdentity;
  normal_ranges: RegistryIdentity | null;
  /** what counts as favourable; compared_as names the type in which scores are compared, and the threshold or interval in that type */
  target: Record<string, unknown>;
  prediction: Prediction;
  /** none: no set of features, brought into range, turns the decision; unknown: not every minimal set is proved to be found, so no reasons are stated */
  outcome: Outcome;
  /** at most four, the most necessary first */
  reasons: Array<ReasonStated>;
  /** further features that minimal sets hold */
  more: number;
  /** how many there are; null if that is not proved */
  minimal_sets: number | null;
  /** features outside their ranges that no minimal set holds */
  without_effect: Array<string>;
  not_considered: Array<NotConsidered>;
  /** paths of the constraints that played no part */
  set_aside: Array<string>;
  /** whether every minimal set was found, and that is proved */
  complete: boolean;
  stopped_by: StoppedBy | null;
  guarantee: Guarantee;
  engine: Engine;
  model_rows: number;
  elapsed_ms: number;
  /** the outcome in words */
  explanation: string;
  /** what this is not: a legal determination, or a cause */
  note: string;
  /** the id of the record; null if there is no room for one; absent if none was asked for */
  record?: string | null;
  /** false if the record may be missing; absent if none was asked for */
  recorded?: boolean | null;
}

/** What proves a record, as canonical JSON: keep every byte of it. */
export interface Receipt {
  /** a JWS in its compact form, signed with Ed25519 */
  receipt: string;
  /** what the salted digests are made with; null once it was erased */
  salt: string | null;
}

/** A public key, as a JWK (RFC 8037). */
export interface ReceiptKey {
  alg: string;
  crv: string;
  /** its thumbprint (RFC 7638) */
  kid: string;
  kty: string;
  use: string;
  x: string;
}

/** A request to record the answer, and whom it is about. */
export interface RecordBody {
  /** whom the answer is about: an id that means something only to you */
  subject?: string | null;
}

/** One record: what the answer rested on, and what it said. What is personal is null once it was erased. */
export interface RecordDetails {
  id: string;
  /** kept, erased, or unfinished: the answer began, and its end was not recorded */
  state: string;
  /** when the request came */
  at: string;
  model: string;
  /** its place in the chain */
  seq: number | null;
  /** its hash, which the next record is chained to */
  hash: string | null;
  /** as in the summary; cut if its reader left, error if the search broke down */
  outcome: string | null;
  /** what the hash covers: versions, digests, and salted digests of what is personal */
  sealed: Record<string, unknown> | null;
  /** the limits as applied, and the rules of the key */
  terms: Record<string, unknown> | null;
  subject: string | null;
  /** what the salted digests are made with */
  salt: string | null;
  /** the request as it was sent */
  request: Record<string, unknown> | null;
  /** the first line of the answer */
  start: Record<string, unknown> | null;
  /** its first plans */
  plans: Array<Record<string, unknown>> | null;
  /** its last line, without times */
  summary: Record<string, unknown> | null;
  erased_at: string | null;
  /** what became of its plans */
  feedback: Array<FeedbackKept>;
}

/** The records of one subject, the oldest first. */
export interface RecordList {
  records: Array<RecordDetails>;
  /** ask again with this to see more; null: that was all */
  after: number | null;
}

/** One registry. */
export interface RegistryDetails {
  name: string;
  title: string;
  version: string;
  source: string | null;
  features: Record<string, RegistryFeature>;
  constraints: ConstraintsEntry;
  /** how hard changes are, where a request does not say */
  weights: Record<string, number>;
  sha256: string;
}

/** What a registry says of one feature. */
export interface RegistryFeature {
  unit: string | null;
  move_to: string | Record<string, unknown>;
  allowed: Array<string | number>;
  ranges: Array<RangeListing>;
  if_missing: string | Record<string, string | number> | null;
  /** the error of a measurement: sd or relative, and its source */
  noise: Record<string, string | number> | null;
  /** how a notice states the feature as a reason, and by which code */
  reason: ReasonEntry | null;
}

/** The registry that answered, with its digest. */
export interface RegistryIdentity {
  name: string;
  version: string;
  /** of the registry's file */
  sha256: string;
}

/** Rules to give up together, and one answer that this would open. */
export interface Relaxation {
  /** paths in the request; the prefix model:, registry: or key: names another owner */
  items: Array<string>;
  counterfactual: Unsent;
}

/** How often files were read anew since the start, by what came of it. */
export interface ReloadCounts {
  loaded: number;
  refused: number;
}

/** Where a replayed answer differs. */
export interface ReplayDifference {
  /** the place in the answer, such as summary.count */
  where: string;
  what: string;
}

/** Whether the same question still gets the same answer. */
export interface ReplayResult {
  /** null if the question could not be asked again */
  same: boolean | null;
  differences: Array<ReplayDifference>;
  /** answer: all but times and counts of rows; plans: those sent before time ran out; null: nothing */
  compared: string | null;
}

/** What the plans are held against. */
export interface RobustnessApplied {
  /** by feature: sd in its unit, or relative to its value */
  noise: Record<string, unknown>;
  draws: number;
  models: Array<string>;
  require: number | null;
  more: More | null;
  order: Order;
  /** how many plans are judged at most; null: all */
  plans: number | null;
}

/** Which errors and which other models a plan is held against, and what is required of it. */
export interface RobustnessBody {
  /** a normal error for each feature: its sd in the feature's unit, or relative to its value; registry: as the registry says, which is the default */
  noise?: "registry" | Record<string, {
    sd?: number;
    relative?: number;
  }> | null;
  /** how often the errors are drawn; 100 by default */
  draws?: number | null;
  /** other models with the same features */
  models?: Array<string>;
  /** answer only with plans that every model approves, in this share of the draws */
  require?: number | null;
  /** whether further changes undo a plan: tell says so; require answers only with plans that none does */
  more?: More | null;
  /** by cost or stability: at most 10,000 plans, sent when the search has ended */
  order?: Order;
}

/** The role of a subset among the feasible ones. */
export type Role = "minimal" | "maximal_failing";

/** A rule that every answer satisfies. */
export interface RuleInForce {
  /** path in the constraints; the prefix model:, registry: or key: names another owner */
  item: string;
  /** the rule as written there */
  rule: unknown;
}

/** The service that answered. */
export interface ServiceIdentity {
  name: "flipset";
  version: string;
}

/** What the model says of several instances, in their order. */
export interface SeveralPredictions {
  model: ModelIdentity;
  target: Record<string, unknown>;
  predictions: Array<Prediction>;
}

/** What the model says of one instance. */
export interface SinglePrediction {
  model: ModelIdentity;
  target: Record<string, unknown>;
  prediction: Prediction;
}

/** Whether a plan holds. */
export interface Stability {
  /** of the draws, the share that is favourable; null if there is no noise */
  share: number | null;
  draws: number;
  /** true if it is proved for every value within three standard deviations, false if one breaks it */
  certified: boolean | null;
  /** a measurement that breaks it, if one is known: `certified` is false */
  counterexample: BreakingMeasurement | null;
  models: Array<OtherModelSays>;
  /** null if the model was not asked about all further changes */
  more: FurtherChanges | null;
}

/** Of how many plans it was told, and the rows that the model scored for that, besides those of the search. */
export interface StabilityTold {
  plans: number;
  model_rows: number;
}

/** The first line. */
export interface Start {
  type: "start";
  model: ModelIdentity;
  normal_ranges: RegistryIdentity | null;
  prediction: Prediction;
  /** what counts as favourable; compared_as names the type in which scores are compared, and the threshold or interval in that type */
  target: Record<string, unknown>;
  limits: LimitsApplied;
  /** keys of the context that no range uses */
  unused_context: Array<string>;
  /** keys of the context with a value that no condition of a range knows, such as f for female */
  unmatched_context: Array<UnmatchedContext>;
  features: Array<FeatureState>;
  service: ServiceIdentity;
  /** all rules in force: the model's, the registry's, the key's and the request's */
  rules: Array<RuleInForce>;
  /** false if there was not enough time to rule out contradicting rules; absent otherwise */
  conflicts_ruled_out?: false | null;
  /** what the plans are held against; absent where nothing is */
  robustness?: RobustnessApplied | null;
  /** the id of the record; null if there is no room for one; absent if none was asked for */
  record?: string | null;
  /** where the values of a Bundle are from; absent otherwise */
  observations?: Array<ObservationUsed> | null;
}

/** A value compared with its normal range. */
export type Status = "normal" | "low" | "high" | "not_allowed" | "unknown";

/** What ended a search before it was done. */
export type StoppedBy = "deadline" | "max_counterfactuals" | "max_model_rows" | "shutdown";

/** What was read in a model's graph. */
export interface StructureListing {
  /** `opaque`: the model is not seen through */
  kind: Kind;
  /** why it is opaque; null if it is not */
  why: string | null;
}

/** A subset of the movable features, moved to their targets. */
export interface SubsetShown {
  /** in the model's order */
  features: Array<string>;
  /** score of the favourable side; null if the model gives no finite score */
  score: number | null;
  /** false if there is no score; if plans are required to hold, whether this one does */
  favourable: boolean;
  /** whether it satisfies every constraint */
  allowed: boolean;
  /** minimal: an answer of /counterfactuals; maximal_failing: allowed and not favourable, while all of its allowed proper supersets are favourable */
  role: Role | null;
}

/** All subsets of the movable features, by size and then by positions; the first is the instance as it stands. */
export interface Subsets {
  model: ModelIdentity;
  normal_ranges: RegistryIdentity | null;
  /** what counts as favourable; compared_as names the type in which scores are compared, and the threshold or interval in that type */
  target: Record<string, unknown>;
  /** the movable features, in the model's order */
  features: Array<string>;
  subsets: Array<SubsetShown>;
}

/** How little has to change beside the feature. */
export interface Sufficiency {
  /** size of the smallest minimal set that holds the feature */
  smallest_set: number;
  /** whether this feature alone, brought into range, turns the decision */
  alone: boolean;
}

/** The last line. */
export interface Summary {
  type: "summary";
  outcome: "found" | "already_favourable" | "no_recourse" | "unknown";
  count: number;
  /** every answer was sent, and that is proved for this model */
  complete: boolean;
  /** every minimal answer of at most this many changes has been sent */
  complete_up_to: number;
  /** null if the search ended by itself */
  stopped_by: StoppedBy | null;
  /** assumes_monotone: the search assumed a monotone model, so answers may be missing */
  guarantee: Guarantee;
  engine: Engine;
  model_rows: number;
  model_calls: number;
  solver_checks: number;
  elapsed_ms: Elapsed;
  /** number of answers that change each feature */
  changed_in: Record<string, number>;
  /** null if nothing is proved for this model */
  proof: Proof | null;
  /** what it took to judge whether plans hold; absent if none was judged */
  stability?: StabilityTold | null;
  /** if the search ended by itself and found nothing; the outcome says whether that is proved */
  no_recourse: NoRecourse | null;
  /** false if the record may be missing; absent if none was asked for */
  recorded?: boolean | null;
}

/** What counts as favourable: classes and a threshold, or an interval for a regression. */
export interface TargetBody {
  classes?: Array<string> | null;
  threshold?: number | null;
  low?: number | null;
  high?: number | null;
}

/** A key of the context with a value that no range knows. */
export interface UnmatchedContext {
  key: string;
  /** what the ranges know: values, or intervals with low and high */
  known: Array<unknown>;
}

/** A set of changes that is not an answer: a rule forbids it, or it does not turn the decision. */
export interface Unsent {
  sentence: string;
  changes: Array<Change>;
  /** what follows from the changes; absent where nothing can follow */
  consequences?: Array<Consequence> | null;
  cost: number;
  prediction: Prediction;
  instance: Record<string, number | string | null>;
  /** if plans are required to hold; absent otherwise */
  stability?: Stability | null;
}

/** Other values that would have led to another result: the first of the smallest sets that hold the feature. */
export interface Variation {
  sentence: string;
  changes: Array<Change>;
  prediction: Prediction;
}

/** Why a plan was declined. */
export type WhyDeclined = "cannot_change" | "too_costly" | "not_true_of_me" | "other";

/** Why a feature cannot be changed. */
export type WhyNot = "normal" | "no_range" | "missing" | "derived" | "at_target" | "immutable" | "direction" | "max_step";

/** What people in the model's field call things; the page speaks so. */
export interface WordsEntry {
  person?: string;
  decision?: string;
  range?: string;
}

/** How far the search is. */
export interface Progress {
  type: "progress";
  complete_up_to: number;
  model_rows: number;
  elapsed_ms: number;
}

/** One line of a stream. `type` says which it is; the last one is `summary` or `error`. */
export type Line = Start | Counterfactual | Progress | Summary | ErrorLine;
