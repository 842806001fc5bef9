import { OPEN_GROUP, SCHEDULE } from '../../analysis/plans/jmx/open-model.js'
import { headerPattern, jmeterExtractor } from './extractors.js'
import {
  addressOf,
  encodeText,
  escapeComment,
  escapeXml,
  isSafe,
  NOT_FOUND,
  readableName
} from './request.js'
import type { PlanExtract, PlanRequest, PlanTarget } from './request.js'

export interface PlanOptions {
  readonly name: string
  readonly target: PlanTarget
  readonly requests: readonly PlanRequest[]
  readonly load: Load
  readonly rampupSeconds: number
  readonly durationSeconds: number
}

/** Lines of XML; `inside` indents them. */
type Lines = readonly string[]

const CONNECT_TIMEOUT_MS = 5000
const RESPONSE_TIMEOUT_MS = 30_000
const THINK_MS = 200

/** An open group ends this long after the last arrival, and interrupts users who are not done. */
const SETTLE_SECONDS = 5

/** A JMeter plan: users who send the requests in order, over and over, or once each if they arrive at a rate. */
export function writePlan(options: PlanOptions): string {
  const { name, target, requests } = options
  const group = [
    ...commented(
      'Wait before each request, in milliseconds: -Jthink=0 sends as fast as the application answers.',
      timer('Think time', `\${__P(think,${sharedThinkMs(requests)})}`)
    ),
    ...requests.flatMap(sampler)
  ]
  const plan = [
    ...commented(
      'Where the load goes. To point it elsewhere: -Jprotocol=https -Jhost=staging.example.com -Jport=443',
      defaults(target)
    ),
    ...cookieManager(requests),
    ...threadGroup(options, group)
  ]
  const properties = [
    text('TestPlan.comments', 'Written by `loadgate init`; open it with JMeter, or edit it here.'),
    ...emptyArguments('TestPlan.user_defined_variables', 'ArgumentsPanel')
  ]
  const content = element('TestPlan', { gui: 'TestPlanGui', name: readableName(name) }, properties, plan)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    ...header(options),
    ...inside('jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"', tree(content)),
    ''
  ].join('\n')
}

/** The wait before each request; none on top of recorded think times. */
export function sharedThinkMs(requests: readonly PlanRequest[]): number {
  return requests.some(({ thinkMs }) => thinkMs !== undefined) ? 0 : THINK_MS
}

/** How long a user waits in one visit. */
export function totalThinkMs(requests: readonly PlanRequest[]): number {
  return requests.reduce((sum, { thinkMs = THINK_MS }) => sum + thinkMs, 0)
}

/** With a login, or with values of replies, each visit is that of a new user, as in the recording: a server may not show its form twice. */
export function startsAnew(requests: readonly PlanRequest[]): boolean {
  return requests.some(({ isLogin, extracts = [] }) => isLogin === true || extracts.length > 0)
}

function cookieManager(requests: readonly PlanRequest[]): Lines {
  const lines = element('CookieManager', { gui: 'CookiePanel', name: 'Cookies of each user' }, [
    '<collectionProp name="CookieManager.cookies"/>',
    bool('CookieManager.clearEachIteration', startsAnew(requests))
  ])
  return startsAnew(requests)
    ? commented(
        'A user who starts over is a new one, without cookies. To stay logged in: clearEachIteration false, and the login in a Once Only Controller.',
        lines
      )
    : lines
}

function header({ target, load }: PlanOptions): Lines {
  return [
    '<!--',
    `  A load test of ${escapeComment(addressOf(target))}, written by loadgate init.`,
    '',
    `  How values reach this plan: \${__P(name,default)} is the property of that name. The settings ${load.kind === 'open' ? 'rampup' : 'threads, rampup'} and`,
    '  duration of loadgate arrive as such properties, and every -Jname=value of override-parameters.',
    '  Data files are listed under files, after the plan. They are put beside it: a plan names them without a folder.',
    '  A response counts as failed if its status is 400 or above, if it does not come, or if an assertion fails.',
    '-->'
  ]
}

function defaults({ protocol, host, port }: PlanTarget): Lines {
  return element('ConfigTestElement', { gui: 'HttpDefaultsGui', name: 'The application' }, [
    ...emptyArguments('HTTPsampler.Arguments', 'HTTPArgumentsPanel'),
    text('HTTPSampler.protocol', `\${__P(protocol,${protocol})}`),
    text('HTTPSampler.domain', `\${__P(host,${host})}`),
    text('HTTPSampler.port', `\${__P(port,${port})}`),
    text('HTTPSampler.connect_timeout', String(CONNECT_TIMEOUT_MS)),
    text('HTTPSampler.response_timeout', String(RESPONSE_TIMEOUT_MS))
  ])
}

