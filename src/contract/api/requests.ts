import * as v from 'valibot'
import { RUN_STATUSES } from '../records.js'
import { shorten } from '../text.js'
import {
  DEFAULT_STOP_AFTER_MIN,
  INFRASTRUCTURES,
  LONGEST_NAME,
  MAX_STOP_AFTER_MIN,
  ON_STALL,
  PROJECT_NAME,
  PROJECT_NAME_WORDS,
  TOOLS,
  type Vocabulary
} from '../vocabulary.js'

// The parameters of requests, one schema each: in as forms send them, which is as text; out as JSON has them. The output side becomes
// the API's description, so what follows the last schema of a pipe must be something that JSON schema can express.

const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/
/** In characters. A page shows up to hundreds of runs, and reads what they say. */
const LONGEST_TEXT = 65_536
const LONGEST_NOTES = 10_000
const LARGEST = 2_147_483_647
/** A grid lists each of them. */
const MOST_NODES = 1000
/** `6.0` is what some clients make of 6. */
const WHOLE = /^\s*\d{1,10}(\.0*)?\s*$/
const DECIMAL = /^\s*\d{1,10}(\.\d{1,10})?\s*$/

const single = v.string('a single string')
const quoted = (wanted: string) => (issue: v.BaseIssue<unknown>) =>
  `${wanted}, not "${shorten(String(issue.input))}"`

const text = (description: string, most?: number) =>
  v.pipe(
    single,
    v.maxLength(
      most ?? LONGEST_TEXT,
      `at most ${(most ?? LONGEST_TEXT).toLocaleString('en')} characters long`
    ),
    v.description(description)
  )

const name = (description: string) =>
  v.pipe(single, v.regex(NAME, quoted('letters, digits, ".", "_" and "-"')), v.description(description))

const choice = <const T extends readonly string[]>(choices: T, description: string) =>
  v.pipe(single, v.picklist(choices, quoted(choices.join(' or '))), v.description(description))

/** A number, or text of this form. */
const number = (form: RegExp, words: ReturnType<typeof quoted>) =>
  v.pipe(
    v.union([v.number(), v.string()], 'a single string'),
    v.transform((given) => (typeof given === 'string' && form.test(given) ? Number(given) : given)),
    v.number(words)
  )

function integer(least: number, most: number, description: string) {
  const words = quoted(`a whole number from ${least} to ${most}`)
  return v.pipe(
    number(WHOLE, words),
    v.integer(words),
    v.minValue(least, words),
    v.maxValue(most, words),
    v.description(description)
  )
}

/** The keys of `grid[…]`, and of a specification in `run[grids][]`. */
export const gridRequest = v.object({
  region: v.optional(
    name(
      'Where the nodes run: a region of this service, by default its first one. Where it has none of its own, any name, by default `local`.'
    )
  ),
  instance_quantity: v.optional(integer(1, MOST_NODES, 'How many nodes; by default 1.')),
  stop_after: v.optional(
    integer(
      1,
      MAX_STOP_AFTER_MIN,
      `After how many minutes the grid stops by itself; by default ${DEFAULT_STOP_AFTER_MIN}.`
    )
  ),
  infrastructure: v.optional(
    choice(INFRASTRUCTURES, 'On demand, or hosted by the caller: the same here; by default `demand`.')
  ),
  instance_type: v.optional(name('The size of a node; by default `default`.')),
  aws_platform: v.optional(text('No effect here: ec2_default_vpc or ec2_classic.')),
  aws_tags: v.optional(text('No effect here: key=value pairs, separated by commas.')),
  aws_availability_zone: v.optional(text('No effect here: a zone within the region.')),
  aws_spot_price: v.optional(
    v.pipe(number(DECIMAL, quoted('a number')), v.description('No effect here: in decimal cents.'))
  ),
  credential_id: v.optional(text("One of the account's credentials; it has no other effect here.")),
  azure_tenant_id: v.optional(text('No effect here: for hosted grids, instead of credential_id.')),
  aws_arn: v.optional(text('No effect here: for hosted grids, instead of credential_id.')),
  aws_vpc_identifier: v.optional(text('No effect here: the id of a VPC.')),
  aws_vpc_subnet_public: v.optional(text('No effect here: the id of a public subnet.')),
  aws_vpc_subnet_private: v.optional(text('No effect here: the id of a private subnet.')),
  aws_vpc_security_groups: v.optional(text('No effect here: ids of security groups.'))
})

const uuid = v.pipe(single, v.nonEmpty('a string'), v.description('The id of a grid that has started.'))

/** A grid of a run that there is already. */
export const gridReference = v.object({ uuid })

const PRIVACY = ['public', 'private'] as const

