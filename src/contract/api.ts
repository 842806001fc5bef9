import * as v from 'valibot'
import { decode, document, type Decoded } from './decode.js'
import { isObject } from './setting-values.js'
import { isId, type Vocabulary } from './vocabulary.js'

// The documents of the API, one schema each: in as the service sends them, out under our names. What a verdict does not need may be odd.

/** A date and a time, and nothing else. */
const ZONELESS = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/
/** A status is a few words: it appears in logs, outputs and reports, and must not fill them. */
const LONGEST_STATUS = 100
const MOST_WARNINGS = 20
/** More than anyone runs: a reply must not fill a report. */
const MOST_NODES = 2000
const LONGEST_TEXT = 1000

/** Undefined if it is absent or odd. */
function lenient<I, O>(schema: v.GenericSchema<I, O>) {
  return v.pipe(
    v.fallback(v.nullish(schema), undefined),
    v.transform((value) => value ?? undefined)
  )
}

/** Without the odd ones; empty if it is not a list. Undefined only if it is absent, so that another key can be tried. */
function lenientList<I, O extends object | string>(schema: v.GenericSchema<I, O>) {
  const list = v.pipe(
    v.array(v.fallback(v.nullable(schema), null)),
    v.transform((values) => values.filter((value) => value !== null))
  )
  return v.optional(v.fallback(list, []))
}

const optionalText = v.pipe(
  v.nullish(v.string()),
  v.transform((text) => text ?? undefined)
)
const text = lenient(v.string())

const id = v.pipe(
  v.union([v.string(), v.number()], 'text'),
  v.check((given) => isId(String(given)), 'an id of letters, digits, - and _'),
  v.transform(String)
)

const status = v.pipe(v.string(), v.maxLength(LONGEST_STATUS, 'a short text'))
const statusOrUnknown = v.fallback(status, 'unknown')

/** An integer; text that contains one is accepted too, since forms turn numbers into text. */
const optionalInteger = v.pipe(
  v.nullish(v.union([v.number(), v.string()], 'a whole number')),
  v.transform((given) => (typeof given === 'string' && /^-?\d+$/.test(given) ? Number(given) : given)),
  v.transform((given) => (given === '' || given === null ? undefined : given)),
  v.check((given) => given === undefined || Number.isInteger(given), 'a whole number'),
  v.transform((given) => given as number | undefined)
)
const integer = lenient(optionalInteger)

/** Whole seconds, also if the service sends fractions. */
const seconds = lenient(
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.trim(), v.nonEmpty(), v.transform(Number))]),
    v.finite(),
    v.transform(Math.round)
  )
)

/** UTC if it does not say which zone, like the times in results: that of this machine is not the service's. */
const timestamp = lenient(
  v.pipe(
    v.string(),
    v.transform((given) => Date.parse(ZONELESS.test(given) ? `${given}Z` : given)),
    v.finite()
  )
)

const gridNode = v.pipe(
  document({ ip: text, state: text }),
  v.transform(({ ip, state }) => ({ address: ip, state }))
)

const gridEntries = {
  uuid: id,
  name: text,
  region: v.fallback(v.string(), 'unknown'),
  origin: text,
  instance_quantity: integer,
  instance_type: text,
  infrastructure: text,
  stop_after: integer,
  batch_id: text,
  nodes: lenientList(gridNode),
  resources: lenientList(gridNode)
}

const toGrid = v.transform(
  (grid: v.InferOutput<ReturnType<typeof document<typeof gridEntries & { status: typeof status }>>>) => ({
    id: grid.uuid,
    name: grid.name,
    region: grid.region,
    origin: grid.origin,
    nodeCount: grid.instance_quantity,
    instanceType: grid.instance_type,
    infrastructure: grid.infrastructure,
    stopAfterMinutes: grid.stop_after,
    /** The id of the run that it was created with; absent if it was created by itself. */
    ...(grid.batch_id !== undefined && { batchId: grid.batch_id }),
    status: grid.status,
    nodes: grid.nodes ?? grid.resources ?? []
  })
)

/** A grid to watch must have a status. */
export const gridSchema = v.pipe(document({ ...gridEntries, status }), toGrid)
/** A grid in the reply to its creation, or in a run: whatever else is odd about it, its id is enough to terminate it. */
export const madeGridSchema = v.pipe(document({ ...gridEntries, status: statusOrUnknown }), toGrid)
export type Grid = Decoded<typeof gridSchema>

