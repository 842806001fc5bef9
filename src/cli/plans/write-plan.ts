import { OPEN_GROUP, SCHEDULE } from '../../analysis/plans/jmx/open-model.js'
import { encodeText, escapeComment, escapeXml, readableName } from './plan-text.js'
import { addressOf, isSafe, type PlanRequest, type PlanTarget } from './request.js'

export interface PlanOptions {
  readonly name: string
  readonly target: PlanTarget
  readonly requests: readonly PlanRequest[]
  readonly load: Load
  readonly rampupSeconds: number
  readonly durationSeconds: number
}

/** Lines of XML; the writer below indents them. */
type Lines = readonly string[]

const CONNECT_TIMEOUT_MS = 5000
const RESPONSE_TIMEOUT_MS = 30_000
const THINK_MS = 200
/** With recorded think times there is none on top of them. */
const NO_THINK_MS = 0

/** After the last arrival an open group ends when this has passed, and interrupts whoever is not done yet. */
const SETTLE_SECONDS = 5

/** A JMeter plan: users who send the requests in order, over and over, or once each if they arrive at a rate. */
export function writePlan(options: PlanOptions): string {
  const { name, target, requests } = options
  const hasThinkTimes = requests.some(({ thinkMs }) => thinkMs !== undefined)
  const group = [
    ...commented(
      `Wait before each request, in milliseconds: -Jthink=0 sends as fast as the application answers.`,
      timer('Think time', `\${__P(think,${hasThinkTimes ? NO_THINK_MS : THINK_MS})}`)
    ),
    ...requests.flatMap(sampler)
  ]
  const plan = [
    ...commented(
      'Where the load goes. To point it elsewhere: -Jprotocol=https -Jhost=staging.example.com -Jport=443',
      defaults(target)
    ),
    ...element('CookieManager', { gui: 'CookiePanel', name: 'Cookies of each user' }, [
      '<collectionProp name="CookieManager.cookies"/>',
      bool('CookieManager.clearEachIteration', false)
    ]),
    '<hashTree/>',
    ...threadGroup(options),
    ...tree(group)
  ]
  const content = [
    ...element('TestPlan', { gui: 'TestPlanGui', name: readableName(name) }, [
      text('TestPlan.comments', 'Written by `loadgate init`; open it with JMeter, or edit it here.'),
      ...emptyArguments('TestPlan.user_defined_variables', 'ArgumentsPanel')
    ]),
    ...tree(plan)
  ]
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    ...header(options),
    '<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">',
    ...indent(tree(content)),
    '</jmeterTestPlan>',
    ''
  ].join('\n')
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
  return [
    ...element('ConfigTestElement', { gui: 'HttpDefaultsGui', name: 'The application' }, [
      ...emptyArguments('HTTPsampler.Arguments', 'HTTPArgumentsPanel'),
      text('HTTPSampler.protocol', `\${__P(protocol,${protocol})}`),
      text('HTTPSampler.domain', `\${__P(host,${host})}`),
      text('HTTPSampler.port', `\${__P(port,${port})}`),
      text('HTTPSampler.connect_timeout', String(CONNECT_TIMEOUT_MS)),
      text('HTTPSampler.response_timeout', String(RESPONSE_TIMEOUT_MS))
    ]),
    '<hashTree/>'
  ]
}

function threadGroup(options: PlanOptions): Lines {
  return options.load.kind === 'open'
    ? commented(
        'Users arrive at this rate, whether others are waiting or not (an open model), and send each request once. The settings rampup and duration of loadgate arrive as properties, and -Jrate=50 is another rate. Each node has the whole rate. Whoever is not done when the last pause ends is interrupted: -Jsettle=30 waits longer.',
        openGroup(options, options.load.rate)
      )
    : commented(
        'The settings threads, rampup and duration of loadgate arrive as properties; the number is used without them.',
        closedGroup(options, options.load.threads)
      )
}

/** The duration contains the ramp-up, as that of other thread groups does. */
function openGroup({ requests, rampupSeconds, durationSeconds }: PlanOptions, rate: Rate): Lines {
  const thinkMs = requests.reduce((sum, request) => sum + (request.thinkMs ?? THINK_MS), 0)
  const settleSeconds = SETTLE_SECONDS + Math.ceil(thinkMs / 1000)
  const [rampup, duration] = [`\${__P(rampup,${rampupSeconds})}`, `\${__P(duration,${durationSeconds})}`]
  const schedule = [
    `rate(0/${rate.per}) random_arrivals(${rampup} s)`,
    `rate(\${__P(rate,${rate.arrivals})}/${rate.per}) random_arrivals(\${__intSum(${duration},-${rampup})} s)`,
    `pause(\${__P(settle,${settleSeconds})} s)`
  ]
  return element(OPEN_GROUP, { gui: 'OpenModelThreadGroupGui', name: 'Users' }, [
    text('ThreadGroup.on_sample_error', 'continue'),
    '<elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>',
    text(SCHEDULE, schedule.join(' '))
  ])
}

