import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPlan } from '../../../src/analysis/plans/check/check-plan.js'
import { readPlan } from '../../../src/analysis/plans/jmx/plan-tree.js'
import { decodePlan, type PlanRequest } from '../../../src/analysis/plans/check/request.js'

const EXAMPLES = join(import.meta.dirname, '../../../examples')

interface Group {
  readonly threads?: string
  readonly rampup?: string
  readonly loops?: string
  /** Undefined: the group has no lifetime. */
  readonly duration?: string | undefined
  readonly onError?: string
  readonly forever?: string
}

function group(
  body = '',
  { threads = '${__P(threads,5)}', rampup = '${__P(rampup,1)}', ...more }: Group = {}
): string {
  const { loops = '-1', forever = 'false', onError = 'continue' } = more
  const duration = 'duration' in more ? more.duration : '${__P(duration,60)}'
  const lifetime =
    duration === undefined
      ? '<boolProp name="ThreadGroup.scheduler">false</boolProp>'
      : `<boolProp name="ThreadGroup.scheduler">true</boolProp>${text('ThreadGroup.duration', duration)}`
  return element(
    'ThreadGroup',
    'users',
    `${text('ThreadGroup.on_sample_error', onError)}<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">${forever}</boolProp>${text('LoopController.loops', loops)}</elementProp>${text('ThreadGroup.num_threads', threads)}${text('ThreadGroup.ramp_time', rampup)}${lifetime}`,
    body
  )
}

function text(name: string, value: string): string {
  return `<stringProp name="${name}">${value}</stringProp>`
}

function element(kind: string, name: string, content = '', children = '', attributes = ''): string {
  return `<${kind} testname="${name}"${attributes}>${content}</${kind}><hashTree>${children}</hashTree>\n`
}

const request = (name: string, path = '/', more = ''): string =>
  element(
    'HTTPSamplerProxy',
    name,
    text('HTTPSampler.domain', 'shop.example') +
      text('HTTPSampler.path', path) +
      text('HTTPSampler.method', 'GET') +
      more
  )
const HOME = request('home')
const variables = (pairs: Record<string, string>): string =>
  element(
    'Arguments',
    'variables',
    Object.entries(pairs)
      .map(
        ([name, value]) =>
          `<elementProp name="${name}" elementType="Argument">${text('Argument.name', name)}${text('Argument.value', value)}</elementProp>`
      )
      .join('')
  )
const dataSet = (path: string, more = '<boolProp name="stopThread">false</boolProp>'): string =>
  element('CSVDataSet', 'people', text('filename', path) + more)
const script = (code: string): string => element('JSR223Sampler', 'script', text('script', code))