/** A text that is worth showing, not longer than anybody reads. */
const shownText = v.pipe(
  v.string(),
  v.nonEmpty(),
  v.transform((given) => given.slice(0, LONGEST_TEXT))
)
/** Null if it is unknown. */
const orUnknown = <I, O>(schema: v.GenericSchema<I, O>) => v.fallback(v.nullable(schema), null)
const finite = v.pipe(v.number(), v.finite())
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const withFallback = <I, O>(schema: v.GenericSchema<I, O>, fallback: O) => v.fallback(schema, () => fallback)

/** A node of a run's grid, as the embedded service describes it; null is unknown. */
const runNode = v.pipe(
  document({
    grid: shownText,
    region: withFallback(shownText, 'unknown'),
    /** Among the nodes of its grid, from 1. */
    number: withFallback(count, 0),
    /** `this machine`, or a pod and where it was scheduled. */
    place: withFallback(shownText, 'unknown'),
    started: orUnknown(
      v.pipe(v.union([v.pipe(v.string(), v.transform(Date.parse)), v.number()]), v.finite())
    ),
    rows: orUnknown(count),
    /** When its first sample started and its last one ended. */
    first_sample: orUnknown(finite),
    last_sample: orUnknown(finite),
    threads: orUnknown(count),
    /** In cores. */
    cpu_limit: orUnknown(finite),
    restarts: orUnknown(count),
    /** The part of the run, from 0 to 1, in which its CPU was throttled. */
    throttled: orUnknown(v.pipe(finite, v.toMinValue(0), v.toMaxValue(1))),
    /** Its clock minus the service's. */
    clock_offset_ms: withFallback(finite, 0),
    /** What of its load was lost, in a sentence. */
    lost: orUnknown(shownText)
  }),
  v.transform(({ started, first_sample, last_sample, cpu_limit, clock_offset_ms, ...node }) => ({
    ...node,
    startedMs: started,
    ...spanOf(first_sample, last_sample),
    cpuLimit: cpu_limit,
    clockOffsetMs: clock_offset_ms
  }))
)
export type RunNode = Decoded<typeof runNode>

/** Absent if the service does not say, or says nothing sensible. */
function spanOf(
  first: number | null,
  last: number | null
): { firstSampleMs?: number; lastSampleMs?: number } {
  return first === null || last === null || first > last ? {} : { firstSampleMs: first, lastSampleMs: last }
}

/** What a plan itself says must hold. One that cannot be read is not known to hold. */
const toolThreshold = v.object({
  text: v.string(),
  holds: v.nullable(v.boolean()),
  reason: v.exactOptional(v.string())
})
const UNREAD = {
  text: 'a threshold of the plan',
  holds: null,
  reason: 'what the service says of it cannot be read'
}

/** What the embedded service says about the nodes of a run; undefined for other services. */
const runNodes = v.pipe(
  v.fallback(v.optional(v.array(v.fallback(v.nullable(runNode), null))), undefined),
  v.transform((given) => {
    const nodes = given?.slice(0, MOST_NODES).filter((node) => node !== null)
    // The rows of a part of the nodes say nothing about those of their grid.
    return nodes?.length === given?.length ? nodes : nodes?.map((node) => ({ ...node, rows: null }))
  })
)

/** A grid that is listed twice counts once. One whose results cannot be found is not hidden: the verdict must take it into account. */
const runGrids = v.pipe(
  v.nullish(v.custom<v.InferInput<typeof madeGridSchema>[]>(() => true)),
  v.transform((list) => {
    const path = '_embedded.grids'
    const decodedList = decode(v.nullish(v.array(v.unknown())), list, path)
    if ('odd' in decodedList) return { grids: [], oddGrids: [decodedList.odd] }
    const decoded =
      decodedList.value?.map((each, index) => decode(madeGridSchema, each, `${path}[${index}]`)) ?? []
    const grids = decoded.flatMap((each) => ('value' in each ? [each.value] : []))
    return {
      grids: [...new Map(grids.map((grid) => [grid.id, grid])).values()],
      oddGrids: decoded.flatMap((each) => ('odd' in each ? [each.odd] : []))
    }
  })
)

/** A list, or one text with commas as it was sent. */
const tags = v.pipe(
  v.union([
    v.pipe(
      v.string(),
      v.transform((given) => given.split(','))
    ),
    v.array(v.fallback(v.union([v.string(), v.number()]), ''))
  ]),
  v.transform((list) => list.map((tag) => String(tag).trim()).filter((tag) => tag !== ''))
)