function threadGroup(options: PlanOptions, children: Lines): Lines {
  return options.load.kind === 'open'
    ? commented(
        'Users arrive at this rate, whether others are waiting or not (an open model), and send each request once. The settings rampup and duration of loadgate arrive as properties, and -Jrate=50 sets another rate. Each node has the whole rate. Whoever is not done when the last pause ends is interrupted: -Jsettle=30 waits longer.',
        openGroup(options, options.load.rate, children)
      )
    : commented(
        'The settings threads, rampup and duration of loadgate arrive as properties; the number is used without them.',
        closedGroup(options, options.load.threads, children)
      )
}

/** The duration includes the ramp-up, as in other thread groups. */
function openGroup(options: PlanOptions, rate: Rate, children: Lines): Lines {
  const { requests, rampupSeconds, durationSeconds } = options
  const settleSeconds = SETTLE_SECONDS + Math.ceil(totalThinkMs(requests) / 1000)
  const [rampup, duration] = [`\${__P(rampup,${rampupSeconds})}`, `\${__P(duration,${durationSeconds})}`]
  const schedule = [
    `rate(0/${rate.per}) random_arrivals(${rampup} s)`,
    `rate(\${__P(rate,${rate.arrivals})}/${rate.per}) random_arrivals(\${__intSum(${duration},-${rampup})} s)`,
    `pause(\${__P(settle,${settleSeconds})} s)`
  ]
  const properties = [
    text('ThreadGroup.on_sample_error', 'continue'),
    '<elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>',
    text(SCHEDULE, schedule.join(' '))
  ]
  return element(OPEN_GROUP, { gui: 'OpenModelThreadGroupGui', name: 'Users' }, properties, children)
}

function closedGroup(options: PlanOptions, threads: number, children: Lines): Lines {
  const properties = [
    text('ThreadGroup.on_sample_error', 'continue'),
    ...inside(
      'elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController"',
      [bool('LoopController.continue_forever', false), '<intProp name="LoopController.loops">-1</intProp>']
    ),
    text('ThreadGroup.num_threads', `\${__P(threads,${threads})}`),
    text('ThreadGroup.ramp_time', `\${__P(rampup,${options.rampupSeconds})}`),
    bool('ThreadGroup.scheduler', true),
    text('ThreadGroup.duration', `\${__P(duration,${options.durationSeconds})}`),
    text('ThreadGroup.delay', '0'),
    bool('ThreadGroup.same_user_on_next_iteration', true)
  ]
  return element('ThreadGroup', { gui: 'ThreadGroupGui', name: 'Users' }, properties, children)
}

function sampler(request: PlanRequest): Lines {
  const { name, method, path, headers, body, isEnabled, note, thinkMs, expects } = request
  const { extracts = [], proofs = [] } = request
  const properties = [
    ...(note === undefined ? [] : [text('TestPlan.comments', encodeText([note]))]),
    ...(body === undefined
      ? emptyArguments('HTTPsampler.Arguments', 'HTTPArgumentsPanel')
      : rawBody(encodeText(body))),
    text('HTTPSampler.path', encodeText(path)),
    text('HTTPSampler.method', method),
    // JMeter writes a row for each redirect that it follows itself, which would change all figures.
    bool('HTTPSampler.follow_redirects', false),
    bool('HTTPSampler.auto_redirects', expects === undefined && isSafe(method)),
    bool('HTTPSampler.use_keepalive', true)
  ]
  const children = [
    ...(headers.length === 0 ? [] : headerManager(headers)),
    ...(thinkMs === undefined ? [] : timer('Recorded think time', String(thinkMs))),
    ...(expects === undefined ? [] : statusAssertion(expects)),
    ...proofs.flatMap(({ words, from }) =>
      assertion(`The reply ${words}`, headerPattern(from), {
        message: `the reply has no ${from.name} as in the recording`,
        field: 'response_headers',
        type: CONTAINS
      })
    ),
    ...extracts.flatMap((extract) => [...extractor(extract), ...foundAssertion(extract)])
  ]
  const facts = { gui: 'HttpTestSampleGui', name: readableName(name), isEnabled }
  return element('HTTPSamplerProxy', facts, properties, children)
}

function rawBody(body: string): Lines {
  const argument = inside('elementProp name="" elementType="HTTPArgument"', [
    bool('HTTPArgument.always_encode', false),
    text('Argument.value', body),
    text('Argument.metadata', '=')
  ])
  return [
    bool('HTTPSampler.postBodyRaw', true),
    ...inside(
      'elementProp name="HTTPsampler.Arguments" elementType="Arguments"',
      inside('collectionProp name="Arguments.arguments"', argument)
    )
  ]
}

function headerManager(headers: PlanRequest['headers']): Lines {
  const entries = headers.flatMap(({ name, value }) =>
    inside('elementProp name="" elementType="Header"', [
      text('Header.name', encodeText([name])),
      text('Header.value', encodeText(value))
    ])
  )
  const list = inside('collectionProp name="HeaderManager.headers"', entries)
  return element('HeaderManager', { gui: 'HeaderPanel', name: 'Headers' }, list)
}