function jmx(...content: string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<jmeterTestPlan version="1.2"><hashTree>${element('TestPlan', 'Shop', '', content.join(''))}</hashTree></jmeterTestPlan>\n`
}

function makeRequest(
  plan: string,
  changes: Partial<PlanRequest> & { files?: readonly string[] } = {}
): PlanRequest {
  const { files = [], ...rest } = changes
  return {
    tool: 'jmeter',
    isHere: true,
    isEmbedded: true,
    plan: { name: 'plan.jmx', text: plan },
    others: files.map((name) => ({ name, text: undefined })),
    threads: undefined,
    rampupSeconds: undefined,
    durationSeconds: undefined,
    parameters: [],
    limit: 'the timeout of 2 h',
    isThere: () => false,
    hasClass: () => false,
    ...rest
  }
}

function check(plan: string, changes: Parameters<typeof makeRequest>[1] = {}): string[] {
  return checkPlan(makeRequest(plan, changes)).findings.map(({ level, message }) => `${level}: ${message}`)
}

const J = (name: string, value = '1'): PlanRequest['parameters'][number] => ({ kind: 'J', name, value })
const WORKS: readonly (readonly [string, string, Parameters<typeof makeRequest>[1]])[] = [
  ['properties with defaults', jmx(group(HOME)), { threads: 5, rampupSeconds: 1, durationSeconds: 60 }],
  [
    'properties by way of variables',
    jmx(
      variables({ users: '${__P(threads,5)}', time: '${__property(duration)}' }),
      group(HOME, { threads: '${users}', duration: '${time}' })
    ),
    { threads: 5, durationSeconds: 60 }
  ],
  [
    'properties read by a script',
    jmx(group(script("props.get('threads')"), { threads: '1' })),
    { threads: 5 }
  ],
  [
    'a property with a name that is put together',
    jmx(group(HOME, { threads: '${__P(${which})}' })),
    { threads: 5 }
  ],
  [
    'a fixed number that is what was requested',
    jmx(group(HOME, { threads: '5', rampup: '0' })),
    { threads: 5, rampupSeconds: 0 }
  ],
  [
    'code in Java, which may read anything',
    jmx(group(element('JavaSampler', 'own'), { threads: '1' })),
    { threads: 5, parameters: [J('other')] }
  ],
  ['a number of loops', jmx(group(HOME, { loops: '3', duration: undefined })), {}],
  ['an end by a script', jmx(group(script('ctx.engine.stopTest()'), { duration: undefined })), {}],
  [
    'an end by its data',
    jmx(group(dataSet('a.csv', '<boolProp name="stopThread">true</boolProp>'), { duration: undefined })),
    { files: ['a.csv'] }
  ],
  ['an end by the first error', jmx(group(HOME, { duration: undefined, onError: 'stopthread' })), {}],
  ['a data file next to the plan', jmx(group(dataSet('people.csv'))), { files: ['people.csv'] }],
  [
    'a data file in the folder that it has in the repository',
    jmx(group(dataSet('data/people.csv'))),
    { files: ['people.csv'] }
  ],
  [
    'a data file named by a property',
    jmx(group(dataSet('${__P(data,people.csv)}'))),
    { files: ['people.csv'] }
  ],
  ['a data file that is only known at run time', jmx(group(dataSet('${__env(DATA)}'))), {}],
  [
    'a data file of this machine',
    jmx(group(dataSet('/srv/people.csv'))),
    { isThere: (path) => path === '/srv/people.csv' }
  ],
  [
    'a data file of a service',
    jmx(group(dataSet('/data/files/people.csv'))),
    { isHere: false, isEmbedded: false }
  ],
  [
    'a data file of a disabled data set',
    jmx(group(element('CSVDataSet', 'off', text('filename', 'gone.csv'), '', ' enabled="false"') + HOME)),
    {}
  ],
  [
    'properties of JMeter itself',
    jmx(group(HOME)),
    { parameters: [J('httpclient4.retrycount'), J('sample_variables')] }
  ],
  ['a plugin that is installed', jmx(group(element('kg.apc.Dummy', 'dummy'))), { hasClass: () => true }],
  [
    'elements of JMeter by their classes',
    jmx(group(element('org.apache.jmeter.sampler.DebugSampler', 'debug'))),
    {}
  ],
  ['a reference to a control character', jmx(group(request('a&#x1;b'))), {}],
  ['a document type', `<!DOCTYPE x [<!ENTITY a "b">]>${jmx(group(HOME)).replace(/^.*\n/, '')}`, {}],
  [
    'parts that nothing uses',
    jmx(element('TestFragmentController', 'parked', '', dataSet('gone.csv')), group(HOME)),
    { others: [{ name: 'other.jmx', text: jmx(group(dataSet('lost.csv'), { duration: undefined })) }] }
  ],
  [
    'names of files for later, and patterns of names',
    jmx(
      group(request('home', "/${__CSVRead(a.csv,*u)}${__CSVRead(*u,next)}${__StringFromFile(p#'.'txt,,1,2)}"))
    ),
    { files: ['a.csv', 'p1.txt'] }
  ],
  [
    'a group that prepares the load, and a fixed number that is what was requested',
    jmx(
      element('SetupThreadGroup', 'first', text('ThreadGroup.num_threads', '1')),
      group(HOME, { threads: '5' })
    ),
    { threads: 5 }
  ],
  [
    'one loop that is stretched by its ramp-up',
    jmx(group(HOME, { loops: '1' })),
    { rampupSeconds: 60, durationSeconds: 60 }
  ],
  [
    'a module controller with a disabled fragment',
    jmx(
      element(
        'TestFragmentController',
        'parts',
        '',
        element('ThreadGroup', 'inner', text('n', '${__P(threads)}')),
        ' enabled="false"'
      ),
      group(element('ModuleController', 'use'), { threads: '1' })
    ),
    { threads: 5 }
  ]
]

test.each(WORKS)('a plan that works is not called broken: %s', (_, plan, changes) => {
  expect(check(plan, changes)).toEqual([])
})

test.each([
  ['shop', 'plan.jmx', 'jmeter', ['users.csv']],
  ['gatling', 'ShopSimulation.java', 'gatling', ['users.csv']],
  ['selenium', 'ShopTest.java', 'java-selenium-chrome', []],
  ['service-chrome', 'shop.ts', 'service-chrome', []],
  ['k6', 'shop.js', 'k6', ['users.csv']]
])('the example %s has no findings', (folder, name, tool, files) => {
  const plan = { name, text: readFileSync(join(EXAMPLES, folder, name), 'utf8') }
  const load = { threads: 5, rampupSeconds: 1, durationSeconds: 10, parameters: [J('port', '80')] }
  expect(check('', { tool, plan, files, ...load })).toEqual([])
})

describe('an open plan, whose users arrive by a schedule', () => {
  const open = (schedule: string): string =>
    element('OpenModelThreadGroup', 'arrivals', text('OpenModelThreadGroup.schedule', schedule), HOME)
  const READING =
    'rate(0/s) random_arrivals(${__P(rampup,6)} s) rate(${__P(rate,20)}/s) random_arrivals(${__intSum(${__P(duration,60)},-${__P(rampup,6)})} s)'

  test('needs no threads', () => {
    const parameters = [J('rate', '50')]
    expect(check(jmx(open(READING)), { rampupSeconds: 5, durationSeconds: 60, parameters })).toEqual([])
  })

  test('has no use for threads; what else it does not read is named with how to write it', () => {
    const plan = jmx(open('rate(20/s) random_arrivals(60 s)'))
    expect(check(plan, { threads: 5, durationSeconds: 90 })).toEqual([
      'warning: threads is 5, but the plan does not read it: the load of the thread group "arrivals" is open, its users arrive by its schedule, however many there are. Set their rate in the schedule, and remove threads.',
      'warning: duration is 90, but the plan does not read it. Write ${__P(duration,90)} into the schedule of the thread group "arrivals", as in random_arrivals(${__P(duration,90)} s), or remove duration.'
    ])
  })

  test('beside a closed group leaves threads to that one', () => {
    expect(check(jmx(open(READING), group(HOME, { threads: '5' })), { threads: 5 })).toEqual([])
  })

  test.each([
    ['no rate', 'random_arrivals(60 s)', {}],
    ['a ramp-up that is longer than the duration', READING, { rampupSeconds: 90, durationSeconds: 60 }],
    ['a rate of 0', READING, { parameters: [J('rate', '0')], rampupSeconds: 0 }]
  ])('by whose schedule nobody arrives, for it has %s, is an error', (_, schedule, changes) => {
    expect(check(jmx(open(schedule)), changes)).toEqual([
      expect.stringMatching(/^error: By the schedule of the thread group "arrivals" nobody arrives/)
    ])
  })

  test('whose schedule is only known at run time is not judged', () => {
    expect(check(jmx(open('${__groovy(vars.get("x"))}')))).toEqual([])
  })
})

describe('settings that the plan does not read', () => {
  const FIXED = jmx(group(HOME, { threads: '10', rampup: '3', duration: '30' }))

  test('are named with what the plan has instead, and how to write it', () => {
    expect(check(FIXED, { threads: 20, rampupSeconds: 5, durationSeconds: 60 })).toEqual([
      'warning: threads is 20, but the plan does not read it: the thread group "users" has 10 threads, fixed. Write ${__P(threads,10)} as its number of threads in the thread group, or remove threads.',
      'warning: rampup is 5, but the plan does not read it: the thread group "users" has a ramp-up of 3 s, fixed. Write ${__P(rampup,3)} as its ramp-up period in the thread group, or remove rampup.',
      'warning: duration is 60, but the plan does not read it: the thread group "users" has a duration of 30 s, fixed. Write ${__P(duration,30)} as its duration (with "Specify Thread lifetime" ticked) in the thread group, or remove duration.'
    ])
  })

  test.each([
    ['a property', '${__P(users,8)}'],
    ['a property by way of a variable', '${count}']
  ])('a number that comes from %s of another name is not fixed', (_, threads) => {
    const plan = jmx(variables({ count: '${__P(users,8)}' }), group(HOME, { threads }))
    expect(check(plan, { threads: 20 })).toEqual([
      'warning: threads is 20, but the plan does not read it: the thread group "users" has 8 threads (property users). Add -Jusers=20 to override-parameters, or write ${__P(threads,8)} as its number of threads in the thread group, or remove threads.'
    ])
    expect(check(plan, { threads: 20, parameters: [J('users', '30')] })).toEqual([
      'warning: threads is 20, but the plan does not read it: the thread group "users" has 30 threads (property users). Write ${__P(threads,30)} as its number of threads in the thread group, or remove threads.'
    ])
  })

  test('a loop count that ends a group before its duration', () => {
    const once = jmx(group(HOME, { loops: '1' }))
    expect(check(once, { durationSeconds: 60 })).toEqual([
      'warning: The thread group "users" ends after one loop, even if duration (60 s) is not over. Tick "Infinite" as its loop count (-1 in the file), or remove duration.'
    ])
    expect(check(once)).toEqual([])
    const inner = jmx(group(element('WhileController', 'all day', '', HOME), { loops: '1' }))
    expect(check(inner, { durationSeconds: 60 })).toEqual([])
  })

  test('a group that ends after its loops has no duration', () => {
    expect(check(jmx(group(HOME, { loops: '2', duration: undefined })), { durationSeconds: 60 })).toEqual([
      expect.stringContaining('the thread group "users" ends after 2 loops. Write ${__P(duration,60)}')
    ])
  })

  test('a disabled element reads nothing', () => {
    const off = element(
      'ThreadGroup',
      'off',
      text('ThreadGroup.num_threads', '${__P(threads)}'),
      '',
      ' enabled="false"'
    )
    expect(check(jmx(off, group(HOME, { threads: '2' })), { threads: 20 })).toHaveLength(1)
  })

  test('parameters, never with their values', () => {
    const plan = jmx(group(request('home', '/${__P(page,)}')))
    expect(check(plan, { parameters: [J('page'), J('pgae', 's3cret')] })).toEqual([
      'warning: -Jpgae has no effect: the plan does not read ${__P(pgae,…)}. Is the name spelled as in the plan?'
    ])
  })
})

describe('parameters of the base, side by side', () => {
  const own = request('home', '/', text('HTTPSampler.port', '${__P(port,80)}'))
  const baseOf = (plan: string, name: string, changes: Parameters<typeof makeRequest>[1] = {}) => {
    const baselineParameters = [J(name, '8081')]
    return checkPlan(makeRequest(plan, { parameters: baselineParameters, baselineParameters, ...changes }))
      .findings
  }

  test('that the plan reads', () => {
    expect(baseOf(jmx(group(own)), 'port')).toEqual([])
  })

  test('that it does not read are an input error, said once', () => {
    expect(baseOf(jmx(group(own)), 'host')).toEqual([
      {
        level: 'error',
        isInput: true,
        message:
          'baseline-parameters: -Jhost has no effect: plan.jmx does not read ${__P(host,…)}, so base and head would be the same server, and every comparison would hold. Is the name spelled as in the plan?'
      }
    ])
  })

  test.each<[string, string, Parameters<typeof makeRequest>[1]]>([
    ['a jar', jmx(group(own)), { files: ['lib.jar'] }],
    ['code in Java', jmx(group(own + element('JavaSampler', 'java'))), {}],
    ['a script that may put a name together', jmx(group(own + script('props.get(x + "t")'))), {}],
    ['a document type that JMeter may read otherwise', `<!DOCTYPE x ">">${jmx(group(own))}`, {}],
    [
      'a property of Java',
      jmx(group(own)),
      { baselineParameters: [{ kind: 'D', name: 'host', value: 'x' }] }
    ],
    [
      'a name that may be one of JMeter',
      jmx(group(own)),
      { baselineParameters: [J('server.host')], parameters: [] }
    ]
  ])('with %s it is a warning', (_, plan, changes) => {
    const found = baseOf(plan, 'host', changes).filter(({ message }) =>
      message.startsWith('baseline-parameters')
    )
    expect(found).toEqual([
      {
        level: 'warning',
        message: expect.stringMatching(/may have no effect: .*\. If nothing else reads it, base and/)
      }
    ])
  })

  test.each([
    ['one of Java', 'http.proxyHost'],
    ['one of JMeter with a dot', 'httpclient4.retrycount'],
    ['one of a rehearsal', 'rehearsal.mean'],
    ['one of JMeter itself', 'remote_hosts']
  ])('%s', (_, name) => {
    expect(baseOf(jmx(group(own)), name)).toEqual([])
  })

  test.each([
    ['one with a dot', 'target.host', own],
    ['part of another name', 'target.host', request('home', '/${__P(target.hostname,x)}')],
    ['a key in a body', 'host', request('home', '/', text('Argument.value', '{&quot;host&quot;:1}'))],
    ['a step of a path', 'host', request('home', '/api/host/1')],
    ['a variable of a script', 'host', own + script('vars.get("host")')],
    ['a comment', 'host', request('home', '/', text('TestPlan.comments', 'uses ${__P(host)}'))]
  ])('%s is no read', (_, name, body) => {
    expect(baseOf(jmx(group(body)), name)).toMatchObject([{ level: 'error', isInput: true }])
  })

  test.each([
    ['by its name', request('home', '/${__P(target.host,x)}')],
    ['by a name that is put together', request('home', '/${__P(target.${part},x)}')],
    ['in a script', own + script('props.get("target.host")')],
    ['in a function', request('home', '/${__groovy(props.get("target.host"))}')]
  ])('one with a dot that is read %s', (_, body) => {
    expect(baseOf(jmx(group(body)), 'target.host')).toEqual([])
  })

  test('of a source', () => {
    const java = (code: string, others: string[] = []) =>
      baseOf('', 'host', { tool: 'gatling', plan: { name: 'Shop.java', text: code }, files: others })
    expect(java('System.getProperty("host")')).toEqual([])
    expect(java('System.getProperty("hots", "")')).toMatchObject([{ level: 'error', isInput: true }])
    expect(java('Settings.read()', ['settings.jar'])).toMatchObject([{ level: 'warning' }])
    const dotted = { tool: 'gatling', plan: { name: 'Shop.java', text: 'config.in("shop").get("host")' } }
    expect(baseOf('', 'shop.host', dotted)).toMatchObject([{ level: 'warning' }])
  })
})

describe('a plan without an end', () => {
  const NO_END = jmx(group(HOME, { duration: undefined }))

  test('is an error, with what stops it and what to do', () => {
    expect(check(NO_END, { durationSeconds: 60 })).toEqual([
      'error: The plan has no end: the thread group "users" loops forever and has no duration (the plan does not use duration, 60 s), so only the timeout of 2 h stops the run, which never passes. Tick "Specify Thread lifetime" with a duration of ${__P(duration,60)}, or give a number of loops.'
    ])
  })

  test('is a warning with a service, which may have ways of its own', () => {
    expect(check(NO_END, { isHere: false, isEmbedded: false })).toEqual([
      expect.stringMatching(/^warning: The plan has no end/)
    ])
  })

  test('a number of loops is no end for a group that goes on forever', () => {
    expect(check(jmx(group(HOME, { loops: '1', forever: 'true', duration: undefined })))).toEqual([
      expect.stringContaining('has no end')
    ])
  })

  test('JMeter does not start a group with a lifetime of 0', () => {
    expect(check(jmx(group(HOME, { duration: '${__P(duration,0)}' })))).toEqual([
      expect.stringMatching(/^error: The thread group "users" has a duration of 0 s/)
    ])
  })
})

test('parts in other files and places that are used', () => {
  const module = `<collectionProp>${['Shop', 'Shop', 'parts', 'steps'].map((name, at) => text(String(at), name)).join('')}</collectionProp>`
  const steps = element('GenericController', 'steps', '', dataSet('a.csv'), ' enabled="false"')
  const inside = jmx(
    element('TestFragmentController', 'f', '', dataSet('b.csv')),
    group('', { duration: undefined })
  )
  const include = element('IncludeController', 'i', text('IncludeController.includepath', 'part.jmx'))
  const plan = jmx(
    element('TestFragmentController', 'parts', '', steps + dataSet('unused.csv')),
    group(element('ModuleController', 'm', module) + include)
  )
  expect(check(plan, { others: [{ name: 'part.jmx', text: inside }] })).toEqual([
    expect.stringContaining('reads b.csv'),
    expect.stringContaining('reads a.csv')
  ])
})

describe('data files', () => {
  const upload = `<elementProp name="a" elementType="HTTPFileArg">${text('File.path', 'photo.png')}</elementProp>`
  test.each([
    [
      'a data set',
      dataSet('people.csv'),
      'error: The CSV Data Set "people" reads people.csv, which is not listed under files; add its path to files.'
    ],
    [
      'an upload',
      request('send', '/', upload),
      'error: The request "send" reads photo.png, which is not listed under files; add its path to files.'
    ],
    [
      'a function',
      request('home', '/${__FileToString(body.txt,,)}'),
      'error: ${__FileToString(…)} in "home" reads body.txt, which is not listed under files; add its path to files.'
    ],
    [
      'another case',
      dataSet('Users.csv'),
      'error: The CSV Data Set "people" reads Users.csv, which is not listed under files; users.csv is; upper and lower case differ.'
    ],
    [
      'a path upwards',
      dataSet('../data/users.csv'),
      'error: The CSV Data Set "people" reads ../data/users.csv, but files are next to the plan, without their folders; write users.csv in the plan.'
    ],
    [
      'a path of Windows',
      dataSet('data\\users.csv'),
      'error: The CSV Data Set "people" reads data\\users.csv, a path of Windows, and the plan runs on Linux or macOS; write users.csv: files are next to the plan.'
    ],
    [
      'an absolute path',
      dataSet('/home/me/users.csv'),
      'error: The CSV Data Set "people" reads /home/me/users.csv, which does not exist; list it under files, and write users.csv in the plan.'
    ]
  ])('%s', (_, body, message) => {
    expect(check(jmx(group(body)), { files: ['users.csv'] }).slice(0, 1)).toEqual([message])
  })

  test('a folder works with the embedded service only', () => {
    const plan = jmx(group(dataSet('data/users.csv')))
    const remote = { files: ['users.csv'], isHere: false, isEmbedded: false }
    expect(check(plan, remote)).toEqual([
      expect.stringMatching(/^warning: .* files are next to the plan, without their folders; write users.csv/)
    ])
  })

  test('a folder that comes from a parameter is not found', () => {
    const plan = jmx(group(dataSet('${__P(data,users.csv)}')))
    const given = { files: ['users.csv'], parameters: [J('data', 'data/users.csv')] }
    expect(check(plan, given)).toEqual([expect.stringContaining('write users.csv in the plan')])
  })

  test('what a script may write is not certain to be missing', () => {
    expect(check(jmx(group(dataSet('made.csv') + script('1'))))).toEqual([
      expect.stringMatching(/^warning: .*made.csv/)
    ])
  })
})

test('plugins: missing here, and unknown elsewhere', () => {
  const plan = jmx(group(HOME), element('kg.apc.jmeter.threads.Ultimate', 'u', '', '', ' enabled="false"'))
  expect(check(plan)).toEqual([
    'error: plan.jmx uses kg.apc.jmeter.threads.Ultimate, which this JMeter does not have; add its jar to files, or install the plugin into your own JMeter and point JMETER_HOME to it.'
  ])
  expect(check(plan, { hasClass: () => undefined })).toEqual([
    expect.stringMatching(/^note: plan.jmx uses kg/)
  ])
})

test('properties that JMeter would not read', () => {
  const others = ['user.properties', 'jmeter.properties'].map((name) => ({ name, text: undefined }))
  expect(check(jmx(group(HOME)), { others, isEmbedded: true })).toContain(
    'error: jmeter.properties would not be used; put what differs from the defaults into user.properties.'
  )
  // Another service may use it.
  expect(check(jmx(group(HOME)), { others, isEmbedded: false }).join()).not.toContain('would not be used')
})

test('values of user.properties are those of the run, unless it has its own', () => {
  const file = { name: 'user.properties', text: 'shop.loops = -1\nlife=false' }
  const plan = jmx(group(HOME, { loops: '${__P(shop.loops,3)}', duration: undefined }))
  const endless = expect.stringContaining('The plan has no end')
  expect(check(plan)).toEqual([])
  expect(check(plan, { others: [file] })).toEqual([endless])
  expect(check(plan, { others: [file], parameters: [J('shop.loops', '2')] })).toEqual([])
})

describe('a file that is not a plan', () => {
  test.each([
    [
      'an open tag',
      '<jmeterTestPlan>\n<hashTree>\n</jmeterTestPlan>',
      'line 3: the tag that is closed here is not <hashTree> of line 2'
    ],
    [
      'a file that is cut off',
      '<jmeterTestPlan>\n<hashTree>\n',
      'line 2: <hashTree> is never closed; the file may be cut off'
    ],
    [
      'a bare ampersand',
      '<jmeterTestPlan>\na & b</jmeterTestPlan>',
      'line 2: there is a "&" that stands for itself; write &amp;'
    ],
    ['an entity of HTML', '<jmeterTestPlan a="&nbsp;"/>', 'line 1: &nbsp; is unknown in XML'],
    ['no XML at all', 'threads: 5', 'line 1: there is text before the first element']
  ])('%s', (_, plan, words) => {
    expect(check(plan)).toEqual([
      `error: plan.jmx is not well-formed XML, so JMeter cannot read it: ${words}. Open the plan in JMeter and save it again, or correct that line.`
    ])
  })

  test('other XML, other tools, and no group', () => {
    expect(check('<!DOCTYPE html><html></html>')).toEqual([
      expect.stringContaining('its first element is <html>')
    ])
    expect(check('', { plan: { name: 'Shop.java', text: '' } })).toEqual([
      expect.stringContaining('set tool to gatling')
    ])
    expect(check('', { tool: 'gatling' })).toEqual([expect.stringContaining('set tool to jmeter for it')])
    expect(check(jmx())).toEqual([expect.stringContaining('no enabled thread group')])
  })

  test('what JMeter accepts although XML does not', () => {
    const fine = ['\ufeff<a/>', '\n<?xml version="1.0"?><a/>', '<a/>x', '<a b="\u0001">]]></a>']
    expect(fine.map((text) => readPlan(text).error)).toEqual(fine.map(() => undefined))
  })

  test('bytes that are not text', () => {
    const decode = (bytes: Uint8Array): unknown => decodePlan(bytes)
    expect(decode(Buffer.from([0x1f, 0x8b, 8]))).toEqual({ problem: expect.stringContaining('gzip') })
    expect(decode(Buffer.from('\ufeff<a/>', 'utf16le'))).toEqual({
      problem: expect.stringContaining('UTF-16')
    })
    expect(decode(Buffer.from('a\0b'))).toEqual({ problem: expect.stringContaining('not a text') })
    expect(decode(Buffer.from(' \n'))).toEqual({ problem: 'is empty' })
    expect(decode(Buffer.from('<a>é</a>', 'latin1'))).toMatchObject({ hasBadBytes: true })
    expect(decode(Buffer.from('<a>é\ufffd</a>'))).toMatchObject({ hasBadBytes: false })
  })
})

describe('labels and the target', () => {
  test('all labels are known, unless something may make others', () => {
    const labelsOf = (...body: string[]) => checkPlan(makeRequest(jmx(group(body.join(''))))).labels
    expect(labelsOf(HOME, element('TransactionController', 'buy', '', request('pay')))).toMatchObject({
      usual: ['home', 'buy', 'pay'],
      isComplete: true
    })
    expect(labelsOf(request('page ${number}'))).toMatchObject({ isComplete: false })
    expect(labelsOf(script('prev.setSampleLabel("x")'))).toMatchObject({ isComplete: false })
    expect(labelsOf(HOME, element('IncludeController', 'more'))).toMatchObject({ isComplete: false })
  })

  test('a target that the plan may not ask, or not at its address', () => {
    const targetOf = (...body: string[]) => checkPlan(makeRequest(jmx(group(body.join(''))))).target
    const other = request('other').replace('shop.example', 'prod.example')
    expect(targetOf(element('IfController', 'prod only', '', other), HOME)?.url.host).toBe('shop.example')
    expect(targetOf(element('IfController', 'prod only', '', other))).toBeUndefined()
    expect(targetOf(element('DNSCacheManager', 'dns'), HOME)).toBeUndefined()
    expect(targetOf(request('home', '/', text('HTTPSampler.proxyHost', 'proxy')))).toBeUndefined()
    expect(targetOf(request('home', '/${__P(key,s3cret)}'))?.shown).toBe('http://shop.example/***')
    expect(targetOf(element('HeaderManager', 'headers'), HOME)).toMatchObject({ isOfPlan: false })
  })

  test('a variable or property that something sets is only known at run time', () => {
    const setBy = (...body: string[]) =>
      checkPlan(makeRequest(jmx(variables({ page: '0' }), group(body.join(''))))).labels?.isComplete
    const pages = request('list ${page}')
    expect(setBy(pages)).toBe(true)
    expect(setBy(pages, element('CounterConfig', 'c', text('CounterConfig.name', 'page')))).toBe(false)
    expect(setBy(pages, request('home', '/${__Random(1,9,page)}'))).toBe(false)
    expect(setBy(pages, script('vars.put(name, "1")'))).toBe(false)
    expect(setBy(request('list ${__P(n)}'), script('props.put("n", "1")'))).toBe(false)
  })

  test('the first GET of the plan, with its defaults, properties and variables', () => {
    const defaults = element(
      'ConfigTestElement',
      'd',
      text('HTTPSampler.domain', '${host}') +
        text('HTTPSampler.port', '${__P(port,8080)}') +
        text('HTTPSampler.protocol', 'https')
    )
    const post = element(
      'HTTPSamplerProxy',
      'login',
      text('HTTPSampler.path', '/login') + text('HTTPSampler.method', 'POST')
    )
    const get = element(
      'HTTPSamplerProxy',
      'home',
      text('HTTPSampler.path', 'home') + text('HTTPSampler.method', 'GET')
    )
    const targetOf = (body: string, host = 'shop.example') =>
      checkPlan(
        makeRequest(jmx(variables({ host }), defaults, group(body)), { parameters: [J('port', '9000')] })
      ).target
    expect(String(targetOf(post + get)?.url)).toBe('https://shop.example:9000/home')
    expect(targetOf(post)).toMatchObject({ url: new URL('https://shop.example:9000/'), isOfPlan: false })
    expect(targetOf(get, '${__env(HOST)}')).toBeUndefined()
    expect(targetOf(get, '${host}${host}')).toBeUndefined()
  })
})

describe('sources', () => {
  const gatling = (code: string, changes: Parameters<typeof makeRequest>[1] = {}): string[] =>
    check('', { tool: 'gatling', plan: { name: 'Shop.java', text: code }, ...changes })

  test('a simulation that does not read what it is given', () => {
    expect(
      gatling('rampUsers(5).during(Integer.getInteger("rampup", 1)); csv("users.csv")', {
        threads: 9,
        rampupSeconds: 2,
        parameters: [J('hots')]
      })
    ).toEqual([
      'warning: threads is 9, but Shop.java does not read it; use Integer.getInteger("threads", 1) in the simulation, or remove threads.',
      'warning: -Jhots has no effect: Shop.java does not read Integer.getInteger("hots", 1). Is the name spelled as in the plan?',
      'warning: The plan reads users.csv, which is not listed under files; add its path to files.'
    ])
  })

  test.each([
    ['a name that is put together', 'Integer.getInteger(PREFIX + "x")', []],
    ['a library', 'Settings.read()', ['settings.jar']],
    ['a file with settings', 'Settings.read()', ['application.conf']]
  ])('in doubt nothing is said: %s', (_, code, files) => {
    expect(gatling(code, { threads: 9, files })).toEqual([])
  })

  test('browsers are started by the tool', () => {
    const plan = { name: 'shop.ts', text: 'const { host } = process.env' }
    expect(
      check('', { tool: 'service-chrome', plan, threads: 9, durationSeconds: 9, parameters: [J('host')] })
    ).toEqual([])
  })
})

describe('scripts of k6', () => {
  const k6 = (code: string, changes: Parameters<typeof makeRequest>[1] = {}): string[] =>
    check('', { tool: 'k6', plan: { name: 'shop.js', text: code }, ...changes })
  const LOAD = { threads: 9, rampupSeconds: 1, durationSeconds: 30 }

  test('without scenarios of its own the settings are options of k6', () => {
    expect(k6('export default function () {}', LOAD)).toEqual([])
  })

  test('scenarios that do not read the settings ignore them', () => {
    const code = "export const options = { scenarios: { a: { executor: 'x', duration: __ENV.DURATION } } }"
    expect(k6(code, LOAD)).toEqual([
      'warning: threads is 9, but shop.js has scenarios of its own and does not read it; use __ENV.THREADS in them, or remove threads.',
      'warning: rampup is 1, but shop.js has scenarios of its own and does not read it; use __ENV.RAMPUP in them, or remove rampup.'
    ])
    expect(k6('// scenarios: none\nexport default function () {}', LOAD)).toEqual([])
  })

  test('parameters are variables in capitals, or under their own names', () => {
    const parameters = [J('base_url'), J('x-tenant'), J('tpyo')]
    expect(k6('`${__ENV.BASE_URL}${__ENV["x-tenant"]}`', { parameters })).toEqual([
      'warning: -Jtpyo has no effect: shop.js does not read __ENV.TPYO. Is the name spelled as in the plan?'
    ])
    expect(k6('__ENV[name]', { parameters, ...LOAD })).toEqual([])
  })

  test('files that it opens or imports, and that are not listed', () => {
    const code = `import http from 'k6/http'
      import { a } from './lib/a.js'
      import 'https://jslib.test/b.js'
      const users = open('./users.csv'), there = open("there.csv"), w = page.open('x.html')
      // open('./comment.csv')`
    expect(k6(code, { files: ['there.csv'] })).toEqual([
      'warning: The plan reads ./lib/a.js, which is not listed under files; add its path to files.',
      'warning: The plan reads ./users.csv, which is not listed under files; add its path to files.'
    ])
  })

  test('another tool’s plan is refused, and of an archive nothing is said', () => {
    expect(check('', { tool: 'k6' })).toEqual([expect.stringContaining('set tool to jmeter for it')])
    const plan = { name: 'shop.tar', text: '' }
    expect(check('', { tool: 'k6', plan, ...LOAD, parameters: [J('x')] })).toEqual([])
  })
})

test('a large plan takes no longer than its size', () => {
  const hostile = `<jmeterTestPlan>${'<hashTree>'.repeat(300_000)}`
  // Time of the processor: others may be at work too.
  const before = process.cpuUsage()
  expect(check(hostile)).toHaveLength(1)
  expect(check(`<jmeterTestPlan>${'<!--'.repeat(50_000)}`)).toHaveLength(1)
  const include = element('IncludeController', 'i', text('IncludeController.includepath', 'a.jmx'))
  check(jmx(group(include)), { others: [{ name: 'a.jmx', text: '<!--'.repeat(250_000) }] })
  check(jmx(element('A', 'a', '<a elementType="HTTPFileArg"/>'.repeat(20_000))))
  expect(check(jmx('<x/><hashTree>'.repeat(5_000) + '</hashTree>'.repeat(5_000)))).toEqual([
    'warning: loadgate cannot read plan.jmx (its elements are nested more than 200 deep), even if JMeter can: it would be unknown whether all of it ran, and the run would not pass.'
  ])
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000)
})