/** A result without a link is kept: it is part of the evidence, and the missing link must show. */
const result = v.pipe(
  v.fallback(document({ name: text, region: text, href: text }), {}),
  v.transform(({ name, region, href = '' }) => ({ name, region, href }))
)
export type ResultLink = v.InferOutput<typeof result>

const file = v.pipe(
  document({ name: v.string() }),
  v.transform(({ name }) => name)
)

/** An object with `href`, or just the URL. Anything else is an error: unread pages may contain the wanted run. */
const link = v.lazy((given) =>
  typeof given === 'string'
    ? v.string()
    : v.pipe(
        v.nullish(document({ href: optionalText })),
        v.transform((object) => object?.href)
      )
)
const links = v.pipe(
  v.custom<{ next?: v.InferInput<typeof link>; self?: unknown; last?: unknown } | null | undefined>(
    () => true
  ),
  v.transform((given) => (Array.isArray(given) ? undefined : given)),
  v.nullish(document({ next: link }))
)

/** An apdex or error of another type is kept as text: whoever judges it reports it as odd. */
const anyText = v.pipe(
  v.nullish(v.custom<string>(() => true)),
  v.transform((given) => (given === undefined || given === null ? null : textFor(given)))
)
const NO_ERRORS: readonly string[] = ['', '[]', '{}']

/** No real message is nested this deeply; only an attack on the stack is. */
const DEEPEST = 6

/** A text as it is, anything else as JSON. */
function textFor(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(withinDepth(value, DEEPEST))
}

function withinDepth(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return '… (nested too deeply to be shown)'
  if (Array.isArray(value)) return value.map((inner) => withinDepth(inner, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withinDepth(inner, depth - 1)]))
}

/** Longer ones would fill the log. */
const LONGEST_REASON = 1000

const runEntries = {
  uuid: id,
  batch_id: text,
  apdex: anyText,
  tool: text,
  name: text,
  notes: text,
  threads: integer,
  rampup: seconds,
  duration: seconds,
  tag_list: v.fallback(tags, []),
  permalink: text,
  remote_errors: anyText,
  started: timestamp,
  stopped: timestamp,
  /** Another service may mean something else by it. */
  queue_position: lenient(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  waiting_reason: lenient(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.transform((given) => given.slice(0, LONGEST_REASON))
    )
  ),
  /** Null until there is one; undefined for a service that does not say. */
  first_sample: v.fallback(
    v.optional(v.nullable(v.pipe(v.string(), v.transform(Date.parse), v.finite()))),
    undefined
  ),
  aside_groups: lenient(v.array(v.string())),
  nodes: runNodes,
  tool_thresholds: v.optional(v.fallback(v.nullable(v.array(v.fallback(toolThreshold, UNREAD))), [UNREAD]))
}