function extractor(extract: PlanExtract): Lines {
  const { kind, gui, properties } = jmeterExtractor(extract)
  return element(
    kind,
    { gui, name: `Take ${extract.variable} from the reply` },
    properties.map(([name, value]) => text(name, encodeText([value])))
  )
}

function timer(name: string, delay: string): Lines {
  return element('ConstantTimer', { gui: 'ConstantTimerGui', name }, [text('ConstantTimer.delay', delay)])
}

/** Otherwise a redirect to a login would count as a success. */
function statusAssertion(digit: 2 | 3): Lines {
  return assertion(`Answered with ${digit}xx, as recorded`, `${digit}..`, {
    message: `expected ${digit}xx, as recorded; not logged in?`,
    field: 'response_code',
    type: MATCHES
  })
}

/** Otherwise a refused login that is answered with 200 would count as a success. */
function foundAssertion({ variable }: PlanExtract): Lines {
  return assertion(`The reply has ${variable}`, `(?:${NOT_FOUND}|null)?`, {
    message: `the reply has no ${variable}, which later requests send`,
    field: 'response_data',
    type: MATCHES + NOT,
    variable
  })
}

/** Numbers of JMeter. */
const [MATCHES, CONTAINS, NOT] = [1, 2, 4]

function assertion(
  name: string,
  pattern: string,
  { message, field, type, variable }: { message: string; field: string; type: number; variable?: string }
): Lines {
  return element('ResponseAssertion', { gui: 'AssertionGui', name }, [
    // Spelled so by JMeter.
    ...inside('collectionProp name="Asserion.test_strings"', [text('0', encodeText([pattern]))]),
    text('Assertion.custom_message', encodeText([message])),
    text('Assertion.test_field', `Assertion.${field}`),
    bool('Assertion.assume_success', false),
    `<intProp name="Assertion.test_type">${type}</intProp>`,
    ...(variable === undefined ? [] : [text('Assertion.scope', 'variable'), text('Scope.variable', variable)])
  ])
}

/** An element of the tree of a plan, with those below it. */
function element(
  kind: string,
  { gui, name, isEnabled = true }: { gui: string; name: string; isEnabled?: boolean },
  properties: Lines,
  children: Lines = []
): Lines {
  const attributes = `guiclass="${gui}" testclass="${kind}" testname="${escapeXml(name)}" enabled="${String(isEnabled)}"`
  return [...inside(`${kind} ${attributes}`, properties), ...tree(children)]
}

function tree(children: Lines): Lines {
  return children.length === 0 ? ['<hashTree/>'] : inside('hashTree', children)
}

function emptyArguments(name: string, gui: string): Lines {
  return inside(
    `elementProp name="${name}" elementType="Arguments" guiclass="${gui}" testclass="Arguments"`,
    ['<collectionProp name="Arguments.arguments"/>']
  )
}

/** A line may contain line breaks of its own, in a body; these stay as they are. */
function inside(tag: string, lines: Lines): Lines {
  return [`<${tag}>`, ...lines.map((line) => `  ${line}`), `</${tag.replace(/ .*/, '')}>`]
}

function text(name: string, value: string): string {
  return `<stringProp name="${name}">${escapeXml(value)}</stringProp>`
}

function bool(name: string, value: boolean): string {
  return `<boolProp name="${name}">${String(value)}</boolProp>`
}

function commented(comment: string, lines: Lines): Lines {
  return [`<!-- ${escapeComment(comment)} -->`, ...lines]
}

export interface Rate {
  readonly arrivals: number
  readonly per: 's' | 'min' | 'h'
}

/** A fixed number of users who start over as soon as they are done, or users who arrive at a rate, whether others wait or not. */
export type Load =
  { readonly kind: 'closed'; readonly threads: number } | { readonly kind: 'open'; readonly rate: Rate }

const MOST_PER_SECOND = 10_000
export const UNIT_SECONDS = { s: 1, min: 60, h: 3600 }
const RATE = /^(\d{1,8}(?:\.\d{1,3})?)\s*(?:\/\s*(s|sec|second|m|min|minute|h|hour))?$/

/** Reads `20/s`, `90/min` or `500/h`; a number alone is per second. Undefined if it is none of these, or too much to mean. */
export function readRate(text: string): Rate | undefined {
  const [, number = '', unit = 's'] = RATE.exec(text.trim()) ?? []
  const per = unit.startsWith('s') ? 's' : unit.startsWith('m') ? 'min' : 'h'
  const arrivals = Number(number)
  return number !== '' && arrivals > 0 && arrivals / UNIT_SECONDS[per] <= MOST_PER_SECOND
    ? { arrivals, per }
    : undefined
}

/** For people: `20 users per second`. */
export function describeLoad(load: Load): string {
  if (load.kind === 'closed') return load.threads === 1 ? '1 user' : `${load.threads} users`
  const { arrivals, per } = load.rate
  const time = { s: 'second', min: 'minute', h: 'hour' }[per]
  return arrivals === 1 ? `1 user per ${time}` : `${arrivals} users per ${time}`
}