function closedGroup({ rampupSeconds, durationSeconds }: PlanOptions, threads: number): Lines {
  return element('ThreadGroup', { gui: 'ThreadGroupGui', name: 'Users' }, [
    text('ThreadGroup.on_sample_error', 'continue'),
    '<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController">',
    ...indent([
      bool('LoopController.continue_forever', false),
      '<intProp name="LoopController.loops">-1</intProp>'
    ]),
    '</elementProp>',
    text('ThreadGroup.num_threads', `\${__P(threads,${threads})}`),
    text('ThreadGroup.ramp_time', `\${__P(rampup,${rampupSeconds})}`),
    bool('ThreadGroup.scheduler', true),
    text('ThreadGroup.duration', `\${__P(duration,${durationSeconds})}`),
    text('ThreadGroup.delay', '0'),
    bool('ThreadGroup.same_user_on_next_iteration', true)
  ])
}

function sampler(request: PlanRequest): Lines {
  const { name, method, path, headers, body, isEnabled, note, thinkMs, expects } = request
  const children = [
    ...(headers.length === 0 ? [] : headerManager(headers)),
    ...(thinkMs === undefined ? [] : timer('Recorded think time', String(thinkMs))),
    ...(expects === undefined ? [] : statusAssertion(expects))
  ]
  return [
    ...element('HTTPSamplerProxy', { gui: 'HttpTestSampleGui', name: readableName(name), isEnabled }, [
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
    ]),
    ...tree(children)
  ]
}

function rawBody(body: string): Lines {
  return [
    bool('HTTPSampler.postBodyRaw', true),
    '<elementProp name="HTTPsampler.Arguments" elementType="Arguments">',
    ...indent([
      '<collectionProp name="Arguments.arguments">',
      ...indent([
        '<elementProp name="" elementType="HTTPArgument">',
        ...indent([
          bool('HTTPArgument.always_encode', false),
          text('Argument.value', body),
          text('Argument.metadata', '=')
        ]),
        '</elementProp>'
      ]),
      '</collectionProp>'
    ]),
    '</elementProp>'
  ]
}

function headerManager(headers: PlanRequest['headers']): Lines {
  const entries = headers.flatMap(({ name, value }) => [
    '<elementProp name="" elementType="Header">',
    ...indent([text('Header.name', encodeText([name])), text('Header.value', encodeText(value))]),
    '</elementProp>'
  ])
  return [
    ...element('HeaderManager', { gui: 'HeaderPanel', name: 'Headers' }, [
      '<collectionProp name="HeaderManager.headers">',
      ...indent(entries),
      '</collectionProp>'
    ]),
    '<hashTree/>'
  ]
}

function timer(name: string, delay: string): Lines {
  return [
    ...element('ConstantTimer', { gui: 'ConstantTimerGui', name }, [text('ConstantTimer.delay', delay)]),
    '<hashTree/>'
  ]
}

/** Otherwise a redirect to a login would count as a success. */
function statusAssertion(digit: 2 | 3): Lines {
  return [
    ...element('ResponseAssertion', { gui: 'AssertionGui', name: `Answered with ${digit}xx, as recorded` }, [
      // Spelled so by JMeter.
      '<collectionProp name="Asserion.test_strings">',
      ...indent([text('0', `${digit}..`)]),
      '</collectionProp>',
      text(
        'Assertion.custom_message',
        `the recording has ${digit}xx here; a redirect may lead to a login, which the plan lacks`
      ),
      text('Assertion.test_field', 'Assertion.response_code'),
      bool('Assertion.assume_success', false),
      '<intProp name="Assertion.test_type">1</intProp>'
    ]),
    '<hashTree/>'
  ]
}

interface ElementFacts {
  readonly gui: string
  readonly name: string
  readonly isEnabled?: boolean
}

function element(kind: string, { gui, name, isEnabled = true }: ElementFacts, properties: Lines): Lines {
  const attributes = `guiclass="${gui}" testclass="${kind}" testname="${escapeXml(name)}" enabled="${String(isEnabled)}"`
  return [`<${kind} ${attributes}>`, ...indent(properties), `</${kind}>`]
}

function tree(children: Lines): Lines {
  return children.length === 0 ? ['<hashTree/>'] : ['<hashTree>', ...indent(children), '</hashTree>']
}

function emptyArguments(name: string, gui: string): Lines {
  return [
    `<elementProp name="${name}" elementType="Arguments" guiclass="${gui}" testclass="Arguments">`,
    ...indent(['<collectionProp name="Arguments.arguments"/>']),
    '</elementProp>'
  ]
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

/** A line may contain line breaks of its own, in a body; these stay as they are. */
function indent(lines: Lines): Lines {
  return lines.map((line) => `  ${line}`)
}

/** How many users arrive in a time. */
export interface Rate {
  readonly arrivals: number
  readonly per: 's' | 'min' | 'h'
}

/** A fixed number of users who start over as soon as they are done, or users who arrive at a rate, whether others wait or not. */
export type Load =
  { readonly kind: 'closed'; readonly threads: number } | { readonly kind: 'open'; readonly rate: Rate }

const MOST_PER_SECOND = 10_000
const SECONDS = { s: 1, min: 60, h: 3600 }
const RATE = /^(\d{1,8}(?:\.\d{1,3})?)\s*(?:\/\s*(s|sec|second|m|min|minute|h|hour))?$/

/** Reads `20/s`, `90/min` or `500/h`; a number alone is per second. Undefined if it is none of these, or too much to mean. */
export function readRate(text: string): Rate | undefined {
  const [, number = '', unit = 's'] = RATE.exec(text.trim()) ?? []
  const per = unit.startsWith('s') ? 's' : unit.startsWith('m') ? 'min' : 'h'
  const arrivals = Number(number)
  return number !== '' && arrivals > 0 && arrivals / SECONDS[per] <= MOST_PER_SECOND
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
