import * as v from 'valibot'
import { about, type DeepReadonly } from '../decode.js'
import { GRID_STATUSES, RUN_STATUSES, RUN_VERDICTS, runReport } from '../records.js'
import { INFRASTRUCTURES, type Vocabulary } from '../vocabulary.js'

// What the service sends, one schema per document: its documents have these types, and its OpenAPI description is made of them. A client
// must not rely on so much of any service: `../api.ts` says what it reads.

const text = v.string()
const nullableText = v.nullable(text)
const integer = v.pipe(v.number(), v.integer())
const count = v.pipe(integer, v.minValue(0))

const timestamp = about(v.pipe(text, v.isoTimestamp()), 'UTC, with milliseconds.')
const uuid = about(text, 'Letters, digits, - and _.')
const link = v.object({ href: text })
const selfLink = v.object({ self: link })

const node = v.object({
  ip: about(nullableText, 'Null for a node that only its cluster can reach, as are the other addresses.'),
  url: nullableText,
  private_ip: nullableText,
  instance_id: text,
  chef: v.literal('complete'),
  port: v.nullable(integer),
  started: timestamp,
  state: v.picklist(['running', 'stopping'])
})

const gridFields = {
  _links: selfLink,
  uuid,
  batch_id: v.optional(about(text, 'Of the run that the grid was created with.')),
  name: about(text, 'Ends with the uuid.'),
  region: text,
  origin: about(text, 'Where the nodes of the region run.'),
  instance_quantity: count,
  instance_type: text,
  infrastructure: v.picklist(INFRASTRUCTURES),
  stop_after: about(v.number(), 'In minutes.'),
  status: v.picklist(GRID_STATUSES),
  warnings: v.optional(about(v.array(text), 'Which of the given keys have no effect here.'))
}
const nodes = v.array(node)
/** In replies to creations, and in runs. */
const grid = v.object({ ...gridFields, nodes })
/** At its own address. */
const gridWithResources = v.object({ ...gridFields, resources: nodes })

const runNode = about(
  v.object({
    grid: text,
    region: text,
    number: about(count, 'Among the nodes of its grid, from 1.'),
    place: text,
    started: v.nullable(timestamp),
    rows: v.nullable(count),
    threads: v.nullable(v.number()),
    first_sample: v.nullable(v.number()),
    last_sample: v.nullable(v.number()),
    cpu_limit: about(v.nullable(v.number()), 'In cores.'),
    restarts: v.nullable(v.number()),
    throttled: about(
      v.nullable(v.number()),
      'The part of the run, from 0 to 1, in which its CPU was throttled.'
    ),
    clock_offset_ms: v.number(),
    lost: about(nullableText, 'Which part of its load was lost.')
  }),
  'An addition of this service: where a part of the load came from.'
)

const runFields = {
  _links: selfLink,
  uuid,
  apdex: about(nullableText, 'As in `0.95 [500]`: the score, and the threshold in milliseconds.'),
  tool: about(text, 'With its version once that is known.'),
  name: nullableText,
  notes: nullableText,
  threads: v.nullable(v.number()),
  rampup: about(v.nullable(v.number()), 'In seconds.'),
  duration: about(v.nullable(v.number()), 'In seconds.'),
  tag_list: v.array(text),
  status: about(v.picklist(RUN_STATUSES), 'A run ends as `finished` or `problem`.'),
  permalink: text,
  queue_position: about(v.nullable(count), 'From 1 while it waits; an addition of this service.'),
  waiting_reason: v.optional(
    about(
      text,
      'Why it does not start, apart from the runs before it: a held queue, a quota, a full disk; an addition of this service.'
    )
  ),
  pinned: v.optional(about(v.literal(true), 'It is never deleted; an addition of this service.')),
  user: v.optional(about(text, 'Who created it; an addition of this service.')),
  remote_errors: nullableText,
  tool_thresholds: v.optional(
    about(
      v.array(v.object({ text, holds: v.nullable(v.boolean()), reason: v.optional(text) })),
      'What the plan itself says must hold, as its tool judged it: thresholds of k6, assertions of Gatling. `holds` is null where that is not known, and `reason` says why; an addition of this service.'
    )
  ),
  aside_groups: v.optional(
    about(
      v.array(text),
      'The setUp and tearDown thread groups of a JMeter plan, by name: their samples count for their labels only; an addition of this service.'
    )
  ),
  started: v.nullable(timestamp),
  stopped: v.nullable(timestamp)
}

const credential = v.object({
  id: integer,
  provider: text,
  description: text,
  arn: nullableText,
  access_key_id: nullableText
})