/** The documents that contain the service's name for a run. No other user's run may hide the wanted one, and no odd grid its end. */
export function runSchemas(words: Vocabulary) {
  const filesKey = words.files as 'run_files'
  const runsKey = words.runs as 'runs'
  const files = lenientList(file)
  const results = v.optional(v.fallback(v.array(result), []))
  const embedded = document({ grids: runGrids, files, [filesKey]: files, results })
  const entries = { ...runEntries, _embedded: v.fallback(embedded, () => v.parse(embedded, {})) }
  const withStatus = document({ ...entries, status })
  const toRun = v.transform(
    ({
      _embedded,
      nodes,
      queue_position,
      waiting_reason,
      first_sample,
      tool_thresholds,
      aside_groups,
      ...run
    }: v.InferOutput<typeof withStatus>) => ({
      id: run.uuid,
      ...(run.batch_id !== undefined && { batchId: run.batch_id }),
      status: run.status,
      /** As sent; null if there is none. It is parsed where it is judged. */
      apdex: run.apdex ?? null,
      tool: run.tool,
      name: run.name,
      notes: run.notes,
      threads: run.threads,
      rampupSeconds: run.rampup,
      durationSeconds: run.duration,
      tags: run.tag_list,
      permalink: run.permalink,
      /** As text, whatever its type; undefined when there are none. */
      remoteErrors: NO_ERRORS.includes(run.remote_errors ?? '')
        ? undefined
        : (run.remote_errors ?? undefined),
      startedMs: run.started,
      stoppedMs: run.stopped,
      grids: _embedded.grids?.grids ?? [],
      /** What is wrong with grid entries that have no id, so that their results cannot be found. */
      ...(_embedded.grids?.oddGrids.length && { oddGrids: _embedded.grids.oddGrids }),
      files: _embedded.files ?? _embedded[filesKey] ?? [],
      results: _embedded.results ?? [],
      /** From 1, while it waits for other runs; absent where the service does not say so. */
      ...(queue_position !== undefined && { queuePosition: queue_position }),
      /** Why it does not start, apart from the runs before it; only a loadgate says so. */
      ...(waiting_reason !== undefined && { waitingReason: waiting_reason }),
      /** When its load began; null until it has, absent where the service does not say so. */
      ...(first_sample !== undefined && { firstSampleMs: first_sample }),
      /** Where its load came from; only the embedded service says so. */
      ...(nodes && { nodes }),
      /** The thread groups whose rows count for their labels only; only the embedded service says so. */
      ...(aside_groups && { asideGroups: aside_groups }),
      /** What the plan itself says must hold, as its tool judged it. */
      ...(tool_thresholds && { toolLines: tool_thresholds })
    })
  )
  const madeRun = v.pipe(document({ ...entries, status: statusOrUnknown }), toRun)
  const listed = v.nullish(v.array(v.fallback(v.nullable(madeRun), null)))
  const runPage = v.pipe(
    document({ _embedded: document({ [runsKey]: listed }), total: integer, _links: links }),
    v.transform(({ _embedded, total, _links }) => {
      const given = _embedded[runsKey] ?? []
      const runs = given.filter((run) => run !== null)
      return {
        runs,
        /** How many entries had no id, with which nothing can be done. */
        leftOut: given.length - runs.length,
        total,
        /** The link to the next page, if there is one. */
        next: _links?.next
      }
    })
  )
  return {
    /** A run to watch must have a status. */
    run: v.pipe(withStatus, toRun),
    /** A run in the reply to its creation, or in a list: whatever else is odd about it, its id is enough to find and stop it. */
    madeRun,
    runPage
  }
}

type RunSchemas = ReturnType<typeof runSchemas>
export type Run = Decoded<RunSchemas['run']>
export type RunPage = Decoded<RunSchemas['runPage']>

export const reportSchema = v.pipe(
  v.custom<object>(isObject, 'an object'),
  v.looseObject({
    /** Undefined if the service has no text there, or not yet. */
    summary: v.fallback(v.optional(v.string()), undefined),
    /** True if the embedded service generated synthetic samples instead of load. */
    rehearsal: v.fallback(v.optional(v.boolean(), false), false),
    /** What to know when reading the figures; only the embedded service says so. */
    warnings: v.fallback(v.optional(v.array(v.fallback(v.nullable(v.string()), null)), []), [])
  }),
  v.transform(({ summary, rehearsal, warnings, ...rest }) => ({
    summary,
    rehearsal,
    warnings: warnings.flatMap((each) => each?.slice(0, LONGEST_TEXT) ?? []).slice(0, MOST_WARNINGS),
    /** Figures that real services send with the summary; shown, never judged. */
    means: Object.fromEntries(
      Object.entries(rest).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
    )
  }))
)
export type Report = Decoded<typeof reportSchema>

const user = v.pipe(
  document({
    id: optionalInteger,
    email: optionalText,
    /** A secret: masked and redacted wherever an account is shown. */
    authentication_token: optionalText,
    sign_in_count: optionalInteger,
    last_sign_in_at: optionalText
  }),
  v.transform(({ authentication_token, sign_in_count, last_sign_in_at, ...rest }) => ({
    ...rest,
    authenticationToken: authentication_token,
    signInCount: sign_in_count,
    lastSignIn: last_sign_in_at
  }))
)

const credential = v.pipe(
  document({
    id: optionalInteger,
    provider: optionalText,
    description: optionalText,
    arn: optionalText,
    access_key_id: optionalText
  }),
  v.transform(({ access_key_id, ...rest }) => ({ ...rest, accessKeyId: access_key_id }))
)

export const accountSchema = v.pipe(
  document({
    email: optionalText,
    _embedded: v.nullish(
      document({ users: v.nullish(v.array(user)), credentials: v.nullish(v.array(credential)) })
    )
  }),
  v.transform(({ email, _embedded }) => ({
    email,
    users: _embedded?.users ?? [],
    credentials: _embedded?.credentials ?? []
  }))
)
export type Account = Decoded<typeof accountSchema>