/** The keys of `run[…]`; a service with a name has its own word for `run` and for its own tool. */
export function runRequest({ tools }: Vocabulary) {
  const known = [...new Set([...tools, ...TOOLS])]
  const words = quoted(`one of ${tools.join(', ')}`)
  return v.object({
    tool: v.pipe(
      single,
      v.regex(new RegExp(`^(${known.join('|')})(-.+)?$`), words),
      v.description(
        `One of ${tools.join(', ')}. A version may follow, as in jmeter-5.6.3; the reply names the one that is used.`
      )
    ),
    grids: v.pipe(
      v.array(v.union([uuid, gridReference, gridRequest])),
      v.minLength(1),
      v.description('Where the plan runs: specifications of new grids, or uuids of existing grids.')
    ),
    name: v.optional(text('What the run is called.', LONGEST_NAME)),
    notes: v.optional(text('Anything to remember about the run.', LONGEST_NOTES)),
    project: v.optional(
      v.pipe(
        text('The project that the run belongs to.', LONGEST_NAME),
        v.regex(PROJECT_NAME, PROJECT_NAME_WORDS)
      )
    ),
    tag_list: v.optional(text('Tags, separated by commas: up to 50 of 50 characters each.')),
    privacy_flag: v.optional(
      choice(
        PRIVACY,
        'Who sees the run where the service has projects; private unless it is given. It cannot be changed later.'
      )
    ),
    privacy: v.optional(choice(PRIVACY, 'Another name of privacy_flag.')),
    threads: v.optional(integer(1, LARGEST, 'Threads, or users, for the plan: of each grid.')),
    rampup: v.optional(integer(0, LARGEST, 'Ramp-up for the plan, in seconds.')),
    duration: v.optional(integer(1, LARGEST, 'Duration for the plan, in seconds.')),
    override_hosts: v.optional(
      text('Addresses of host names: example.com/10.0.0.1, separated by commas or spaces.')
    ),
    override_parameters: v.optional(
      text('Properties for the tool: -Jname=value or -Dname=value, separated by commas or spaces.')
    ),
    secret_parameters: v.optional(
      text('An addition of this service: names of properties whose values are redacted.')
    )
  })
}

const ONE_PER_LINE = 'text with one threshold per line, or a list of lines'

const LONGEST_WARM_UP_SEC = 24 * 60 * 60

/** What must hold in a run: an addition of this service. */
export const thresholdsRequest = v.object({
  thresholds: v.pipe(
    v.union([v.string(), v.array(v.string())], ONE_PER_LINE),
    v.description('One threshold per line; without any, there is nothing to judge.')
  ),
  warm_up: v.optional(
    integer(0, LONGEST_WARM_UP_SEC, 'Seconds at the start of the run that are not judged.')
  ),
  on_stall: v.optional(
    v.pipe(
      v.picklist(ON_STALL, `one of ${ON_STALL.join(', ')}`),
      v.description('What a stall does to a line that holds for the requests that were sent.')
    )
  )
})

const ROLES = ['admin', 'member', 'viewer'] as const
export const LONGEST_TOKEN_DAYS = 3650

/** The keys of `user[…]` for another token: an addition of this service. */
export const tokenRequest = v.object({
  days: v.optional(
    integer(1, LONGEST_TOKEN_DAYS, 'After how many days the token ends; by default it does not.')
  )
})

/** The keys of `user[…]` for another user: an addition of this service. */
export const userRequest = v.object({
  name: text('What the user is called: letters, digits and . _ @ + -', LONGEST_NAME),
  role: choice(ROLES, 'What the user may do.'),
  ...tokenRequest.entries
})

const LARGEST_PAGE = 999_999_999
/** The query of a list. */
export const pageQuery = v.object({
  page: v.optional(integer(1, LARGEST_PAGE, 'From 1, with 50 entries each.'))
})

/** The query of the list of runs. */
export const runsQuery = v.object({
  ...pageQuery.entries,
  name: v.optional(text('An addition of this service, as are the next ones: a part of the name.')),
  project: v.optional(text('The project.')),
  tag: v.optional(text('One of the tags.')),
  user: v.optional(text('Who created it.')),
  status: v.optional(v.picklist(RUN_STATUSES))
})

/** The query of results. */
export const resultQuery = v.object({
  grid_id: v.optional(text('The samples of this grid only; needed while the run goes on.'))
})

type Values<E extends v.ObjectEntries> = { readonly [K in keyof E]?: v.InferOutput<E[K]> }

/** Reads each parameter by itself, so that all problems are known at once. What is empty is absent: forms send it so. */
export function readParameters<const E extends v.ObjectEntries, X extends keyof E = never>(
  { entries }: { readonly entries: E },
  given: Readonly<Record<string, unknown>>,
  /** Read elsewhere. */
  except: readonly X[] = []
): { values: Omit<Values<E>, X>; problems: string[] } {
  const problems: string[] = []
  const read = Object.entries(entries).flatMap(([key, schema]) => {
    if (except.some((other) => other === key)) return []
    const value = given[key] === '' || given[key] === null ? undefined : given[key]
    const result = v.safeParse(schema, value, { abortEarly: true })
    if (result.success) return value === undefined ? [] : [[key, result.output]]
    problems.push(value === undefined ? `${key} is missing` : `${key} must be ${result.issues[0].message}`)
    return []
  })
  return { values: Object.fromEntries(read) as Omit<Values<E>, X>, problems }
}

/** The same, where a key that there is not is a problem, too: a misspelt one must not be as if it were not there. */
export function readExactly<const E extends v.ObjectEntries>(
  request: { readonly entries: E },
  given: Readonly<Record<string, unknown>>
): ReturnType<typeof readParameters<E>> {
  const { values, problems } = readParameters(request, given)
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(request.entries, key))
  return {
    values,
    problems: [...problems, ...unknown.map((key) => `there is no key ${JSON.stringify(key)}`)]
  }
}