const user = v.object({
  _links: v.object({ self: link, account: link }),
  id: integer,
  email: text,
  role: about(text, 'An addition of this service.'),
  authentication_token: about(
    text,
    '`redacted`, except in a service for one person, and in the replies that make a token.'
  ),
  sign_in_count: count,
  current_sign_in_at: v.nullable(timestamp),
  last_sign_in_at: v.nullable(timestamp),
  created_at: timestamp,
  token_expires_at: v.optional(
    about(timestamp, 'Absent if the token does not end; an addition of this service.')
  ),
  issuer: v.optional(
    about(text, 'The OpenID Connect issuer that vouches for the user; an addition of this service.')
  )
})

const report = v.object({ _links: selfLink, ...runReport.entries })

const thresholds = v.object({
  _links: selfLink,
  thresholds: about(text, 'One per line.'),
  warm_up: about(count, 'In seconds.'),
  on_stall: v.picklist(['fail', 'warn', 'ignore']),
  verdict: v.optional(about(v.picklist(RUN_VERDICTS), 'Once the run has ended, as are the next two.')),
  reason: v.optional(text),
  lines: v.optional(
    v.array(
      v.object({
        line: count,
        threshold: text,
        level: text,
        verdict: text,
        actual: v.nullable(v.number()),
        reason: v.optional(text),
        over_time: v.optional(v.number()),
        by_samples: v.optional(v.number())
      })
    )
  )
})

const error = v.object({
  error: about(text, 'What is wrong, and what to do.'),
  problems: v.optional(about(v.array(text), 'Each of several problems.'))
})

const file = v.object({ name: text, href: text })
const result = v.object({ name: text, region: text, href: text })
const project = v.object({
  _links: v.object({ runs: link }),
  name: text,
  total: about(count, 'The number of its runs.')
})

/** A page of a list. */
const listOf = <const E extends v.ObjectEntries>(embedded: E) =>
  v.object({
    _links: v.object({ self: link, last: link, next: v.optional(link) }),
    total: about(count, 'Of all pages.'),
    _embedded: v.object(embedded)
  })

/** Every document of a service with these words, by its name in the description. */
export function replySchemas(words: Vocabulary) {
  const briefRun = v.object({
    ...runFields,
    _embedded: v.object({ [words.files as 'run_files']: v.array(v.object({ uuid, name: text })) })
  })
  return {
    Account: v.object({
      _links: selfLink,
      email: text,
      settings: about(
        v.object({
          statuses: v.object({
            [words.runs as 'runs']: v.array(v.picklist(RUN_STATUSES)),
            grids: v.array(v.picklist(GRID_STATUSES))
          })
        }),
        'An addition of this service.'
      ),
      _embedded: v.object({ users: v.array(user), credentials: v.array(credential) })
    }),
    User: user,
    UserList: listOf({ users: v.array(user) }),
    RemovedUser: v.object({
      ...user.entries,
      waiting_runs: about(v.array(text), 'The ids of their runs that wait, and never start.'),
      runs_at_work: about(v.array(text), 'The ids of their runs that go on.')
    }),
    Grid: grid,
    GridWithResources: gridWithResources,
    GridList: listOf({ grids: v.array(grid) }),
    ProjectList: listOf({ projects: v.array(project) }),
    Run: v.object({
      ...runFields,
      batch_id: text,
      first_sample: about(
        v.nullable(timestamp),
        'When its first sample started: from then on its duration counts. Null until there is one; an addition of this service.'
      ),
      nodes: v.optional(v.array(runNode)),
      _embedded: v.object({
        grids: v.array(grid),
        files: v.array(file),
        archives: v.array(file),
        results: v.optional(about(v.array(result), 'Not in the reply to its creation.'))
      })
    }),
    BriefRun: briefRun,
    RunList: listOf({ [words.runs as 'runs']: v.array(briefRun) }),
    ResultList: listOf({ results: v.array(result) }),
    ArchiveList: listOf({ archives: v.array(file) }),
    Report: report,
    Thresholds: thresholds,
    Queue: v.object({
      _links: selfLink,
      held: about(
        nullableText,
        'Why no queued run starts until an admin lets the queue go; null if it is not held.'
      ),
      waiting: about(v.nullable(count), 'The number of waiting runs; null for who does not see all runs.'),
      nodes_at_work: about(v.nullable(count), 'Null for who does not see all runs.')
    }),
    Error: error
  }
}

type Replies = ReturnType<typeof replySchemas>
/** A document as the service sends it. */
export type Reply<Name extends keyof Replies> = DeepReadonly<v.InferOutput<Replies[Name]>>
export type NodeReply = DeepReadonly<v.InferOutput<typeof node>>
export type RunNodeReply = DeepReadonly<v.InferOutput<typeof runNode>>
export type RunFieldsReply = Omit<Reply<'BriefRun'>, '_embedded'>
